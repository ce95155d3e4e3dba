# ruff: noqa: E501  # a bundle in text format reads best as it is
"""Bundles for Talos: small ones, and one that asks for everything that the formats declare."""

import json
from datetime import UTC, datetime
from functools import cache

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID
from google.protobuf.text_format import Merge, Parse

from slipway.contract.errors import UnsupportedFeature as UnsupportedFeature  # noqa: PLC0414  # the tables of the tests import it from here
from slipway.contract.features import compute_features
from slipway.provisioners.talos import material
from slipway.provisioners.talos.provisioner import TalosProvisioner
from slipway.sdk import ProvisionerCore
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb

KUBERNETES = {"talos/v1.13": "v1.34.2", "talos/v1.12": "v1.34.2", "talos/v1.11": "v1.33.1"}
FORMATS = ("talos/v1.13", "talos/v1.12", "talos/v1.11", "talos/v1.10", "talos/v1.9")
ROLES = (clusterpb.ROLE_INIT, clusterpb.ROLE_CONTROL_PLANE, clusterpb.ROLE_WORKER)


@cache
def authority(kind: str = "ec") -> tuple[bytes, bytes]:
    """Give a self-signed certificate and its PKCS #8 key, PEM, made once per kind of key."""
    makers = {
        "ec": lambda: ec.generate_private_key(ec.SECP256R1()),
        "rsa": lambda: rsa.generate_private_key(65537, 2048),
        "ed25519": ed25519.Ed25519PrivateKey.generate,
    }
    key = makers[kind]()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2050, 1, 1, tzinfo=UTC))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, None if kind == "ed25519" else hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return certificate.public_bytes(encoding), private


def bundle(
    role: clusterpb.Role = clusterpb.ROLE_WORKER,
    text: str = "",
    *,
    version: str = "v1.33.1",
    keys: str = "ec",
) -> bundlepb.BootstrapBundle:
    """Give a bundle with an intent and all its secrets. `text` is merged in, in protobuf's text format."""
    result = Parse(
        """
        id: "m-1"
        intent {
          cluster {
            name: "prod"
            endpoint { host: "10.0.0.10" port: 6443 }
            pod_cidrs: "10.244.0.0/16"
            service_cidrs: "10.96.0.0/12"
          }
          kubernetes {}
        }
        """,
        bundlepb.BootstrapBundle(),
    )
    result.intent.role = role
    result.intent.kubernetes_version = version
    _add_secrets(result, private=role != clusterpb.ROLE_WORKER, keys=keys)
    return Merge(text, result)


def _add_secrets(result: bundlepb.BootstrapBundle, *, private: bool, keys: str) -> None:
    values: dict[tuple[str, str], bytes] = {
        (material.MACHINE_TOKEN, "token"): b"abcdef.0123456789abcdef",
        (material.CLUSTER_ID, "value"): b"0raF93qnkMvF-FZNuvyGozXNdLiT2FOWSlyBaW4PR-w=",
        (material.CLUSTER_SECRET, "value"): b"FNpWkS1Qhx4iVfT9DxqYOIIjtTHdtFqjzRn2QkkYZ8E=",
        (material.CLUSTER_TOKEN, "token"): b"fedcba.0123456789abcdef",
    }
    pairs = {material.MACHINE_CA: "ed25519", "slipway.dev/cluster-ca": keys}
    if private:
        values[material.SECRETBOX, "value"] = b"FNpWkS1Qhx4iVfT9DxqYOIIjtTHdtFqjzRn2QkkYZ8E="
        pairs |= {material.ADMIN: keys, "slipway.dev/etcd-ca": keys, "slipway.dev/front-proxy-ca": keys}
        pairs["slipway.dev/service-account"] = "rsa" if keys == "rsa" else "ec"
    for name, kind in pairs.items():
        certificate, key = authority(kind)
        values[name, "tls.crt"] = certificate
        if private:
            values[name, "tls.key"] = key
    for (name, key), value in sorted(values.items()):
        result.secrets.secrets.add(name=name, key=key, value=value)
    credentials = result.intent.credentials
    fields = {"cluster_ca": "cluster-ca"}
    if private:
        fields |= {"etcd_ca": "etcd-ca", "front_proxy_ca": "front-proxy-ca", "service_account": "service-account"}
    for field, name in fields.items():
        pair = getattr(credentials, field)
        pair.certificate.CopyFrom(secretpb.SecretReference(name=f"slipway.dev/{name}", key="tls.crt"))
        if private:
            pair.private_key.CopyFrom(secretpb.SecretReference(name=f"slipway.dev/{name}", key="tls.key"))


def target(**fields: str) -> clusterpb.Target:
    """Give a resolved target."""
    return clusterpb.Target(os_family=clusterpb.OS_FAMILY_LINUX, **fields)


def render(
    made: bundlepb.BootstrapBundle,
    form: str = "talos/v1.13",
    where: clusterpb.Target | None = None,
    *,
    validate_only: bool = False,
) -> provisionerpb.RenderResponse:
    """Render as the service does, with all its checks."""
    compute_features(made)
    request = provisionerpb.RenderRequest(
        request_tag="t", bundle=made, target=where or target(), format=form, validate_only=validate_only
    )
    return ProvisionerCore(TalosProvisioner()).render_now(request)


