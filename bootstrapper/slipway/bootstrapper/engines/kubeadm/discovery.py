"""How a joining machine finds and trusts the cluster: by token and CA hashes, or by a kubeconfig file."""

from slipway.bootstrapper.engines.endpoint import host_port
from slipway.bootstrapper.engines.kubeadm.documents.parts import BootstrapTokenDiscovery, FileDiscovery
from slipway.bootstrapper.engines.kubeadm.documents.v1beta4 import Discovery
from slipway.bootstrapper.engines.kubeadm.request import OPTIONS, EngineRequest, root_file
from slipway.bootstrapper.engines.request import GROUP_READABLE, KUBERNETES, PRIVATE
from slipway.bootstrapper.engines.texts import secret_text, secret_value
from slipway.contract.errors import BundleInvalid, CredentialsMissing, Violation
from slipway.v1alpha1 import os_pb2 as ospb

DISCOVERY = f"{KUBERNETES}.discovery"


def discovery(request: EngineRequest) -> Discovery:
    """Give kubeadm's discovery.

    Raises:
        CredentialsMissing: no token is at hand, or nothing by which the cluster's CA can be known.
        BundleInvalid: the cluster has no endpoint and the spec names none.
    """
    source = _found_by(request)
    if not request.options.HasField("tls_bootstrap_token"):
        return source
    token = secret_value(request.options.tls_bootstrap_token, f"{OPTIONS}.tls_bootstrap_token")
    return Discovery(bootstrap_token=source.bootstrap_token, file=source.file, tls_bootstrap_token=token)


def discovery_files(request: EngineRequest) -> list[ospb.File]:
    """Give the kubeconfig file of a discovery by file, unless the image has it."""
    given = request.kubernetes.discovery
    if not given.file.HasField("kubeconfig"):
        return []
    mode = GROUP_READABLE if request.imported else PRIVATE
    return [root_file(given.file.path, given.file.kubeconfig, mode=mode, source=given.origin)]


def _found_by(request: EngineRequest) -> Discovery:
    if request.kubernetes.discovery.HasField("file"):
        return Discovery(file=FileDiscovery(kube_config_path=request.kubernetes.discovery.file.path))
    return Discovery(bootstrap_token=_by_token(request))


def _by_token(request: EngineRequest) -> BootstrapTokenDiscovery:
    given = request.kubernetes.discovery.token
    credentials = request.intent.credentials
    if given.HasField("token"):
        token = secret_value(given.token, f"{DISCOVERY}.token.token")
    elif credentials.HasField("bootstrap_token"):
        token = secret_text(credentials.bootstrap_token)
    else:
        raise CredentialsMissing(
            "a joining machine needs a bootstrap token: provide the cluster's own, or set discovery.token.token",
            metadata={"credentials": "slipway.dev/bootstrap-token:token"},
        )
    endpoint = given.endpoint or host_port(request.intent.cluster.endpoint)
    if not endpoint:
        raise BundleInvalid(
            "a joining machine needs the cluster's endpoint",
            violations=[Violation("intent.cluster.endpoint", "is required for a machine that joins")],
        )
    hashes = tuple(given.ca_hashes or credentials.ca_hashes)
    if not hashes and not given.unsafe_skip_ca_verification:
        raise CredentialsMissing(
            "a joining machine needs the cluster's CA: provide its certificate, or set discovery.token.ca_hashes",
            metadata={"credentials": "slipway.dev/cluster-ca:tls.crt"},
        )
    return BootstrapTokenDiscovery(
        token=token,
        api_server_endpoint=endpoint,
        ca_cert_hashes=hashes,
        unsafe_skip_ca_verification=given.unsafe_skip_ca_verification,
    )
