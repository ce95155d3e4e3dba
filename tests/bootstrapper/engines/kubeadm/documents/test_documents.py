"""kubeadm documents: which fields are printed, in which order and how."""

from collections.abc import Mapping

import pytest
import yaml
from pydantic import ValidationError

from slipway.bootstrapper.engines.documents.document import Document
from slipway.bootstrapper.engines.documents.go_yaml import dump_yaml
from slipway.bootstrapper.engines.kubeadm.documents import parts, v1beta3, v1beta4

NETWORKING = parts.Networking(dns_domain="myDNSDomain", pod_subnet="myPodSubnet", service_subnet="myServiceSubnet")

CLUSTER_V1BETA3 = """\
apiServer:
  timeoutForControlPlane: 30s
apiVersion: kubeadm.k8s.io/v1beta3
clusterName: mycluster
controlPlaneEndpoint: myControlPlaneEndpoint:6443
controllerManager: {}
dns: {}
etcd: {}
kind: ClusterConfiguration
kubernetesVersion: v1.22.0
networking:
  dnsDomain: myDNSDomain
  podSubnet: myPodSubnet
  serviceSubnet: myServiceSubnet
scheduler: {}
"""
CLUSTER_V1BETA4 = """\
apiServer: {}
apiVersion: kubeadm.k8s.io/v1beta4
clusterName: mycluster
controlPlaneEndpoint: myControlPlaneEndpoint:6443
controllerManager: {}
dns: {}
etcd: {}
kind: ClusterConfiguration
kubernetesVersion: v1.31.0
networking:
  dnsDomain: myDNSDomain
  podSubnet: myPodSubnet
  serviceSubnet: myServiceSubnet
proxy: {}
scheduler: {}
"""
INIT_V1BETA4 = """\
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {}
nodeRegistration:
  ignorePreflightErrors:
  - some-preflight-check
  taints: null
timeouts:
  controlPlaneComponentHealthCheck: 50s
"""
JOIN_V1BETA3 = """\
apiVersion: kubeadm.k8s.io/v1beta3
controlPlane:
  localAPIEndpoint: {}
discovery: {}
kind: JoinConfiguration
nodeRegistration:
  imagePullPolicy: Always
  taints: []
"""


@pytest.mark.parametrize(
    ("document", "text"),
    [
        (
            v1beta3.ClusterConfiguration(
                api_server=v1beta3.APIServer(timeout_for_control_plane="30s"),
                control_plane_endpoint="myControlPlaneEndpoint:6443",
                cluster_name="mycluster",
                kubernetes_version="v1.22.0",
                networking=NETWORKING,
            ),
            CLUSTER_V1BETA3,
        ),
        (
            v1beta4.ClusterConfiguration(
                control_plane_endpoint="myControlPlaneEndpoint:6443",
                cluster_name="mycluster",
                kubernetes_version="v1.31.0",
                networking=NETWORKING,
            ),
            CLUSTER_V1BETA4,
        ),
        (
            v1beta4.InitConfiguration(
                node_registration=v1beta4.NodeRegistrationOptions(ignore_preflight_errors=("some-preflight-check",)),
                timeouts=v1beta4.Timeouts(control_plane_component_health_check="0m50s"),
            ),
            INIT_V1BETA4,
        ),
        (
            v1beta3.JoinConfiguration(
                node_registration=v1beta3.NodeRegistrationOptions(taints=(), image_pull_policy="Always"),
                control_plane=parts.JoinControlPlane(),
            ),
            JOIN_V1BETA3,
        ),
    ],
    ids=["cluster-v1beta3", "cluster-v1beta4", "init-v1beta4", "join-v1beta3"],
)
def test_documents_equal_those_of_the_kubeadm_provider(document: Document, text: str) -> None:
    """Byte for byte what Cluster API's kubeadm provider prints for the same input (its own test data)."""
    assert dump_yaml(document.tree()) == text


def test_pointers_are_printed_even_if_false_and_plain_values_are_not() -> None:
    """`imagePullSerial: false` is a wish, `dns.disabled: false` is the zero value."""
    registration = v1beta4.NodeRegistrationOptions(image_pull_serial=False)
    assert registration.tree() == {"taints": None, "imagePullSerial": False}
    assert v1beta4.DNS(disabled=False).tree() == {}


def test_the_data_directory_of_etcd_is_always_printed() -> None:
    """Go's struct prints dataDir without omitempty."""
    assert v1beta4.Etcd(local=v1beta4.LocalEtcd()).tree() == {"local": {"dataDir": ""}}


def test_required_fields_are_printed_even_if_empty() -> None:
    """An argument without a value keeps its empty value."""
    assert v1beta4.Arg(name="v", value="").tree() == {"name": "v", "value": ""}


