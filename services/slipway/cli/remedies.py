"""What a person at this command line can do about an error: files to add and options to give, which no server knows."""

from collections.abc import Iterator

from slipway.bootstrapper.problems.remedies import remedy_of_error
from slipway.contract.errors import SlipwayError, Violation
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb

_HERE = {
    "AMBIGUOUS_PROVISIONER": "Or choose with --provisioner NAME|all",
    "SECRETS_NOT_ALLOWED": "Leave out --show-secrets, or have the operator allow it for the server and for you",
    "SECRET_MISSING": "Add the Secret to the files, or fill it in with --set-missing for a first look",
}
_SAY_IT = "Say it in the cluster, or fill it in with --set-missing for a first look"


def what_to_do(error: SlipwayError, subject: bootstrappb.Subject, violation: Violation | None = None) -> str:
    """Give what to do about an error of a machine, or about a field that it names: never nothing."""
    if error.reason in _HERE:
        return _HERE[error.reason]
    if violation is None:
        return remedy_of_error(error)
    if violation.path in _missing(subject):
        return _SAY_IT
    return violation.remedy or remedy_of_error(error)


def _missing(subject: bootstrappb.Subject) -> Iterator[str]:
    """Give the facts that a machine lacks, by the names that errors have for them."""
    if not subject.cluster.HasField("endpoint"):
        yield "cluster.endpoint"
    if not (subject.machine.kubernetes_version or subject.cluster.kubernetes_version):
        yield "machine.kubernetesVersion"
