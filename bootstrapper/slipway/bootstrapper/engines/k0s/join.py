"""How a machine of k0s joins: by a kubeconfig that holds the cluster's authority and a bootstrap token.

k0s takes it for a worker as it is, in place of a token. For a control plane it must be the token itself, the same file
packed by gzip in base64; since a secret is only known on the machine, a step packs it there. Source: k0s'
BootstrapKubeletKubeconfig and DecodeJoinToken. The names of cluster and user are k0s' own.
"""

from slipway.bootstrapper.engines.documents.document import Tree
from slipway.bootstrapper.engines.documents.segmented_yaml import segmented_yaml
from slipway.bootstrapper.engines.documents.spliced import Text
from slipway.bootstrapper.engines.endpoint import host_port
from slipway.bootstrapper.engines.k0s.request import JOIN_PORT, K0sRequest, root_file
from slipway.bootstrapper.engines.k0s.secrets import CONTROL_PLANE_TOKEN
from slipway.bootstrapper.engines.request import KUBERNETES, PRIVATE
from slipway.bootstrapper.engines.texts import base64_text, document_content, secret_text, secret_value
from slipway.contract.errors import CredentialsMissing
from slipway.v1alpha1 import os_pb2 as ospb

CONTROL_PLANE_FILE = "/etc/slipway/k0s-join.conf"
WORKER_FILE = "/var/lib/k0s/kubelet-bootstrap.conf"


def join_file(request: K0sRequest) -> ospb.File:
    """Give the kubeconfig of a machine that joins.

    Raises:
        CredentialsMissing: no token is at hand, or no certificate of the cluster's authority.
    """
    credentials = request.intent.credentials
    if not credentials.cluster_ca.HasField("certificate"):
        raise CredentialsMissing(
            "a joining machine needs the cluster's CA: provide its certificate",
            metadata={"credentials": "slipway.dev/cluster-ca:tls.crt"},
        )
    user = "controller-bootstrap" if request.joins_control_plane else "kubelet-bootstrap"
    authority = base64_text(credentials.cluster_ca.certificate)
    tree: dict[str, Tree] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "k0s", "cluster": {"server": _server(request), "certificate-authority-data": authority}}],
        "contexts": [{"name": "k0s", "context": {"cluster": "k0s", "user": user}}],
        "current-context": "k0s",
        "users": [{"name": user, "user": {"token": _token(request)}}],
    }
    content = document_content(segmented_yaml([tree], leading_separator=False))
    return root_file(join_path(request), content, mode=PRIVATE)


def join_path(request: K0sRequest) -> str:
    """Give where the kubeconfig of a machine that joins is."""
    return CONTROL_PLANE_FILE if request.joins_control_plane else WORKER_FILE


def _server(request: K0sRequest) -> str:
    endpoint = request.intent.cluster.endpoint
    if request.joins_control_plane:
        return f"https://{host_port(endpoint, port=JOIN_PORT)}"
    return f"https://{request.kubernetes.discovery.token.endpoint or host_port(endpoint)}"


def _token(request: K0sRequest) -> Text:
    given, credentials = request.kubernetes.discovery.token, request.intent.credentials
    if given.HasField("token"):
        return secret_value(given.token, f"{KUBERNETES}.discovery.token.token")
    if request.joins_control_plane:
        for reference in credentials.declared:
            if reference.name == CONTROL_PLANE_TOKEN:
                return secret_text(reference)
    elif credentials.HasField("bootstrap_token"):
        return secret_text(credentials.bootstrap_token)
    name = CONTROL_PLANE_TOKEN if request.joins_control_plane else "slipway.dev/bootstrap-token"
    raise CredentialsMissing(
        "a joining machine needs a bootstrap token: provide the cluster's own, or set discovery.token.token",
        metadata={"credentials": f"{name}:token"},
    )
