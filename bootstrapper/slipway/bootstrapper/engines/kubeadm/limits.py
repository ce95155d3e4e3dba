"""What engine, Kubernetes version or role cannot have, found by the contract's own feature walk."""

import re

from slipway.bootstrapper.engines.kubeadm.bootstrap_tokens import check_tokens
from slipway.bootstrapper.engines.kubeadm.features import (
    CONTROL_PLANE_ROLES,
    FEATURES,
    REMEDIES,
    UNUSED_BY_WORKERS,
    V1BETA3_LACKS,
    V1BETA3_LACKS_ON_NODES,
)
from slipway.bootstrapper.engines.kubeadm.kubeadm_api import KubeadmApi
from slipway.bootstrapper.engines.kubeadm.networks import check_networks
from slipway.bootstrapper.engines.kubeadm.patches import check_kubelet_configuration
from slipway.bootstrapper.engines.kubeadm.request import NAME, OPTIONS, EngineRequest
from slipway.bootstrapper.engines.kubeadm.swap import check_swap
from slipway.bootstrapper.engines.kubernetes_version import Skew, node_skew
from slipway.bootstrapper.engines.program_flags import check_component_flags, check_kubelet_flags
from slipway.bootstrapper.engines.remarks import NOT_USED_BY_ROLE, PARTLY_HONOURED
from slipway.bootstrapper.engines.request import KUBERNETES
from slipway.bootstrapper.engines.suitability import (
    check_family,
    check_features,
    check_newest,
    check_skew,
    report_unused,
)
from slipway.contract.feature_uses import uses
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import spec_pb2 as specpb

NEWEST = (1, 36)
"""Newest minor version that was there when this engine was written: what later versions accept is unknown."""

_P384_SINCE = 34
_TAINT = re.compile(r"nodeRegistration\.taints\[(\d+)\]\.value")
_YEAR = 365 * 24 * 60 * 60
_COMPONENT_TIMEOUT = "kubernetes.timeouts.control_plane_component"
_OLD_API = "kubeadm of this Kubernetes version (older than 1.31) has no place for it"
_KUBEADM = f"{OPTIONS}.version"
_ALGORITHM = "kubernetes.certificates.key_algorithm"


def check_limits(request: EngineRequest, bundle: bundlepb.BootstrapBundle) -> None:
    """Refuse or warn of everything that is not supported as it is written."""
    _check_features(request, bundle)
    check_family(request, engine=NAME)
    _check_algorithm(request)
    _check_validity(request)
    _check_etcd(request)
    _check_machine_values(request)
    _check_directory(request)
    check_networks(request)
    check_newest(request, engine=NAME, newest=NEWEST)
    check_skew(request, tolerant=request.imported)
    _check_kubeadm(request)
    check_kubelet_configuration(request)
    check_tokens(request)
    if request.creates_cluster:
        check_component_flags(request, request.remarks.reject)
    check_kubelet_flags(request, request.remarks.reject, windows=request.layout.windows)
    if not request.layout.windows:
        check_swap(request, bundle.os)


def _check_features(request: EngineRequest, bundle: bundlepb.BootstrapBundle) -> None:
    check_features(request, bundle, engine=NAME, features=FEATURES, remedies=REMEDIES)
    report_unused(request, bundle, UNUSED_BY_WORKERS)
    for use in uses(bundlepb.BootstrapBundle(intent=bundle.intent, engine_options=bundle.engine_options)):
        if use.id in CONTROL_PLANE_ROLES and request.layout.windows:
            request.remarks.refuse(
                use.id,
                use.path,
                "cannot be a control plane on Windows",
                remedy="use a Linux machine for the control plane, or give this machine the role Worker",
            )
        elif request.api is KubeadmApi.V1BETA3:
            _check_old_api(request, use.id, use.path)