def test_names_that_go_capitalises_by_itself() -> None:
    """Acronyms are spelt as in kubeadm's own types, not as plain camel case."""
    cluster = v1beta4.ClusterConfiguration(
        api_server=v1beta4.APIServer(cert_sans=("a",)),
        etcd=v1beta4.Etcd(local=v1beta4.LocalEtcd(server_cert_sans=("b",), peer_cert_sans=("c",))),
        certificate_validity_period="24h",
        ca_certificate_validity_period="48h",
        encryption_algorithm="ECDSA-P256",
    ).tree()
    join = v1beta4.JoinConfiguration(
        ca_cert_path="/ca",
        discovery=v1beta4.Discovery(
            bootstrap_token=parts.BootstrapTokenDiscovery(
                token="t", api_server_endpoint="e", ca_cert_hashes=("h",), unsafe_skip_ca_verification=True
            ),
            file=parts.FileDiscovery(kube_config_path="/k"),
            tls_bootstrap_token="t",
        ),
        timeouts=v1beta4.Timeouts(kubernetes_api_call="1m", etcd_api_call="2m", tls_bootstrap="3m"),
    ).tree()
    assert _names(cluster) >= {"certSANs", "serverCertSANs", "peerCertSANs"}
    assert _names(cluster) >= {
        "certificateValidityPeriod",
        "caCertificateValidityPeriod",
        "encryptionAlgorithm",
    }
    assert _names(join) >= {"caCertPath", "apiServerEndpoint", "caCertHashes", "unsafeSkipCAVerification"}
    assert _names(join) >= {"kubeConfigPath", "tlsBootstrapToken", "kubernetesAPICall", "etcdAPICall"}
    assert _names(parts.APIEndpoint(advertise_address="a", bind_port=1).tree()) == {
        "advertiseAddress",
        "bindPort",
    }


def test_an_unknown_field_or_a_wrong_type_is_an_error_that_hides_its_input() -> None:
    """A typed tree cannot hold what kubeadm does not know, and its error does not show the value."""
    with pytest.raises(ValidationError) as unknown:
        v1beta3.InitConfiguration(timeouts="hunter2")  # type: ignore[call-arg]
    with pytest.raises(ValidationError) as wrong:
        v1beta4.Timeouts(discovery="hunter2")
    assert "hunter2" not in str(unknown.value) + str(wrong.value)


def test_documents_are_immutable() -> None:
    """A document that was built is never changed."""
    with pytest.raises(ValidationError):
        v1beta4.DNS().disabled = True


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("plain", "v: plain\n"),
        ("true", 'v: "true"\n'),
        ("on", 'v: "on"\n'),
        ("y", 'v: "y"\n'),
        ("10", 'v: "10"\n'),
        ("0o17", 'v: "0o17"\n'),
        ("1e3", 'v: "1e3"\n'),
        ("1:30", 'v: "1:30"\n'),
        ("null", 'v: "null"\n'),
        ("", 'v: ""\n'),
        ("2026-01-01T00:00:00Z", 'v: "2026-01-01T00:00:00Z"\n'),
        ("*", "v: '*'\n"),
        ("a: b", "v: 'a: b'\n"),
        ("{{ ds.meta_data.hostname }}", "v: '{{ ds.meta_data.hostname }}'\n"),
        ("one\ntwo\n", "v: |\n  one\n  two\n"),
        ("x" * 400 + " " + "y" * 400, "v: " + "x" * 400 + " " + "y" * 400 + "\n"),
    ],
)
def test_text_is_quoted_as_by_the_go_encoder(text: str, line: str) -> None:
    """Double quotes for text that reads as another type, single quotes for syntax, no folding."""
    assert dump_yaml({"v": text}) == line
    assert yaml.safe_load(line) == {"v": text}


def test_keys_are_ordered_as_by_the_go_encoder() -> None:
    """Numbers inside keys count by value; signs come before letters; capitals before small letters."""
    keys = ["a10", "a9", "ab", "a-b", "aB", "a", "audit-log-path", "audit-log-maxage", "v"]
    ordered = ["a", "a-b", "a9", "a10", "aB", "ab", "audit-log-maxage", "audit-log-path", "v"]
    printed = dump_yaml(dict.fromkeys(keys, 1))
    assert [line.partition(":")[0] for line in printed.splitlines()] == ordered


def _names(tree: object) -> set[str]:
    if isinstance(tree, Mapping):
        return set(tree) | {name for value in tree.values() for name in _names(value)}
    return {name for item in tree for name in _names(item)} if isinstance(tree, list) else set()
