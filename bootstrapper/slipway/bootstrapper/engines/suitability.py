"""Whether an engine fits a machine: what every engine checks in the same way, and says in the same words."""

from collections.abc import Collection, Mapping

from slipway.bootstrapper.engines.engine import Engine
from slipway.bootstrapper.engines.extensions import PREFIX as EXTENSION
from slipway.bootstrapper.engines.kubernetes_version import (
    KubernetesVersionError,
    Skew,
    node_skew,
    parse_kubernetes_version,
)
from slipway.bootstrapper.engines.remarks import NOT_USED_BY_ROLE, VERSION_SKEW, VERSION_UNKNOWN, Remarks
from slipway.bootstrapper.engines.request import VERSION_PATH, PlanRequest, supported_version
from slipway.bootstrapper.problems.remedies import remedy_of
from slipway.contract.errors import KubernetesVersionUnsupported, Violation
from slipway.contract.feature_uses import uses
from slipway.v1alpha1 import bundle_pb2 as bundlepb

UNUSED_BY_WORKERS = (
    "kubernetes.control_plane",
    "kubernetes.etcd",
    "kubernetes.images",
    "kubernetes.certificates",
)
"""What a worker's spec may hold, as it may share it with its control plane, without effect on the worker."""

_WRITE_A_VERSION = "write a version such as v1.34.2"
_KEEP_TO_SKEW = "Choose the control plane's version, or one that is up to two minor versions older (three since v1.28)"


def check_machine(engine: Engine, bundle: bundlepb.BootstrapBundle) -> Remarks:
    """Give what an engine's declarations say of a machine: its version, and the control plane of its cluster.

    The bootstrapper asks it for every engine, so that none of them can forget it.

    Raises:
        KubernetesVersionUnsupported: the version is older than the oldest of the engine, or does not fit its cluster.
    """
    intent = bundle.intent
    version = supported_version(intent.kubernetes_version, VERSION_PATH, oldest=engine.oldest)
    request = PlanRequest(intent=intent, version=version, remarks=Remarks())
    check_family(request, engine=engine.name)
    check_newest(request, engine=engine.name, newest=engine.newest)
    # Every imported spec asks for literal commands, and keeps what it was written for.
    check_skew(request, tolerant=bundle.execution.literal_commands)
    return request.remarks


def check_features(
    request: PlanRequest,
    bundle: bundlepb.BootstrapBundle,
    *,
    engine: str,
    features: Collection[str],
    remedies: Mapping[str, str],
) -> None:
    """Refuse what the engine does not take, and report what a worker carries without any effect."""
    intent = bundlepb.BootstrapBundle(intent=bundle.intent, engine_options=bundle.engine_options)
    for use in uses(intent):
        # Which extension a text is of is the format's to refuse: the engine takes texts of extensions, or none.
        if use.id not in features and not use.id.startswith(EXTENSION):
            remedy = remedies.get(use.id) or remedy_of(use, {})
            request.remarks.refuse(use.id, use.path, f"is nothing that {engine} can do", remedy=remedy)
    report_unused(request, bundle, UNUSED_BY_WORKERS)


def report_unused(request: PlanRequest, bundle: bundlepb.BootstrapBundle, features: Collection[str]) -> None:
    """Report each of these features that a worker's spec uses, since it has no effect there."""
    if request.is_control_plane:
        return
    for use in uses(bundlepb.BootstrapBundle(intent=bundle.intent, engine_options=bundle.engine_options)):
        if use.id in features:
            request.remarks.inform(
                NOT_USED_BY_ROLE, use.path, "has no effect on a worker: control-plane machines carry it"
            )


def check_family(request: PlanRequest, *, engine: str) -> None:
    """Refuse a machine whose cluster has a control plane of another engine."""
    family = request.intent.cluster.control_plane
    if not family or family == engine:
        return
    if request.kubernetes.HasField("engine"):
        request.remarks.refuse(
            "kubernetes.engine",
            "intent.kubernetes.engine",
            f"is {engine}, and the cluster has a control plane of {family}, which {engine} cannot join",
            remedy="leave it out, so that it is that of the control plane",
        )
        return
    request.remarks.refuse(
        "kubernetes.cluster.control_plane",
        "intent.cluster.control_plane",
        f"names a control plane that {engine} did not make, and that {engine} cannot join",
        remedy="choose the provisioner of that family for this machine too",
    )


def check_newest(request: PlanRequest, *, engine: str, newest: tuple[int, int]) -> None:
    """Warn of a version that is younger than this engine: whether it accepts the same is unknown."""
    if request.version.series > newest:
        request.remarks.warn(
            VERSION_UNKNOWN,
            VERSION_PATH,
            f"is newer than v{newest[0]}.{newest[1]}, the newest that this Slipway knows: what its {engine} "
            "takes may differ. Check the number, or try a newer Slipway",
        )


def check_skew(request: PlanRequest, *, tolerant: bool = False) -> None:
    """Check a worker against its control plane; where the caller is `tolerant`, what does not fit is a warning.

    Raises:
        KubernetesVersionUnsupported: the two can never work together.
    """
    text = request.intent.cluster.kubernetes_version
    if request.is_control_plane or not text:
        return
    try:
        control_plane = parse_kubernetes_version(text)
    except KubernetesVersionError as error:
        raise KubernetesVersionUnsupported(
            f"intent.cluster.kubernetes_version is {error}",
            violations=[Violation("intent.cluster.kubernetes_version", f"is {error}", remedy=_WRITE_A_VERSION)],
        ) from None
    skew = node_skew(control_plane=control_plane, node=request.version)
    if skew in (Skew.NONE, Skew.SUPPORTED):
        return
    problem = "newer than its control plane" if skew is Skew.NODE_NEWER else "too old for its control plane"
    if not tolerant:
        raise KubernetesVersionUnsupported(
            f"intent.kubernetes_version is {problem}: keep it within the version skew policy of Kubernetes",
            violations=[Violation(VERSION_PATH, f"is {problem}", remedy=_KEEP_TO_SKEW)],
        )
    request.remarks.warn(VERSION_SKEW, VERSION_PATH, f"is {problem}; the node may not become ready. {_KEEP_TO_SKEW}")
