"""What the fields of Kubernetes and of its engine may be, so that kubeadm and the machine's roles can take them.

Beside `generated_values`: "@" becomes a number that is there once.
"""

from collections.abc import Mapping
from typing import Any

from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.oracles.generated_network import fact
from tests.oracles.generated_values import reference

_AUDIT = 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata  # it\'s "@" $HOME {{ x }}\n'
_POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: gen-@}\nspec: {containers: [{name: c, image: c.example.com/c}]}\n"
_KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: gen, cluster: {server: "https://host-@.example.com:6443"}}]
contexts: [{name: gen, context: {cluster: gen, user: gen}}]
current-context: gen
users: [{name: gen, user: {token: """
_ENCRYPTION = """\
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources: [{resources: [secrets], providers: [{secretbox: {keys: [{name: k-@, secret: """


def _spliced(before: str, encoding: contentpb.SpliceEncoding, after: str) -> contentpb.Content:
    """A document with a secret in its middle."""
    name = secretpb.SecretReference(name="team-secrets", key="word")
    parts = [
        contentpb.Segment(text=before),
        contentpb.Segment(secret_ref=name, encoding=encoding),
        contentpb.Segment(text=after),
    ]
    return contentpb.Content(segments=parts)


def _text(value: str) -> contentpb.MachineText:
    return contentpb.MachineText(value=value)


def _parts(*texts: str) -> contentpb.MachineText:
    return contentpb.MachineText(segments=[contentpb.TextSegment(text=text) for text in texts])


# kubeadm wants these files to be there.
CA_PATH = "/etc/gen-ca.crt"
DISCOVERY_PATH = "/etc/gen-discovery.conf"
_TOKENS = (secretpb.SecretValue(value="abcdef.0123456789ab@"), reference("token"))

# Of each field's arguments there are at most three, and of files.
KUBELET_FLAGS = ("event-qps", "registry-burst", "sync-frequency")
COMPONENT_FLAGS = ("permit-port-sharing", "permit-address-sharing", "http2-max-streams-per-connection")
FILE_FLAGS = ("tls-sni-cert-key", "allow-metric-labels-manifest", "vmodule")
"""Flags that each component of the control plane has."""

BY_GRAMMAR: Mapping[str, tuple[str, ...]] = {
    "argument-name": ("gen-@",),
    "ca-hash": (f"sha256:{'0a' * 32}", f"sha256:{'f3' * 32}"),
    "component": ("api-server", "controller-manager", "scheduler"),
    "host-port": ("api.harbour.example.com:6443", "[2001:db8::1]:443"),
    "image-pull-policy": ("Always", "IfNotPresent", "Never"),
    "image-tag": ("v1.9-@",),
    "kubernetes-version": ("v1.34.2",),
    "label-name": ("example.com/gen-@", "gen-@"),
    "label-value": ("", "value-@", "Two.Words_@"),
}
BY_FIELD: Mapping[str, tuple[Any, ...]] = {
    "NodeRegistration.name": (
        _text("gen-node"),
        _parts("gen-", "node"),
        fact(contentpb.FACT_KIND_LOCAL_HOSTNAME),
        fact(contentpb.FACT_KIND_SHORT_HOSTNAME, before="node-"),
    ),
    "NodeRegistration.provider_id": (
        _text("metal:///gen/@"),
        _parts("metal:///", "@"),
        fact(contentpb.FACT_KIND_PROVIDER_ID),
    ),
    "NodeRegistration.node_ip": (
        _text("192.0.2.7"),
        _parts("192.0.2.", "8"),
        fact(contentpb.FACT_KIND_PRIVATE_IPV4),
        fact(contentpb.FACT_KIND_IPV6),
    ),
    "NodeRegistration.cri_socket": ("unix:///run/containerd/containerd.sock", "unix:///run/gen-@.sock"),
    "NodeRegistration.kubelet_configuration": (
        kubernetespb.OpaqueDocument(text="maxPods: 50\n", media_type="application/yaml"),
        kubernetespb.OpaqueDocument(data=b'{"maxPods": 50, "clusterDomain": "gen"}', media_type="application/json"),
    ),
    "Argument.value": ("", "true", "a=b,c=d", 'it\'s "quoted" $HOME {{ x }}: #y %h'),
    "EnvironmentVariable.name": ("GEN_@",),
    "EnvironmentVariable.value": ("", 'it\'s "quoted" $HOME: {y}'),
    "HostPathVolume.path_type": ("", "DirectoryOrCreate", "File"),
    "KubeadmOptions.tls_bootstrap_token": _TOKENS,
    "KubeadmOptions.ca_path": (CA_PATH,),
    "TokenDiscovery.token": _TOKENS,
    "FileDiscovery.path": (DISCOVERY_PATH,),
    "FileDiscovery.kubeconfig": (
        contentpb.Content(text=_KUBECONFIG + "x}}]\n"),
        _spliced(_KUBECONFIG, contentpb.SPLICE_ENCODING_JSON_STRING, "}}]\n"),
    ),
    "ControlPlane.advertise_address": (
        _text("192.0.2.10"),
        _parts("192.0.2.", "11"),
        fact(contentpb.FACT_KIND_PRIVATE_IPV4),
    ),
    "ControlPlane.bind_port": (6443, 8443),
    "Audit.policy": (contentpb.Content(text=_AUDIT), contentpb.Content(data=_AUDIT.encode())),
    "Audit.max_age_days": (0, 30),
    "Audit.max_backups": (0, 3),
    "Audit.max_size_mib": (100,),
    "Encryption.configuration": (
        _spliced(_ENCRYPTION, contentpb.SPLICE_ENCODING_BASE64, "}]}}]}]\n"),
        contentpb.Content(secret_ref=secretpb.SecretReference(name="team-secrets", key="encryption")),
    ),
    "AuthenticationWebhook.kubeconfig": (
        contentpb.Content(text=_KUBECONFIG + "x}}]\n"),
        _spliced(_KUBECONFIG, contentpb.SPLICE_ENCODING_JSON_STRING, "}}]\n"),
    ),
    "AuthenticationWebhook.version": ("v1", "v1beta1"),
    "ControlPlane.kube_proxy": (kubernetespb.Addon(disabled=True), kubernetespb.Addon(disabled=False)),
    "Addon.image_repository": ("registry.example.com/gen",),
    "LocalEtcd.image_repository": ("registry.example.com/gen",),
    "ExternalEtcd.endpoints": ("https://etcd-@.example.com:2379", "https://192.0.2.9:2379"),
    "Images.repository": ("registry.example.com:5000/gen",),
    "KubeadmFeatureGate.name": ("NodeLocalCRISocket", "RootlessControlPlane"),
    "StaticPod.manifest": (
        contentpb.Content(text=_POD),
        contentpb.Content(data=_POD.replace("@", "0").replace("\n", "\r\n").encode()),
        _spliced(_POD + "# ", contentpb.SPLICE_ENCODING_JSON_STRING, "\n"),
    ),
    "KubeadmBootstrapToken.token": _TOKENS[:1],
    "KubeadmBootstrapToken.description": ("", 'it\'s "mine" $HOME: #x'),
    "KubeadmBootstrapToken.usages": ("signing", "authentication"),
    "KubeadmBootstrapToken.groups": ("system:bootstrappers:gen-@", "system:bootstrappers:kubeadm:default-node-token"),
    "KubeadmOptions.ignored_preflight_errors": ("NumCPU", "Mem", "Port-10250"),
    "KubeadmOptions.skipped_phases": ("addon/kube-proxy", "addon/coredns", "show-join-command"),
    "KubeadmOptions.verbosity": (0, 5),
    "KubeadmOptions.machine_values": (
        specpb.KubeadmMachineValue(field="apiServer.certSANs[0]", value=_parts("gen-@", ".example.com")),
        specpb.KubeadmMachineValue(
            field="nodeRegistration.criSocket",
            value=fact(contentpb.FACT_KIND_LOCAL_HOSTNAME, before="unix:///run/gen-"),
        ),
    ),
    "KubeadmPatch.content": (
        contentpb.Content(text="{}\n"),
        _spliced("{metadata: {annotations: {gen-@: ", contentpb.SPLICE_ENCODING_JSON_STRING, "}}}\n"),
    ),
    "KubeadmPatch.name": ("kube-apiserver@+merge.yaml", "etcd@+json.json", "kubeletconfiguration@+strategic.yaml"),
}
LEFT_OUT = {
    "KubeadmBootstrapToken.expire_time": "kubeadm refuses a token that says when it expires, and so do we",
    "Kubernetes.engine": "one machine has one engine, and here it is kubeadm",
    "EngineOptions.k0s": "kubeadm refuses what only k0s knows",
}
ONE_OF = {
    "Argument": ("value", "segments"),
    "Discovery": ("token", "file"),
    "Etcd": ("local", "external"),
}
