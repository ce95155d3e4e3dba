"""Where the machine of an opted-in KubeadmConfig reports to: an annotation says it, since the object has no field."""

from slipway.contract.source_position import did_you_mean
from slipway.controller import ownership
from slipway.controller.halt import Halt
from slipway.kubernetes_api.resources import Json
from slipway.v1alpha1 import spec_pb2 as specpb

PATH = f"metadata.annotations[{ownership.REPORTING}]"
_CLUSTER, _PUT = "workloadCluster", "put"
_CONSOLE = specpb.ReportSink(console=specpb.ConsoleSink())
_SINKS = {
    "console": _CONSOLE,
    _PUT: _CONSOLE,
    _CLUSTER: specpb.ReportSink(workload_cluster=specpb.WorkloadClusterSink()),
}
"""The sinks of `spec.reporting` by their names; `put` is to the addresses of the controller, which come later."""


def reporting_of(config: Json) -> specpb.Reporting | None:
    """Give what the annotation asks for, without `put`; None without it, or where it is empty.

    Raises:
        Halt: it names a sink that there is not, or one twice.
    """
    names = _names(config)
    for name in names:
        if name not in _SINKS:
            meant = did_you_mean(name, _SINKS)
            hint = f"did you mean {meant}?" if meant else f"there are {', '.join(_SINKS)}"
            raise Halt("SpecInvalid", f"{PATH}: has the name of no sink; {hint}")
        if names.count(name) > 1:
            raise Halt("SpecInvalid", f"{PATH}: has {name} twice; remove one of them")
    if not names:
        return None
    reporting = specpb.Reporting(sinks=[_SINKS[name] for name in names])
    reporting.origin.path = PATH
    return reporting


def asks_for_address(config: Json) -> bool:
    """Whether the machine is to report to the addresses that the controller makes."""
    return _PUT in _names(config)


def reports_to_cluster(config: Json) -> bool:
    """Whether the machine is to report to the cluster that it joins."""
    return _CLUSTER in _names(config)


def _names(config: Json) -> list[str]:
    text = ownership.annotation(config, ownership.REPORTING)
    return [name.strip() for name in text.split(",")] if text.strip() else []
