"""Machines of one Talos cluster, from the spec to Talos' own dump of what it understood."""

import base64
import binascii
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from slipway.bootstrapper.bootstrapper import utc_now
from slipway.bootstrapper.credentials.cluster_secrets import cluster_declarations
from slipway.bootstrapper.credentials.entropy import SystemEntropy
from slipway.bootstrapper.credentials.ephemeral_store import EphemeralStore
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.credentials.store import ClusterKey, KeySettings
from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.provisioners.talos.material import CLUSTER_TOKEN, declarations
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.oracles import ours
from tests.oracles.ours import machines
from tools.oracles import talos
from tools.oracles.talos import Mode

FORMATS = tuple(f"talos/v1.{minor}" for minor in (9, 10, 11, 12, 13))
Leaves = dict[tuple[str, str], Any]

_PEM_FILES = {
    "ca": "slipway.dev/cluster-ca",
    "etcd/ca": "slipway.dev/etcd-ca",
    "front-proxy-ca": "slipway.dev/front-proxy-ca",
    "sa": "slipway.dev/service-account",
}


@cache
def secrets() -> Mapping[tuple[str, str], bytes]:
    """All secrets of the cluster, Talos' own among them, by name and key; made once a session."""
    store = EphemeralStore(SecretFactory(entropy=SystemEntropy(), clock=utc_now))
    declared = (*cluster_declarations(), *declarations())
    made = store.ensure(ClusterKey("pier", "default"), declared, KeySettings())
    return {(secret.name, secret.key): secret.value for secret in made.secrets}


@cache
def config(file: str, name: str, form: str) -> bytes:
    """The machine configuration that the bootstrapper gives out."""
    question = MachineQuestion(machines(file)[name].subject, secretpb.SecretMaterial(), [])
    question.secrets.secrets.extend(
        secretpb.Secret(name=name, key=key, value=value) for (name, key), value in secrets().items()
    )
    return ours.render(question, "talos", form, own_secrets=True).user_data


def judge(form: str) -> str:
    """The version of Talos' own module that knows a format: the newest one, or that of its time."""
    return talos.NEWEST if form in {"talos/v1.12", "talos/v1.13"} else talos.OLDER


@cache
def understood(file: str, name: str, form: str) -> Leaves:
    """What Talos has loaded, leaf by leaf."""
    # An empty patch makes it print what it holds and not what it has read.
    loaded = talos.load(config(file, name, form), version=judge(form), mode=Mode.METAL, patch=b"machine: {}")
    return leaves(loaded.config)


@cache
def generated(name: str, form: str) -> Leaves:
    """What Talos' own generator makes of the same facts and the same keys, leaf by leaf."""
    subject = machines("talos_plain.yaml")[name].subject
    endpoint = subject.cluster.endpoint
    with tempfile.TemporaryDirectory() as folder:
        for file, secret in _PEM_FILES.items():
            path = Path(folder) / file
            path.parent.mkdir(exist_ok=True)
            path.with_suffix(".crt").write_bytes(secrets()[secret, "tls.crt"])
            path.with_suffix(".key").write_bytes(secrets()[secret, "tls.key"])
        facts = talos.Cluster(
            name=subject.cluster.name,
            endpoint=f"https://{endpoint.host}:{endpoint.port}",
            kubernetes_version=subject.cluster.kubernetes_version.removeprefix("v"),
            pki=Path(folder),
            token=secrets()[CLUSTER_TOKEN, "token"].decode(),
        )
        kind = "worker" if name == "third" else "controlplane"
        text = talos.generate(kind, contract=form.removeprefix("talos/"), cluster=facts, version=judge(form))
    return leaves(text)


def leaves(text: str) -> Leaves:
    """The documents of a configuration as values by document and path; keys and certificates by what they are."""
    found: Leaves = {}
    for document in yaml.safe_load_all(text):
        kind, name = document.pop("kind", "main"), document.pop("name", "")
        if kind != "main":
            document.pop("apiVersion")
        for path, value in flat(document):
            assert (f"{kind}/{name}".rstrip("/"), path) not in found
            found[f"{kind}/{name}".rstrip("/"), path] = material(value)
    return found


def flat(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a tree; an empty list or mapping is one."""
    if isinstance(tree, dict) and tree:
        for key, value in tree.items():
            yield from flat(value, f"{path}/{key}")
    elif isinstance(tree, list) and tree:
        for index, value in enumerate(tree):
            yield from flat(value, f"{path}/{index}")
    else:
        yield path, tree


def material(value: Any) -> Any:
    """What a PEM text, in base64 or not, is; anything else as it stands. The public half identifies a key."""
    if not isinstance(value, str):
        return value
    pem = value if value.startswith("-----BEGIN") else _decoded(value)
    if "CERTIFICATE" in pem:
        return f"certificate {x509.load_pem_x509_certificate(pem.encode()).serial_number}"
    if "PRIVATE KEY" in pem:
        # Talos' own label for these keys.
        key = serialization.load_pem_private_key(pem.replace("ED25519 ", "").encode(), None)
        public = serialization.PublicFormat.SubjectPublicKeyInfo
        return f"private key {key.public_key().public_bytes(serialization.Encoding.DER, public).hex()}"
    return value


def _decoded(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return ""
