"""What engine, Kubernetes version or role cannot have, found by the contract's own feature walk."""

from slipway.bootstrapper.engines.kubeadm.bootstrap_tokens import check_tokens
from slipway.bootstrapper.engines.kubeadm.features import (
    CONTROL_PLANE_ROLES,
    FEATURES,
    REMEDIES,
    UNUSED_BY_WORKERS,
    V1BETA3_LACKS,
    V1BETA3_LACKS_ON_NODES,
)
from slipway.bootstrapper.engines.kubeadm.kubernetes_version import (
    NEWEST,
    KubeadmApi,
    KubernetesVersionError,
    Skew,
    node_skew,
    parse_kubernetes_version,
)
from slipway.bootstrapper.engines.kubeadm.patches import check_kubelet_configuration
from slipway.bootstrapper.engines.kubeadm.remarks import (
    NOT_USED_BY_ROLE,
    PARTLY_HONOURED,
    VERSION_SKEW,
    VERSION_UNKNOWN,
)
from slipway.bootstrapper.engines.kubeadm.request import KUBERNETES, NAME, EngineRequest
from slipway.bootstrapper.remedies import remedy_of
from slipway.contract.errors import KubernetesVersionUnsupported, Violation
from slipway.contract.walk import uses
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb

_P384_SINCE = 34
_OLD_API = "kubeadm of this Kubernetes version (older than 1.31) has no place for it"
_KUBEADM = "engine_options.kubeadm.version"
_VERSION = "intent.kubernetes_version"
_WRITE_A_VERSION = "write a version such as v1.34.2"
_KEEP_TO_SKEW = "Choose the control plane's version, or one that is up to two minor versions older (three since v1.28)"
_ALGORITHM = "kubernetes.certificates.key_algorithm"


def check_limits(request: EngineRequest, bundle: bundlepb.BootstrapBundle) -> None:
    """Refuse or warn of everything that cannot be honoured as it is written."""
    _check_features(request, bundle)
    _check_family(request)
    _check_algorithm(request)
    _check_newest(request)
    _check_skew(request)
    _check_kubeadm(request)
    check_kubelet_configuration(request)
    check_tokens(request)


def _check_features(request: EngineRequest, bundle: bundlepb.BootstrapBundle) -> None:
    asked = bundlepb.BootstrapBundle(intent=bundle.intent, engine_options=bundle.engine_options)
    for use in uses(asked):
        if use.id in CONTROL_PLANE_ROLES and request.layout.windows:
            request.remarks.refuse(
                use.id,
                use.path,
                "cannot be a control plane on Windows",
                remedy="use a Linux machine for the control plane, or give this machine the role Worker",
            )
        elif use.id not in FEATURES:
            remedy = REMEDIES.get(use.id) or remedy_of(use, {})
            request.remarks.refuse(use.id, use.path, "is nothing that kubeadm can do", remedy=remedy)
        elif request.api is KubeadmApi.V1BETA3:
            _check_old_api(request, use.id, use.path)
        if use.id in UNUSED_BY_WORKERS and not request.is_control_plane:
            request.remarks.inform(
                NOT_USED_BY_ROLE, use.path, "has no effect on a worker: control-plane machines carry it"
            )


def _check_old_api(request: EngineRequest, feature: str, path: str) -> None:
    remedy = V1BETA3_LACKS_ON_NODES.get(feature)
    if request.creates_cluster:
        remedy = remedy or V1BETA3_LACKS.get(feature)
    if remedy:
        request.remarks.drop(feature, path, _OLD_API, remedy=remedy)


def _check_family(request: EngineRequest) -> None:
    family = request.intent.cluster.control_plane
    if family and family != NAME:
        request.remarks.refuse(
            "kubernetes.cluster.control_plane",
            "intent.cluster.control_plane",
            "names a control plane that kubeadm did not make, and that kubeadm cannot join",
            remedy="choose the provisioner of that family for this machine too",
        )


def _check_algorithm(request: EngineRequest) -> None:
    certificates = request.kubernetes.certificates
    if not request.creates_cluster or not certificates.HasField("key_algorithm"):
        return
    path = f"{KUBERNETES}.certificates.key_algorithm"
    if request.api is KubeadmApi.V1BETA3:
        if certificates.key_algorithm != kubernetespb.KEY_ALGORITHM_RSA_2048:
            request.remarks.warn(
                PARTLY_HONOURED,
                path,
                "holds for the authorities; kubeadm of this Kubernetes version issues its certificates with RSA-2048",
            )
    elif (
        certificates.key_algorithm == kubernetespb.KEY_ALGORITHM_ECDSA_P384
        and request.kubeadm_version.minor < _P384_SINCE
    ):
        request.remarks.drop(
            _ALGORITHM, path, "kubeadm knows ECDSA P-384 since Kubernetes 1.34", remedy="choose another algorithm"
        )


def _check_newest(request: EngineRequest) -> None:
    """Warn of a version that is younger than this engine: nobody knows whether its kubeadm still takes the same."""
    if request.version.series > NEWEST:
        request.remarks.warn(
            VERSION_UNKNOWN,
            _VERSION,
            f"is newer than v{NEWEST[0]}.{NEWEST[1]}, the newest that this Slipway knows: what its kubeadm takes may "
            "differ. Check the number, or try a newer Slipway",
        )


def _check_skew(request: EngineRequest) -> None:
    """Check a worker against its control plane.

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
    if not request.imported:
        raise KubernetesVersionUnsupported(
            f"intent.kubernetes_version is {problem}: keep it within the version skew policy of Kubernetes",
            violations=[Violation(_VERSION, f"is {problem}", remedy=_KEEP_TO_SKEW)],
        )
    request.remarks.warn(VERSION_SKEW, _VERSION, f"is {problem}; the node may not become ready. {_KEEP_TO_SKEW}")


def _check_kubeadm(request: EngineRequest) -> None:
    """Check the kubeadm on the machine against the Kubernetes that it sets up.

    Source: the version skew policy of kubeadm (kubernetes.io, "Creating a cluster with kubeadm"): kubeadm is of the
    minor version that it deploys or one newer, and takes a kubelet of its own version or three minors older.
    """
    skew = node_skew(control_plane=request.kubeadm_version, node=request.version)
    behind = request.kubeadm_version.minor - request.version.minor
    path = "engine_options.kubeadm.version"
    if skew is Skew.NODE_NEWER:
        request.remarks.refuse(
            _KUBEADM,
            path,
            "is older than the Kubernetes version of the machine",
            remedy="put a kubeadm on the image that is not older than the kubelet",
        )
    elif skew is Skew.NODE_TOO_OLD or (request.is_control_plane and behind > 1):
        request.remarks.refuse(
            _KUBEADM,
            path,
            "is too new for the Kubernetes version of the machine",
            remedy="use a kubeadm at most three minor versions newer on a worker, one on a control plane",
        )
