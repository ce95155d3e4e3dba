"""What a person at this command line can do about an error: files to add and options to give, which no server knows."""

from slipway.bootstrapper.remedies import remedy_of_error
from slipway.contract.errors import SlipwayError, Violation

_HERE = {
    "AMBIGUOUS_PROVISIONER": "Or choose with --provisioner NAME|all",
    "SECRETS_NOT_ALLOWED": "Leave out --show-secrets, or have the operator allow it for the server and for you",
    "SECRET_MISSING": "Add the Secret to the files, or fill it in with --set-missing for a first look",
}
_SAY_IT = "Say it in the cluster, or fill it in with --set-missing for a first look"
_MISSING = {"cluster.endpoint": _SAY_IT, "machine.kubernetesVersion": _SAY_IT}


def what_to_do(error: SlipwayError, violation: Violation | None = None) -> str:
    """Give what to do about an error, or about a field that it names: never nothing."""
    if error.reason in _HERE:
        return _HERE[error.reason]
    if violation is None:
        return remedy_of_error(error)
    missing = _MISSING.get(violation.path, "") if violation.description.startswith("is required") else ""
    return missing or violation.remedy or remedy_of_error(error)
