"""The flags of an intent that a format takes as it is, for an operating system that becomes a node by itself.

No bootstrap engine sees such an intent, and its kubelet has the same flags by version as any other: with a flag that it
does not have, it does not start.
"""

from collections.abc import Collection

from slipway.bootstrapper.compilation.compiled import Compiled
from slipway.bootstrapper.compilation.engine_plan import omit_refused
from slipway.bootstrapper.engines.kubernetes_version import KubernetesVersionError, parse_kubernetes_version
from slipway.bootstrapper.engines.program_flags import check_component_flags, check_kubelet_flags
from slipway.bootstrapper.engines.remarks import Remarks
from slipway.bootstrapper.engines.request import PlanRequest
from slipway.bootstrapper.problems.conversion import diagnostic, locate
from slipway.contract.features import by_id
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb


def check_flags(result: Compiled, info: provisionerpb.FormatInfo, optional_features: Collection[str]) -> None:
    """Refuse flags that the programs of the machine's Kubernetes version do not have; warn where that is not certain.

    Refusals, omissions and diagnostics are added to `result`. What the format does not take at all is refused for that,
    and an invalid version is the provisioner's to refuse.
    """
    remarks = _remarks(result.bundle)
    supported = by_id(info.features)
    refusals = [problem for problem in remarks.refusals if problem.feature in supported]
    if omit_refused(result.bundle, refusals, optional_features, result):
        remarks = _remarks(result.bundle)
        refusals = [problem for problem in remarks.refusals if problem.feature in supported]
    result.refusals += locate(refusals, result.bundle)
    result.diagnostics += [diagnostic(problem) for problem in locate(remarks.diagnostics, result.bundle)]


def _remarks(bundle: bundlepb.BootstrapBundle) -> Remarks:
    remarks = Remarks()
    try:
        version = parse_kubernetes_version(bundle.intent.kubernetes_version)
    except KubernetesVersionError:
        return remarks
    request = PlanRequest(intent=bundle.intent, version=version, remarks=remarks)
    check_kubelet_flags(request, remarks.refuse)
    if request.is_control_plane:
        check_component_flags(request, remarks.refuse)
    return remarks
