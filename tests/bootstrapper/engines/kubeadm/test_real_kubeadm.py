"""kubeadm's own loader takes what the engine writes, strictly, and understands what was meant."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from slipway.bootstrapper.engines.kubeadm.patches import argument_patch
from tests.bootstrapper.engines.kubeadm.conftest import PROVIDER_LAYOUT
from tests.bootstrapper.engines.kubeadm.test_component_files import API_SERVER, EVERYTHING
from tools.oracles import finding, kubeadm
from tools.oracles.kubeadm import Action

pytestmark = pytest.mark.engine

EVERY_API = """intent { kubernetes {
  node {
    name { segments { text: "n-" } segments { fact { kind: FACT_KIND_INSTANCE_ID } } }
    labels { name: "example.com/a" value: "b" }
    taints { items { key: "a" effect: TAINT_EFFECT_NO_EXECUTE } }
    kubelet_arguments { name: "v" value: "2" }
    kubelet_arguments { name: "eviction-hard" value: "memory.available<5%" }
    provider_id { segments { fact { kind: FACT_KIND_PROVIDER_ID } } }
    image_pull_policy: "IfNotPresent"
    kubelet_configuration { text: "maxPods: 50" }
  }
  control_plane {
    api_server {
      arguments { name: "profiling" value: "false" }
      volumes { name: "x" host_path: "/x" mount_path: "/x" path_type: "DirectoryOrCreate" }
    } api_server_sans: "api.example.com" advertise_address { value: "10.0.0.2" } bind_port: 6444 audit {
    policy { text: "p" } max_age_days: 3 } encryption { configuration { text: "e" } } authentication_webhook
    { kubeconfig { text: "k" } cache_ttl { seconds: 120 } version: "v1" } files { name: "adm" component:
    "api-server" argument: "admission-control-config-file" content { text: "a" } } dns { image_repository:
    "r.example.com" image_tag: "v1" }
  } etcd { local { data_dir: "/var/lib/etcd" arguments { name: "a" value: "b" } } }
  images { repository: "registry.example.com" }
  timeouts { control_plane_component { seconds: 300 } tls_bootstrap { seconds: 90 } } static_pods { name:
  "p" manifest { text: "x" } }
} }
engine_options { kubeadm {
  skipped_phases: "addon/coredns" patches_directory: "/etc/p" verbosity: 3
  etcd_server_sans: "e" etcd_peer_sans: "f" certificates_directory: "/etc/kubernetes/pki"
  bootstrap_tokens {
    token { secret_ref { name: "t" key: "token" } } ttl { seconds: 900 } usages: "signing" usages: "authentication"
  }
} }"""
NEW_API = """intent { kubernetes {
  node { kubelet_arguments { name: "v" value: "3" } }
  control_plane {
    api_server { environment { name: "A" value: "true" } }
    dns { disabled: true }
    kube_proxy { disabled: true }
  }
  etcd { local { environment { name: "B" } } }
  certificates {
    ca_validity { seconds: 172800 } key_algorithm: KEY_ALGORITHM_ECDSA_P384
  }
} }
engine_options { kubeadm {
  image_pull_serial: false certificate_validity { seconds: 86400 }
  timeouts { kubelet { seconds: 90 } kubernetes_api { seconds: 61 } etcd_api { nanos: 500000000 }
  discovery { seconds: 5 } }
} }"""
EXTERNAL = """intent { kubernetes { etcd { external {
  endpoints: "https://e:2379" ca_file: "/e/ca" cert_file: "/e/c" key_file: "/e/k"
} } } }"""
# kubeadm looks whether the file is there.
FILE = f'intent {{ kubernetes {{ discovery {{ file {{ path: "{__file__}" }} }} }} }}'
ROLES = ["ROLE_INIT", "ROLE_CONTROL_PLANE", "ROLE_WORKER"]
CASES = [
    ("v1.30.5", "1.30", ()),
    ("v1.30.5", "1.30", (EVERY_API,)),
    ("v1.29.3", "1.30", (EXTERNAL, FILE)),
    ("v1.34.2", "1.34", ()),
    ("v1.34.2", "1.34", (EVERY_API, NEW_API)),
    ("v1.34.0-rc.0", "1.34", (EXTERNAL, FILE)),
]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(("version", "program", "texts"), CASES)
def test_kubeadm_takes_every_document(  # noqa: PLR0913, PLR0917 - a table's columns
    engine: Any, machines: Any, role: str, version: str, program: str, texts: tuple[str, ...]
) -> None:
    """No error and no warning of a field that kubeadm does not know, for every role and both APIs."""
    engine(f"kubeadm-{program}")
    config = machines.config(role, *texts, version=version).encode()
    assert finding.errors(kubeadm.validate(config, version=program)) == []
    action = Action.INIT if role == "ROLE_INIT" else Action.JOIN
    assert kubeadm.effective(config, action=action, version=program)


def test_the_loader_would_refuse_a_misspelt_field(engine: Any, machines: Any) -> None:
    """The check can fail: one wrong letter in a document is an error."""
    engine("kubeadm-1.34")
    config = machines.config("ROLE_WORKER").replace("discovery:", "discoveri:").encode()
    assert finding.errors(kubeadm.validate(config))


def test_kubeadm_understands_what_was_meant(engine: Any, machines: Any) -> None:
    """What it holds after loading is what the spec says."""
    engine("kubeadm-1.34")
    config = machines.config("ROLE_INIT", EVERY_API, NEW_API).encode()
    documents = {one["kind"]: one for one in kubeadm.effective(config, action=Action.INIT)}
    init, cluster = documents["InitConfiguration"], documents["ClusterConfiguration"]
    assert init["nodeRegistration"]["name"] == "n-fact-3"
    assert init["nodeRegistration"]["imagePullSerial"] is False
    assert [one["value"] for one in init["nodeRegistration"]["kubeletExtraArgs"] if one["name"] == "v"] == ["2", "3"]
    assert init["localAPIEndpoint"] == {"advertiseAddress": "10.0.0.2", "bindPort": 6444}
    assert init["timeouts"]["etcdAPICall"] == "500ms"
    assert init["patches"] == {"directory": "/etc/p"}
    assert [token["token"] for token in init["bootstrapTokens"]] == ["abcdef.0123456789abcdef"] * 2
    assert cluster["encryptionAlgorithm"] == "ECDSA-P384"
    assert cluster["certificateValidityPeriod"] == "24h0m0s"
    assert cluster["dns"]["disabled"] is True
    assert cluster["networking"]["podSubnet"] == "192.168.0.0/16"
    assert {"name": "A", "value": "true"} in cluster["apiServer"]["extraEnvs"]


def test_both_apis_mean_the_same(engine: Any, machines: Any) -> None:
    """A worker of 1.30 and one of 1.34 with the same spec: the same node, by the program of each version."""
    engine("kubeadm-1.30", "kubeadm-1.34")
    found = []
    for version, program in (("v1.30.5", "1.30"), ("v1.34.2", "1.34")):
        config = machines.config("ROLE_WORKER", EVERY_API, version=version).encode()
        (document,) = kubeadm.effective(config, action=Action.JOIN, version=program)
        arguments = document["nodeRegistration"]["kubeletExtraArgs"]
        if isinstance(arguments, list):
            arguments = {one["name"]: one["value"] for one in arguments}
        discovery = {key: value for key, value in document["discovery"].items() if key != "timeout"}
        registration = {**document["nodeRegistration"], "kubeletExtraArgs": arguments, "imagePullSerial": None}
        found.append((registration, discovery))
    assert found[0] == found[1]
    assert yaml.safe_load(machines.config("ROLE_WORKER", EVERY_API))["timeouts"]["tlsBootstrap"] == "1m30s"


LISTED = "kubeadm.k8s.io/v1beta4", '[{name: audit-log-maxage, value: "7"}, {name: odd, value: kept}]'
MAPPED = "kubeadm.k8s.io/v1beta3", '{audit-log-maxage: "7", odd: kept}'
CLUSTER_API = """apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {advertiseAddress: 192.0.2.1}
nodeRegistration: {name: node, criSocket: unix:///run/containerd/containerd.sock}
patches: {directory: /etc/slipway/kubeadm-patches}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: %s
apiServer: {extraArgs: [{name: audit-log-maxage, value: "7"}, {name: odd, value: kept}]}
"""
"""What Cluster API writes into kubeadm's ConfigMap: nothing of the files of components."""


@pytest.mark.parametrize("version", ["1.30", "1.34"])
def test_kubeadm_patches_a_control_plane_that_joins(machines: Any, engine: Any, version: str, tmp_path: Path) -> None:
    """Its static pods have the arguments behind those of the ConfigMap, and see the files."""
    engine(f"kubeadm-{version}")
    result = machines.plan("ROLE_CONTROL_PLANE", EVERYTHING, PROVIDER_LAYOUT)
    for file in result.files:
        if "kubeadm-patches/" in file.path:
            path = tmp_path / file.path.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(machines.text(file.content))
    patches = tmp_path / "etc/slipway/kubeadm-patches"
    (patches / "etcdcontrols+json.json").write_bytes(argument_patch([("auto-tls", "false")]))
    config = CLUSTER_API % f"v{version}.0"
    for new, old in zip(LISTED, MAPPED, strict=True):
        config = config if version == "1.34" else config.replace(new, old)
    (tmp_path / "kubeadm.yaml").write_text(config)
    for phase, which in (("control-plane", "all"), ("etcd", "local")):
        call = [kubeadm.program(version=version), "init", "phase", phase, which, "--config=/kubeadm.yaml"]
        done = subprocess.run([*call, f"--rootfs={tmp_path}"], capture_output=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr.decode()
    pods = {path.stem: yaml.safe_load(path.read_text()) for path in tmp_path.glob("etc/kubernetes/manifests/*.yaml")}
    command = pods["kube-apiserver"]["spec"]["containers"][0]["command"]
    assert command[-len(API_SERVER) :] == [f"--{name}={value}" for name, value in API_SERVER.items()]
    assert {"--odd=kept", "--audit-log-maxage=7"} <= set(command)
    assert (
        "--config=/etc/kubernetes/slipway/scheduler/policy"
        in pods["kube-scheduler"]["spec"]["containers"][0]["command"]
    )
    assert pods["etcd"]["spec"]["containers"][0]["command"][-1] == "--auto-tls=false"
    spec = pods["kube-apiserver"]["spec"]
    volumes = {volume["name"]: volume["hostPath"] for volume in spec["volumes"]}
    mounts = {mount["name"]: mount for mount in spec["containers"][0]["volumeMounts"]}
    assert volumes["slipway-audit-log"] == {"path": "/var/log/a", "type": "DirectoryOrCreate"}
    assert mounts["slipway-audit-log"] == {"name": "slipway-audit-log", "mountPath": "/var/log/a"}
    path = "/etc/kubernetes/slipway/api-server/encryption-configuration"
    assert volumes["slipway-encryption-configuration"] == {"path": path, "type": "File"}
    assert mounts["slipway-encryption-configuration"]["mountPath"] == path
    assert mounts["slipway-encryption-configuration"]["readOnly"] is True
    assert {"k8s-certs", "ca-certs"} <= volumes.keys()
