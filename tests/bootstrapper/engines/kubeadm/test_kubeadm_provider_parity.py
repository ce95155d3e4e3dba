"""Imported configs: kubeadm's documents equal, byte for byte, those of the kubeadm provider's own renderer."""

import json
from typing import Any
from urllib.parse import unquote

import pytest
import yaml

from tools.oracles import kubeadm_provider
from tools.oracles.kubeadm_provider import ClusterFacts, Role

pytestmark = pytest.mark.engine

PKI = dict.fromkeys(
    (
        *("ca.crt", "ca.key", "etcd/ca.crt", "etcd/ca.key"),
        *("front-proxy-ca.crt", "front-proxy-ca.key", "sa.pub", "sa.key"),
    ),
    "x\n",
)
ROLES = {"ROLE_INIT": Role.INIT, "ROLE_CONTROL_PLANE": Role.CONTROL_PLANE, "ROLE_WORKER": Role.WORKER}
DISCOVERY = {
    "bootstrapToken": {
        "token": "abcdef.0123456789abcdef",
        "apiServerEndpoint": "api.example.com:6443",
        "caCertHashes": ["sha256:" + "ab" * 32],
    }
}
NODE_SPEC = {
    "name": "node-1",
    "criSocket": "/var/run/containerd/containerd.sock",
    "taints": [{"key": "dedicated", "value": "a", "effect": "NoSchedule"}, {"key": "b", "effect": "NoExecute"}],
    "kubeletExtraArgs": [
        {"name": "node-labels", "value": "a=b,c=d"},
        {"name": "v", "value": "4"},
        {"name": "eviction-hard", "value": "nodefs.available<0%,imagefs.available<0%"},
        {"name": "feature-gates", "value": "A=true"},
        {"name": "empty", "value": ""},
    ],
    "ignorePreflightErrors": ["NumCPU", "Mem"],
    "imagePullPolicy": "IfNotPresent",
}
NODE = """intent { kubernetes { node {
  name { value: "node-1" }
  cri_socket: "/var/run/containerd/containerd.sock"
  taints {
    items { key: "dedicated" value: "a" effect: TAINT_EFFECT_NO_SCHEDULE }
    items { key: "b" effect: TAINT_EFFECT_NO_EXECUTE }
  }
  kubelet_arguments { name: "node-labels" value: "a=b,c=d" }
  kubelet_arguments { name: "v" value: "4" }
  kubelet_arguments { name: "eviction-hard" value: "nodefs.available<0%,imagefs.available<0%" }
  kubelet_arguments { name: "feature-gates" value: "A=true" }
  kubelet_arguments { name: "empty" value: "" }
  image_pull_policy: "IfNotPresent"
} } }
engine_options { kubeadm { ignored_preflight_errors: "NumCPU" ignored_preflight_errors: "Mem" } }"""
FULL_CLUSTER_SPEC = {
    "apiServer": {
        "extraArgs": [
            {"name": "audit-log-maxage", "value": "10"},
            {"name": "audit-policy-file", "value": "/etc/a.yaml"},
            {"name": "cloud-provider", "value": "external"},
            {"name": "a10", "value": "on"},
            {"name": "a9", "value": 'it\'s: "quoted"'},
        ],
        "extraVolumes": [
            {
                "name": "audit",
                "hostPath": "/etc/a.yaml",
                "mountPath": "/etc/a.yaml",
                "readOnly": True,
                "pathType": "File",
            },
            {"name": "log", "hostPath": "/var/log", "mountPath": "/var/log"},
        ],
        "certSANs": ["10.0.0.1", "api.example.com"],
    },
    "controllerManager": {"extraArgs": [{"name": "bind-address", "value": "0.0.0.0"}]},
    "scheduler": {"extraArgs": [{"name": "bind-address", "value": "::"}]},
    "etcd": {
        "local": {
            "imageRepository": "registry.example.com/etcd",
            "imageTag": "3.5.1",
            "dataDir": "/var/lib/etcddisk/etcd",
            "extraArgs": [{"name": "quota-backend-bytes", "value": "8589934592"}],
            "serverCertSANs": ["a.example.com"],
            "peerCertSANs": ["b.example.com"],
        }
    },
    "dns": {"imageRepository": "registry.example.com/dns", "imageTag": "v1.9"},
    "certificatesDir": "/etc/k8s/pki",
    "imageRepository": "registry.example.com",
    "featureGates": {"ControlPlaneKubeletLocalMode": True, "B": False},
}
FULL_CLUSTER = """intent { kubernetes {
  control_plane {
    api_server {
      arguments { name: "audit-log-maxage" value: "10" } arguments { name: "audit-policy-file" value:
      "/etc/a.yaml" } arguments { name: "cloud-provider" value: "external" } arguments { name: "a10" value:
      "on" } arguments { name: "a9" value: "it's: \\"quoted\\"" } volumes { name: "audit" host_path:
      "/etc/a.yaml" mount_path: "/etc/a.yaml" read_only: true path_type: "File" } volumes { name: "log"
      host_path: "/var/log" mount_path: "/var/log" }
    }
    api_server_sans: "10.0.0.1" api_server_sans: "api.example.com"
    controller_manager { arguments { name: "bind-address" value: "0.0.0.0" } }
    scheduler { arguments { name: "bind-address" value: "::" } }
    dns { image_repository: "registry.example.com/dns" image_tag: "v1.9" }
    advertise_address { value: "10.0.0.2" }
    bind_port: 6444
  }
  etcd { local {
    image_repository: "registry.example.com/etcd" image_tag: "3.5.1" data_dir: "/var/lib/etcddisk/etcd"
    arguments { name: "quota-backend-bytes" value: "8589934592" }
  } }
  images { repository: "registry.example.com" }
  timeouts { control_plane_component { seconds: 300 } tls_bootstrap { seconds: 90 } }
} }
engine_options { kubeadm {
  skipped_phases: "addon/kube-proxy" patches_directory: "/etc/patches" certificates_directory: "/etc/k8s/pki"
  etcd_server_sans: "a.example.com" etcd_peer_sans: "b.example.com"
  feature_gates { name: "ControlPlaneKubeletLocalMode" enabled: true }
  feature_gates { name: "B" enabled: false }
  bootstrap_tokens {
    token { secret_ref { name: "own" key: "token" } }
    description: "mine" ttl { seconds: 900 } usages: "authentication" groups: "system:bootstrappers:a"
  }
} }"""
TIMEOUTS = {"controlPlaneComponentHealthCheckSeconds": 300, "tlsBootstrapSeconds": 90}
LOCAL = {"advertiseAddress": "10.0.0.2", "bindPort": 6444}
MORE = {"skipPhases": ["addon/kube-proxy"], "patches": {"directory": "/etc/patches"}, "timeouts": TIMEOUTS}
TOKENS = [
    {
        "token": "abcdef.0123456789abcdef",
        "description": "mine",
        "ttlSeconds": 900,
        "usages": ["authentication"],
        "groups": ["system:bootstrappers:a"],
    }
]
FULL_SPEC = {
    "clusterConfiguration": FULL_CLUSTER_SPEC,
    "initConfiguration": {"nodeRegistration": NODE_SPEC, "localAPIEndpoint": LOCAL, "bootstrapTokens": TOKENS, **MORE},
    "joinConfiguration": {
        "nodeRegistration": NODE_SPEC,
        "discovery": DISCOVERY,
        "caCertPath": "/etc/ca.crt",
        "controlPlane": {"localAPIEndpoint": LOCAL},
        **MORE,
    },
}
FULL_JOIN = 'engine_options { kubeadm { ca_path: "/etc/ca.crt" } }'
EXTERNAL_SPEC = {
    "clusterConfiguration": {
        "etcd": {
            "external": {"endpoints": ["https://e:2379"], "caFile": "/e/ca", "certFile": "/e/crt", "keyFile": "/e/key"}
        }
    },
    "initConfiguration": {"nodeRegistration": {"taints": []}},
    "joinConfiguration": {
        "nodeRegistration": {"taints": []},
        "discovery": {"file": {"kubeConfigPath": "/etc/d.conf"}, "tlsBootstrapToken": "abcdef.0123456789abcdef"},
    },
}
EXTERNAL = """intent { kubernetes {
  node { taints {} }
  etcd { external { endpoints: "https://e:2379" ca_file: "/e/ca" cert_file: "/e/crt" key_file: "/e/key" } }
  discovery { file { path: "/etc/d.conf" } }
} }
engine_options { kubeadm {
  tls_bootstrap_token { secret_ref { name: "slipway.dev/bootstrap-token" key: "token" } }
} }"""
BARE_SPEC = {"joinConfiguration": {"discovery": DISCOVERY}}
JINJA_SPEC = {
    "initConfiguration": {"nodeRegistration": {"name": "{{ ds.meta_data.local_hostname }}"}},
    "joinConfiguration": {
        "nodeRegistration": {"name": "{{ ds.meta_data.local_hostname }}"},
        "discovery": DISCOVERY,
    },
}
JINJA = """intent { kubernetes { node { name { segments {
  extension { id: "cloud-init.slipway.dev/jinja" text: "{{ ds.meta_data.local_hostname }}" }
} } } } }"""
CASES = {
    "bare": (BARE_SPEC, ()),
    "full": (FULL_SPEC, (NODE, FULL_CLUSTER)),
    "external": (EXTERNAL_SPEC, (EXTERNAL,)),
    "jinja": (JINJA_SPEC, (JINJA,)),
}


