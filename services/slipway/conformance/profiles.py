"""The two core profiles: what every provisioner must take, by the form in which it takes the Kubernetes part."""

from collections.abc import Iterable, Mapping, Sequence

from slipway.conformance.requests import INTENT, PLAN
from slipway.conformance.runner import Ending, Result
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

FEATURES: Mapping[str, frozenset[str]] = {
    "PLAN": frozenset({"os.files", "plan.entrypoint"}),
    "INTENT": frozenset(
        {
            "kubernetes.role",
            "kubernetes.role.worker",
            "kubernetes.version",
            "kubernetes.cluster",
            "kubernetes.cluster.name",
            "kubernetes.cluster.endpoint",
            "kubernetes.credentials",
            "kubernetes.node.name",
            "kubernetes.node.labels",
            "kubernetes.node.taints",
        }
    ),
}
_INPUTS = {PLAN: "PLAN", INTENT: "INTENT"}


def name(info: provisionerpb.FormatInfo) -> str:
    """Give the name of the profile that a format has to fulfil; "" when its form is none of the contract's."""
    return _INPUTS.get(info.kubernetes_input, "")


def lacking(info: provisionerpb.FormatInfo) -> list[str]:
    """Give the features of its profile that a format does not declare."""
    return sorted(FEATURES.get(name(info), frozenset()) - {support.id for support in info.features})


def fulfilled(info: provisionerpb.GetProvisionerInfoResponse, results: Sequence[Result]) -> list[str]:
    """Give the profiles that hold: declared by a format, and nothing that binds is broken, known or not."""
    if any(one.ending is Ending.FAILED for one in results):
        return []
    return sorted({name(one) for one in _declared(info) if not lacking(one)} - {""})


def _declared(info: provisionerpb.GetProvisionerInfoResponse) -> Iterable[provisionerpb.FormatInfo]:
    return info.formats
