"""The documents of a cluster whose spec says everything that a node can show."""

from typing import Any

from tests.node import documents
from tools.node import addresses

MIRROR, MIRROR_PORT = "mirror.example.com", 5443
WEBHOOK_PORT = 8080
PROXY = "http://proxy.example.com:3128"
ENCRYPTION = """\
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - secretbox: {keys: [{name: first, secret: bm90LWEtcmVhbC1rZXktbm90LWEtcmVhbC1rZXktMDE=}]}
  - identity: {}
"""
AUDIT = """\
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- {level: Request, namespaces: [audited], verbs: [create]}
- {level: None}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: beacon, namespace: kube-system}
spec:
  hostNetwork: true
  containers: [{name: beacon, image: "registry.k8s.io/pause:3.10.1"}]
"""
WEBHOOK = f"""\
apiVersion: v1
kind: Config
clusters: [{{name: webhook, cluster: {{server: "http://{addresses.GATEWAY}:{WEBHOOK_PORT}/"}}}}]
users: [{{name: api-server, user: {{}}}}]
contexts: [{{name: webhook, context: {{cluster: webhook, user: api-server}}}}]
current-context: webhook
"""


def content(text: str) -> dict[str, str]:
    return {"text": text}


def operating_system(authority: str) -> dict[str, Any]:
    """What all machines of the cluster have."""
    mirror = {"url": f"https://{MIRROR}:{MIRROR_PORT}", "ca": content(authority)}
    return {
        "sysctls": [documents.FORWARDING, {"name": "net.ipv4.tcp_keepalive_time", "value": "611"}],
        "proxy": {
            "httpProxy": PROXY,
            "httpsProxy": PROXY,
            "noProxy": ["127.0.0.1", "localhost", ".example.com", "10.0.0.0/8", ".svc", ".cluster.local"],
        },
        "containerd": {
            "registries": [{"host": "registry.k8s.io", "endpoints": [mirror], "onlyEndpoints": True}],
            "sandboxImage": "registry.k8s.io/pause:3.10.1",
        },
    }


def rich_documents(authority: str) -> str:
    """A control plane that says everything, and two workers."""
    control_plane = documents.config(
        "control-plane",
        os=operating_system(authority),
        kubernetes={
            "node": {
                "name": {"value": "lighthouse"},
                "labels": [{"name": "example.com/storey", "value": "top"}],
                "taints": {"items": [{"key": "example.com/lamp", "value": "hot", "effect": "NoSchedule"}]},
                "kubeletArguments": [{"name": "v", "value": "3"}],
                "kubeletConfiguration": content(
                    "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 77\n"
                ),
                "providerId": {"value": "example://tower/1"},
            },
            "controlPlane": {
                "apiServer": {
                    "arguments": [{"name": "profiling", "value": "false"}],
                    "volumes": [
                        {"name": "chart", "hostPath": "/etc/chart", "mountPath": "/etc/chart", "pathType": "Directory"}
                    ],
                    "environment": [{"name": "SEA", "value": "calm"}],
                },
                "controllerManager": {"arguments": [{"name": "node-monitor-grace-period", "value": "37s"}]},
                "scheduler": {"arguments": [{"name": "kube-api-qps", "value": "61"}]},
                "apiServerSans": ["keeper.example.com"],
                "audit": {"policy": content(AUDIT)},
                "encryption": {"configuration": content(ENCRYPTION)},
                "authenticationWebhook": {"kubeconfig": content(WEBHOOK), "version": "v1"},
            },
            "etcd": {"local": {"arguments": [{"name": "snapshot-count", "value": "4321"}]}},
            "staticPods": [{"name": "beacon", "manifest": content(POD)}],
        },
        commands={"pre": [{"argv": ["sh", "-c", "mkdir -p /etc/chart && echo reef >/etc/chart/rock"]}]},
    )
    worker = documents.config(
        "worker",
        os=operating_system(authority),
        kubernetes={
            "node": {
                "name": {"segments": [{"text": "w-"}, {"fact": {"kind": "LocalHostname"}}]},
                "labels": [{"name": "example.com/storey", "value": "ground"}],
                "kubeletArguments": [
                    {"name": "node-ip", "segments": [{"fact": {"kind": "PrivateIpv4"}}]},
                ],
                "providerId": {"segments": [{"text": "example://tower/"}, {"fact": {"kind": "LocalHostname"}}]},
            },
        },
    )
    machines = {"cp": ("Init", "control-plane"), "first": ("Worker", "worker"), "second": ("Worker", "worker")}
    return documents.text(documents.cluster(machines, name="rich"), control_plane, worker)