def provider_config(user_data: bytes, *, ignition: bool) -> bytes:
    """Find kubeadm's configuration in what the provider rendered."""
    if ignition:
        files = json.loads(user_data)["storage"]["files"]
        source = next(file for file in files if file["path"] == "/etc/kubeadm.yml")["contents"]["source"]
        return unquote(source.removeprefix("data:,")).encode()
    files = yaml.safe_load(user_data)["write_files"]
    content: str = next(file for file in files if str(file["path"]).startswith("/run/kubeadm/"))["content"]
    return content.encode()


def quoted(config: bytes) -> bytes:
    """Put quotes around tokens: ours is filled in later, so its quotes cannot depend on its digits."""
    return config.replace(b"oken: abcdef.0123456789abcdef\n", b'oken: "abcdef.0123456789abcdef"\n')


# The renderer alone cannot make Ignition of external etcd: it does not know where the certificates are.
TABLE = [
    pytest.param(
        case, ignition, role, version, id=f"{case}-{'ignition' if ignition else 'cloud-config'}-{role}-{version}"
    )
    for case in CASES
    for ignition in (False, True)
    for role in ROLES
    for version in ("v1.22.0", "v1.30.5", "v1.31.0-rc.1", "v1.34.2")
    if not (case == "external" and ignition and role != "ROLE_WORKER")
]