def content(data: bytes | str) -> str:
    """Give a content of literal bytes in protobuf's text format."""
    literal = contentpb.Segment(data=data.encode() if isinstance(data, str) else data)
    return f"segments {{ {literal} }}".replace("\n", " ")


def text(field: str, value: str) -> str:
    """Give a field of text in protobuf's text format."""
    return f"{field}: {json.dumps(value)}"


PLAIN = "a: 1\n  b\n"
NASTY = "tab\t\r\n 'q' \"d\" {{ x }} \u00e9 \u2028 \x85 \0 no newline"
POD = """
apiVersion: v1
kind: Pod
metadata: {name: probe, namespace: kube-system}
spec: {containers: [{name: c, image: "busybox:1.36", args: ["yes", "0644", "1e3"]}]}
"""
AUDIT = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"
KUBELET = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 200\nevictionHard: {memory.available: 200Mi}\n"


def everything(role: clusterpb.Role, *, mixed_override: bool = True) -> str:
    """Give what a bundle may ask for, in protobuf's text format; the control plane's part only for control planes."""
    certificate = authority()[0]
    common = f"""
        os {{
          files {{ path: "/var/lib/app/a.conf" owner: "root" group: "root" mode: 384 content {{ {content(PLAIN)} }} }}
          files {{ path: "/var/lib/app/b" owner: "root" group: "root" mode: 493
                   content {{ {content(NASTY)} }} }}
          sysctls {{ name: "net.ipv4.ip_forward" value: "1" }}
          kernel_modules {{ name: "br_netfilter" parameters: "nf=1" }}
          hostname {{ name {{ value: "node-1" }} }}
          ntp {{ enabled: true servers: "time.cloudflare.com" }}
          proxy {{ http_proxy: "http://proxy:3128" https_proxy: "http://proxy:3128" no_proxy: "10.0.0.0/8" no_proxy: ".svc" }}
          trusted_certificates {{ name: "corp" certificate {{ {content(certificate)} }} }}
          containerd {{
            registries {{ host: "docker.io"
              endpoints {{ url: "https://mirror.example.com:5000" ca {{ {content(certificate)} }} }}
              endpoints {{ url: "https://mirror2.example.com/v2/x" override_path: {str(mixed_override).lower()} skip_verify: true }}
              only_endpoints: true
              credentials {{ username: "u" password {{ secret_ref {{ name: "pull" key: "password" }} }} }} }}
            registries {{ host: "_default" endpoints {{ url: "https://all.example.com" }} }}
          }}
        }}
        secrets {{ secrets {{ name: "pull" key: "password" value: "p: 'w" }} }}
        intent {{
          cluster {{ control_plane: "talos" service_domain: "cluster.local" }}
          kubernetes {{
            node {{
              name {{ value: "node-1" }}
              labels {{ name: "example.com/pool" value: "a" }}
              labels {{ name: "node.kubernetes.io/empty" value: "" }}
              taints {{ items {{ key: "dedicated" value: "x" effect: TAINT_EFFECT_NO_SCHEDULE }}
                        items {{ key: "dedicated" value: "x" effect: TAINT_EFFECT_NO_EXECUTE }} }}
              kubelet_arguments {{ name: "cloud-provider" value: "external" }}
              kubelet_configuration {{ {text("text", KUBELET)} }}
              provider_id {{ value: "aws:///eu-west-1a/i-1" }}
              node_ip {{ value: "10.0.0.5" }}
              cri_socket: "unix:///run/containerd/containerd.sock" image_pull_policy: "IfNotPresent"
            }}
            images {{ repository: "mirror.example.com/k8s" }}
            static_pods {{ name: "probe" manifest {{ {content(POD)} }} }}
          }}
        }}
    """
    if role == clusterpb.ROLE_WORKER:
        return common
    component = """
        arguments { name: "v" value: "4" }
        volumes { name: "d" host_path: "/var/lib/d" mount_path: "/d" read_only: true }
        environment { name: "A" value: "$b" }
    """
    return f"""{common}
        intent {{ kubernetes {{
          control_plane {{
            api_server {{ {component} }} controller_manager {{ {component} }} scheduler {{ {component} }}
            api_server_sans: "api.example.com" bind_port: 6443
            audit {{ policy {{ {content(AUDIT)} }} max_age_days: 7 max_backups: 3 max_size_mib: 50 }}
            authentication_webhook {{ kubeconfig {{ {content("kind: Config")} }} cache_ttl {{ seconds: 90 }} version: "v1" }}
            files {{ name: "admission" component: "api-server" argument: "admission-control-config-file"
                     content {{ {content("kind: AdmissionConfiguration")} }} }}
            dns {{ image_tag: "v1.12.0" }}
            kube_proxy {{ disabled: true }}
          }}
          etcd {{ local {{ image_tag: "v3.6.4" arguments {{ name: "quota-backend-bytes" value: "8589934592" }} }} }}
        }} }}
    """


FACTS = ("", ".hostname", ".local_hostname")
ADDON_PARTS = (
    "dns.disabled",
    "dns.image_repository",
    "kube_proxy.image_repository",
    "kube_proxy.image_tag",
)
