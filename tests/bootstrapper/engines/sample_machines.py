"""Machines that use whatever our engines take, for the test kit."""

from typing import Any

from google.protobuf import json_format

from slipway.bootstrapper.engines.k0s.engine import K0sEngine
from slipway.bootstrapper.engines.kubeadm.engine import KubeadmEngine
from slipway.bootstrapper.engines.testing import (
    machine,
)
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import spec_pb2 as specpb

FACTS = [{"fact": {"kind": kind}} for kind in contentpb.FactKind.values() if kind]
TEMPLATE = {"extension": {"id": "cloud-init.slipway.dev/jinja", "text": "{{ v1.region }}"}}
TEXT = {"segments": FACTS}
ARGUMENT = {"name": "root-dir", "segments": FACTS}
FILE = {"segments": FACTS}
COMPONENT = {"arguments": [{"name": "tls-cert-file", "segments": FACTS}]}
NODE = {
    "name": TEXT,
    "labels": [{"name": "a", "value": "b"}],
    "taints": {"items": [{"key": "k", "effect": "TAINT_EFFECT_NO_EXECUTE"}]},
    "kubeletArguments": [ARGUMENT],
    "criSocket": "unix:///run/other.sock",
    "providerId": TEXT,
    "nodeIp": TEXT,
}
CONTROL_PLANE = {
    "apiServer": COMPONENT,
    "controllerManager": COMPONENT,
    "scheduler": COMPONENT,
    "apiServerSans": ["a.example.com"],
    "advertiseAddress": TEXT,
    "audit": {"policy": FILE, "logPath": "/var/log/a/b", "maxBackups": 2},
    "encryption": {"configuration": FILE},
    "authenticationWebhook": {"kubeconfig": FILE, "cacheTtl": "5s", "version": "v1"},
    "files": [{"name": "f", "component": "scheduler", "argument": "config", "content": FILE}],
    "dns": {"disabled": True},
    "kubeProxy": {"disabled": True},
}
LABELS = {"labels": [{"name": "a", "value": "b"}]}
IMAGE = {"imageRepository": "r", "imageTag": "t"}
EXTERNAL = {"endpoints": ["https://a"], "caFile": "/c", "certFile": "/d", "keyFile": "/e"}


def kubernetes(**fields: Any) -> kubernetespb.Kubernetes:
    """Give the Kubernetes part of a spec."""
    return json_format.ParseDict(fields, kubernetespb.Kubernetes())


def k0s_machines() -> list[bundlepb.BootstrapBundle]:
    """Give machines that use everything that k0s takes."""
    engine = K0sEngine()
    token = {"endpoint": "other.example.com:6443", "token": {"secretRef": {"name": "t", "key": "k"}}}
    options = specpb.EngineOptions(k0s=specpb.K0sOptions(network_provider="calico", worker_profile="p"))
    worker = kubernetes(node=NODE, discovery={"token": token}, timeouts={"tlsBootstrap": "9s"})
    plane = kubernetes(
        node=NODE,
        controlPlane=CONTROL_PLANE,
        etcd={"local": {"arguments": [ARGUMENT]}},
        images={"repository": "r"},
        certificates={"caValidity": "32400000s", "keyAlgorithm": "KEY_ALGORITHM_ECDSA_P384"},
        timeouts={"controlPlaneComponent": "9s"},
    )
    other = kubernetes(etcd={"external": EXTERNAL}, controlPlane={"bindPort": 7443})
    joining = machine(engine, clusterpb.ROLE_CONTROL_PLANE, kubernetes=other)
    joining.intent.cluster.endpoint.port = 7443
    return [
        machine(engine, clusterpb.ROLE_INIT, kubernetes=plane, options=options),
        joining,
        machine(engine, clusterpb.ROLE_WORKER, kubernetes=worker, options=options),
    ]


def with_template(tree: Any) -> Any:
    """Give the fields of a spec with template text wherever they hold facts."""
    if tree is FACTS:
        return [*FACTS, TEMPLATE]
    if isinstance(tree, dict):
        return {key: with_template(value) for key, value in tree.items()}
    return [with_template(value) for value in tree] if isinstance(tree, list) else tree


def templated(**fields: Any) -> kubernetespb.Kubernetes:
    """Give the Kubernetes part of a spec with template text."""
    return kubernetes(**with_template(fields))


def kubeadm_machines() -> list[bundlepb.BootstrapBundle]:
    """Give machines that use everything that kubeadm takes."""
    engine = KubeadmEngine()
    environment = [{"name": "A", "value": "b"}]
    volumes = [{"name": "v", "hostPath": "/v", "mountPath": "/v"}]
    component = {**COMPONENT, "volumes": volumes, "environment": environment}
    node = {
        **NODE,
        "kubeletConfiguration": {"text": "maxPods: 50", "mediaType": "application/yaml"},
        "imagePullPolicy": "Never",
    }
    plane = templated(
        node=node,
        controlPlane={
            **CONTROL_PLANE,
            **dict.fromkeys(("apiServer", "controllerManager", "scheduler"), component),
            "bindPort": 6444,
            "dns": {"imageRepository": "r", "imageTag": "t"},
        },
        etcd={"local": {**IMAGE, "arguments": [ARGUMENT], "dataDir": "/e", "environment": environment}},
        images={"repository": "r"},
        certificates={"caValidity": "32400000s", "keyAlgorithm": "KEY_ALGORITHM_ECDSA_P384"},
        timeouts={"controlPlaneComponent": "9s", "tlsBootstrap": "9s"},
        staticPods=[{"name": "p", "manifest": FILE}],
    )
    timeouts = dict.fromkeys(("kubelet", "kubernetesApi", "etcdApi", "discovery"), "9s")
    options = {
        "featureGates": [{"name": "RootlessControlPlane", "enabled": False}],
        "bootstrapTokens": [{"token": {"value": "abcdef.0123456789abcdef"}}],
        "certificateValidity": "3240000s",
        "etcdServerSans": ["etcd.example.com"],
        "imagePullSerial": False,
        "machineValues": [{"field": "apiServer.certSANs[0]", "value": with_template(TEXT)}],
        "timeouts": timeouts,
        "patches": [{"name": "etcd+merge.yaml", "content": with_template(FILE)}],
    }
    token = {"endpoint": "other.example.com:6443", "unsafeSkipCaVerification": True}
    by_file = {"path": "/d", "kubeconfig": FILE}
    bare = {"dns": {"disabled": True}, "kubeProxy": {"disabled": True}}
    return [
        machine(engine, clusterpb.ROLE_INIT, kubernetes=plane, options=kubeadm_options(**options)),
        machine(
            engine,
            clusterpb.ROLE_INIT,
            kubernetes=templated(etcd={"external": EXTERNAL}, controlPlane=bare),
        ),
        machine(engine, clusterpb.ROLE_CONTROL_PLANE, kubernetes=templated(discovery={"file": by_file})),
        machine(
            engine,
            clusterpb.ROLE_WORKER,
            kubernetes=templated(node=node, discovery={"token": token}),
            options=kubeadm_options(timeouts=timeouts, imagePullSerial=False, version="v1.33.1"),
            kubernetes_version="v1.30.2",
        ),
    ]


def kubeadm_options(**fields: Any) -> specpb.EngineOptions:
    """Give the options of kubeadm."""
    return json_format.ParseDict({"kubeadm": fields}, specpb.EngineOptions())