@pytest.mark.parametrize(("case", "ignition", "role", "version"), TABLE)
def test_documents_are_those_of_the_kubeadm_provider(  # noqa: PLR0913, PLR0917 - a table's columns
    engine: Any, machines: Any, case: str, ignition: Any, role: str, version: str
) -> None:
    """Every field of both APIs, every role, both formats: the same bytes, but for the quotes of tokens."""
    engine("kubeadm-provider")
    spec, texts = CASES[case]
    if role == "ROLE_WORKER":
        join = {key: value for key, value in spec["joinConfiguration"].items() if key != "controlPlane"}
        spec = {"joinConfiguration": join}
    if role != "ROLE_INIT" and case == "full":
        texts = (*texts, FULL_JOIN)
    facts = ClusterFacts(
        kubernetes_version=version,
        cluster_name="prod",
        control_plane_endpoint="api.example.com:6443",
        service_domain="cluster.local",
        pod_subnet="192.168.0.0/16",
        service_subnet="10.96.0.0/12",
        pki=PKI,
    )
    theirs = kubeadm_provider.render(spec, role=ROLES[role], facts=facts, api_version="v1beta2", ignition=ignition)
    bundle = machines.bundle(
        role,
        "execution { literal_commands: true }",
        *texts,
        version=version,
        format_id="ignition/2.3.0" if ignition else "cloud-config",
        without=("bootstrap_token",) if role == "ROLE_INIT" else (),
    )
    ours = machines.plan_of(bundle)
    assert ours.refusals == ()
    config = machines.text(ours.files[-1].content)
    assert config.encode() == quoted(provider_config(theirs, ignition=ignition))
