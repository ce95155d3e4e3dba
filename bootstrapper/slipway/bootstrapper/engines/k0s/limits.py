"""What k0s, or its role, cannot have: refused by field before there is a machine."""

from slipway.bootstrapper.engines.endpoint import DEFAULT_PORT
from slipway.bootstrapper.engines.k0s.features import FEATURES, REMEDIES
from slipway.bootstrapper.engines.k0s.request import NAME, OPTIONS, K0sRequest
from slipway.bootstrapper.engines.program_flags import check_component_flags, check_kubelet_flags
from slipway.bootstrapper.engines.remarks import PARTLY_HONOURED
from slipway.bootstrapper.engines.request import KUBERNETES, NODE
from slipway.bootstrapper.engines.suitability import check_family, check_features, check_newest, check_skew
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb

OLDEST, NEWEST = (1, 27), (1, 36)
UNSERVED = {"alpine": "its init system is OpenRC, and k0s runs as a service of systemd here"}


def check_limits(request: K0sRequest, bundle: bundlepb.BootstrapBundle) -> None:
    """Refuse or warn of everything that is not supported as written."""
    check_features(request, bundle, engine=NAME, features=FEATURES, remedies=REMEDIES)
    check_family(request, engine=NAME)
    check_newest(request, engine=NAME, newest=NEWEST)
    check_skew(request)
    _check_commands(request, bundle)
    _check_discovery(request)
    _check_program(request)
    _check_runtime(request, bundle)
    check_kubelet_flags(request, request.remarks.refuse)
    if request.is_control_plane:
        check_component_flags(request, request.remarks.refuse)
        _check_endpoint(request)
        _check_store(request)
        _check_networks(request)
        _check_algorithm(request)
        _check_node(request)


def _check_commands(request: K0sRequest, bundle: bundlepb.BootstrapBundle) -> None:
    if bundle.execution.literal_commands:
        request.remarks.refuse(
            "kubernetes.engine",
            "execution.literal_commands",
            "has no meaning: nothing looks for commands of k0s in user data",
            remedy="leave it out",
        )


def _check_discovery(request: K0sRequest) -> None:
    if request.kubernetes.discovery.token.ca_hashes:
        request.remarks.refuse(
            "kubernetes.discovery.token",
            f"{KUBERNETES}.discovery.token.ca_hashes",
            "cannot be used: k0s trusts the certificate of the cluster's authority, not its hash",
            remedy="leave it out",
        )


def _check_program(request: K0sRequest) -> None:
    """Refuse a dollar sign, which systemd cannot read in the path of a program: systemd.service(5)."""
    if "$" in request.options.program:
        request.remarks.refuse(
            OPTIONS,
            f"{OPTIONS}.program",
            "cannot hold $: systemd cannot start a program whose path has one",
            remedy="install k0s at another path",
        )


def _check_runtime(request: K0sRequest, bundle: bundlepb.BootstrapBundle) -> None:
    if not request.options.own_container_runtime:
        return
    if request.kubernetes.node.HasField("cri_socket"):
        request.remarks.refuse(
            "kubernetes.node.cri_socket",
            f"{NODE}.cri_socket",
            "names a container runtime, and engineOptions.k0s.ownContainerRuntime chooses another one",
            remedy="leave out one of the two",
        )
    if bundle.os.HasField("containerd"):
        request.remarks.refuse(
            OPTIONS,
            f"{OPTIONS}.own_container_runtime",
            "chooses k0s' own containerd, and os.containerd configures that of the system",
            remedy="leave out one of the two",
        )


def _check_endpoint(request: K0sRequest) -> None:
    """k0s reaches its API servers at the endpoint's host, by the port on which they listen."""
    port = request.intent.cluster.endpoint.port or DEFAULT_PORT
    if port != request.api_port:
        request.remarks.refuse(
            "kubernetes.cluster.endpoint",
            "intent.cluster.endpoint.port",
            "must be the port on which the API servers of k0s listen",
            remedy="set kubernetes.controlPlane.bindPort to the same port",
        )


def _check_store(request: K0sRequest) -> None:
    if request.uses_kine and request.kubernetes.HasField("etcd"):
        request.remarks.refuse(
            "kubernetes.etcd",
            f"{KUBERNETES}.etcd",
            "and engineOptions.k0s.kineDataSource are two stores for one cluster",
            remedy="leave out one of the two",
        )


def _check_networks(request: K0sRequest) -> None:
    cluster = request.intent.cluster
    if len(cluster.pod_cidrs) != len(cluster.service_cidrs) and cluster.pod_cidrs and cluster.service_cidrs:
        request.remarks.refuse(
            "kubernetes.cluster.service_cidrs",
            "intent.cluster.service_cidrs",
            "must have networks of the same families of IP as the pods",
            remedy="give pods and services one network each, or one of IPv4 and one of IPv6 each",
        )


def _check_algorithm(request: K0sRequest) -> None:
    certificates = request.kubernetes.certificates
    if certificates.HasField("key_algorithm") and (
        certificates.key_algorithm != kubernetespb.KEY_ALGORITHM_RSA_2048 and request.creates_cluster
    ):
        request.remarks.warn(
            PARTLY_HONOURED,
            f"{KUBERNETES}.certificates.key_algorithm",
            "holds for the cluster's authority; k0s issues its certificates with RSA-2048",
        )


def _check_node(request: K0sRequest) -> None:
    node = request.kubernetes.node
    if not request.is_node and node.ListFields():
        request.remarks.refuse(
            "kubernetes.node.labels",
            NODE,
            "describes a node, and engineOptions.k0s.controlPlaneNodes excludes this machine",
            remedy="leave out one of the two",
        )