def _check_old_api(request: EngineRequest, feature: str, path: str) -> None:
    if feature == _COMPONENT_TIMEOUT and request.is_control_plane and not request.creates_cluster:
        request.remarks.warn(
            PARTLY_HONOURED,
            path,
            "is that of the cluster, as its first machine wrote it: kubeadm of this Kubernetes version has none for a "
            "machine that joins",
        )
    remedy = V1BETA3_LACKS_ON_NODES.get(feature)
    if request.creates_cluster:
        remedy = remedy or V1BETA3_LACKS.get(feature)
    if remedy:
        request.remarks.drop(feature, path, _OLD_API, remedy=remedy)


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


def _check_validity(request: EngineRequest) -> None:
    """Warn of an authority that ends before the certificates which it signs. kubeadm warns of it on the machine only.

    Source: the defaults of kubeadm's API v1beta4, 10 years for authorities and a year for certificates.
    """
    authority, certificate = request.kubernetes.certificates, request.options
    of_authority = authority.ca_validity.seconds if authority.HasField("ca_validity") else 10 * _YEAR
    of_certificate = certificate.certificate_validity.seconds if certificate.HasField("certificate_validity") else _YEAR
    if request.creates_cluster and of_authority < of_certificate:
        path = f"{KUBERNETES}.certificates.ca_validity"
        if not authority.HasField("ca_validity"):
            path = f"{OPTIONS}.certificate_validity"
        request.remarks.warn(
            "ENDS_WITH_AUTHORITY", path, "has certificates outlast the authority that signs them: they end with it"
        )


def _check_etcd(request: EngineRequest) -> None:
    if not request.kubernetes.etcd.HasField("external"):
        return
    why = "are names of a local etcd member, and kubernetes.etcd.external has none"
    for name in ("etcd_server_sans", "etcd_peer_sans"):
        if getattr(request.options, name):
            request.remarks.refuse(f"{OPTIONS}.etcd_sans", f"{OPTIONS}.{name}", why, remedy="leave it out")
    for path, value in _machine_values(request):
        if value.field.startswith("etcd."):
            request.remarks.refuse(f"{OPTIONS}.machine_values", path, why, remedy="leave it out")


def _check_machine_values(request: EngineRequest) -> None:
    """Refuse values at places that this machine's configuration does not have."""
    taints = len(request.kubernetes.node.taints.items)
    for path, value in _machine_values(request):
        index = _TAINT.fullmatch(value.field)
        why = ""
        if index and int(index[1]) >= taints:
            why = "names a taint that kubernetes.node.taints does not have"
        elif value.field.startswith("discovery.") and request.kubernetes.discovery.HasField("file"):
            why = "belongs to a discovery by token, and kubernetes.discovery has a file"
        elif value.field.startswith("discovery.") and request.creates_cluster:
            why = "is for a machine that joins, and this one creates the cluster"
        if why:
            request.remarks.refuse(f"{OPTIONS}.machine_values", path, why, remedy="leave it out")


def _machine_values(request: EngineRequest) -> list[tuple[str, specpb.KubeadmMachineValue]]:
    values = request.options.machine_values
    return [(f"{OPTIONS}.machine_values[{index}]", value) for index, value in enumerate(values)]


def _check_directory(request: EngineRequest) -> None:
    """Report a directory of certificates that a worker does not use: all that lies there on it is the CA."""
    options = request.options
    if options.certificates_directory and not request.is_control_plane and (options.ca_path or request.imported):
        request.remarks.inform(
            NOT_USED_BY_ROLE,
            f"{OPTIONS}.certificates_directory",
            "has no effect on a worker, whose caPath is the path of the CA",
        )


def _check_kubeadm(request: EngineRequest) -> None:
    """Check the kubeadm on the machine against the Kubernetes that it sets up.

    Source: the version skew policy of kubeadm (kubernetes.io, "Creating a cluster with kubeadm"): kubeadm is of the
    minor version that it deploys or one newer, and takes a kubelet of its own version or three minors older.
    """
    skew = node_skew(control_plane=request.kubeadm_version, node=request.version)
    behind = request.kubeadm_version.minor - request.version.minor
    path = _KUBEADM
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
