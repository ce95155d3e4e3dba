"""What a person at this command line can do about an error: files to add and options to give, which no server knows."""

from collections.abc import Iterator, Mapping

from slipway.bootstrapper.documents.machines import as_written
from slipway.bootstrapper.documents.native import CLUSTER
from slipway.bootstrapper.problems.remedies import remedy_of_error
from slipway.contract.errors import SlipwayError, Violation
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb

_HERE = {
    "AMBIGUOUS_PROVISIONER": "Or choose with --provisioner NAME|all",
    "SECRETS_NOT_ALLOWED": "Leave out --show-secrets, or have the operator allow it for the server and for you",
    "SECRET_MISSING": "Add the Secret to the files, or fill it in with --set-missing for a first look",
}
_MISSING = {
    "cluster.endpoint": "Add its Cluster or SlipwayCluster with an endpoint to the files",
    "machine.kubernetesVersion": "Add what has it to the files: the KubeadmControlPlane, machines or SlipwayCluster",
}
"""What to do about a fact that no document of the files has a place for."""


def what_to_do(
    error: SlipwayError,
    subject: bootstrappb.Subject,
    violation: Violation | None = None,
    *,
    written: Mapping[str, str] | None = None,
) -> str:
    """Give what to do about an error of a machine, or about a field that it names: never nothing.

    Where the machine lacks a fact, the places that can have it are named as they are `written` (see MachineQuestion).
    """
    if error.reason in _HERE:
        return _HERE[error.reason]
    if violation is None:
        return remedy_of_error(error)
    if violation.path in _missing(subject):
        return f"{_give(violation.path, written or {})}, or fill it in with --set-missing for a first look"
    return violation.remedy or remedy_of_error(error)


def _give(fact: str, written: Mapping[str, str]) -> str:
    """Say where a missing fact is given: in the document of the machine, or of its cluster."""
    names = dict.fromkeys([fact, f"cluster.{fact.partition('.')[2]}"])
    # Objects of Cluster API have a place for some facts only.
    places = [
        as_written(name, written)
        for name in names
        if name in written or written.get(name.partition(".")[0], "").startswith(f"{CLUSTER}/")
    ]
    return f"Give it in {' or in '.join(dict.fromkeys(places))}" if places else _MISSING[fact]


def _missing(subject: bootstrappb.Subject) -> Iterator[str]:
    """Give the facts that a machine lacks, by the names that errors have for them."""
    if not subject.cluster.HasField("endpoint"):
        yield "cluster.endpoint"
    if not (subject.machine.kubernetes_version or subject.cluster.kubernetes_version):
        yield "machine.kubernetesVersion"
