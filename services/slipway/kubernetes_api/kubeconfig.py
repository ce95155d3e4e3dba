"""The kubeconfig of a workload cluster, read from a Secret that many people may be able to write.

So nothing in it may make this process run a program or read a file: exec and auth-provider entries, and paths, are
refused. Nor may it cost much to read: its size and depth are bounded, and it has no aliases, which could multiply it.
"""

import base64
import binascii
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import yaml
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa


class KubeconfigRefused(Exception):  # noqa: N818  # subject and state, as the contract names its errors
    """A kubeconfig cannot be used; the text says why and holds nothing of it."""


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """What it takes to call a cluster."""

    server: str
    authority: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    certificate: bytes = field(default=b"", repr=False)
    key: bytes = field(default=b"", repr=False)
    tls_server_name: str = ""


_FORBIDDEN = {
    "exec": "runs a program",
    "auth-provider": "runs an auth provider",
    "tokenFile": "reads a file",
    "client-certificate": "reads a file",
    "client-key": "reads a file",
    "username": "uses basic authentication",
    "as": "impersonates",
    "as-uid": "impersonates",
    "as-groups": "impersonates",
    "as-user-extra": "impersonates",
}
MOST_BYTES = 64 * 1024
"""Far beyond one cluster with one user, certificates included: about 6 KiB."""

_LONGEST_KEY = 4096
"""Bytes of a key in PEM: one of RSA with 4,096 bits has 3,272."""

_MOST_BITS = 4096
_MOST_EXPONENT = 2**32
_DEEPEST = 32
_BROKEN = (
    yaml.YAMLError,
    KeyError,
    TypeError,
    AttributeError,
    ValueError,
    StopIteration,
    RecursionError,
    OverflowError,
)


def read_kubeconfig(data: bytes) -> ClusterAccess:
    """Read the current context.

    Raises:
        KubeconfigRefused: it is no kubeconfig, is incomplete, or would make this process run a program or read a file.
    """
    if len(data) > MOST_BYTES:
        raise KubeconfigRefused(f"the kubeconfig is longer than {MOST_BYTES // 1024} KiB")
    try:
        _check_events(data)
        # The loader is the safe one of libyaml.
        tree = yaml.load(data, Loader=yaml.CSafeLoader)
        context = _named(tree, "contexts", tree["current-context"])["context"]
        cluster = _named(tree, "clusters", context["cluster"])["cluster"]
        user = _named(tree, "users", context["user"])["user"] or {}
    except _BROKEN:
        raise KubeconfigRefused("the kubeconfig cannot be read") from None
    if not isinstance(cluster, dict) or not isinstance(user, dict):
        raise KubeconfigRefused("the kubeconfig cannot be read")
    for key, what in _FORBIDDEN.items():
        if key in user:
            raise KubeconfigRefused(f"the kubeconfig {what} (users[].user.{key}); this is not allowed")
    if "certificate-authority" in cluster:
        raise KubeconfigRefused("the kubeconfig reads a file (clusters[].cluster.certificate-authority)")
    if cluster.get("insecure-skip-tls-verify"):
        raise KubeconfigRefused("the kubeconfig does not check the server's certificate")
    if "proxy-url" in cluster:
        raise KubeconfigRefused("the kubeconfig names a proxy (clusters[].cluster.proxy-url)")
    return ClusterAccess(
        server=_server(cluster),
        authority=_decoded(cluster, "certificate-authority-data").decode(errors="replace"),
        token=_text(user, "token"),
        certificate=_decoded(user, "client-certificate-data"),
        key=_client_key(_decoded(user, "client-key-data")),
        tls_server_name=_text(cluster, "tls-server-name"),
    )


def _client_key(pem: bytes) -> bytes:
    """Give a key in PEM as it was understood: with it this process signs whenever it connects.

    What that takes grows with the third power of the bits, and a key whose parts do not belong together takes longer.
    """
    if not pem:
        return b""
    if len(pem) > _LONGEST_KEY:
        raise KubeconfigRefused(f"the kubeconfig's client key has more than {_MOST_BITS} bits")
    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KubeconfigRefused("the kubeconfig's client key cannot be read, or is encrypted") from None
    if isinstance(key, rsa.RSAPrivateKey):
        is_usual = key.key_size <= _MOST_BITS and key.public_key().public_numbers().e <= _MOST_EXPONENT
    else:
        is_usual = isinstance(key, ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey)
    if not is_usual:
        raise KubeconfigRefused("the kubeconfig's client key must be RSA (at most 4,096 bits), ECDSA or Ed25519")
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _check_events(data: bytes) -> None:
    """See to it that building the tree costs no more than reading the text; YAMLError where it would."""
    depth = 0
    for event in yaml.parse(data, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError("an alias")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise yaml.YAMLError("too deep")


def _server(cluster: dict[str, Any]) -> str:
    text = _text(cluster, "server")
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise KubeconfigRefused("the kubeconfig's server is no address") from None
    if parts.scheme != "https":
        raise KubeconfigRefused("the kubeconfig's server is not https")
    if not host or set(text) & set("@?#\\%"):
        raise KubeconfigRefused("the kubeconfig's server is more, or less, than an address and a path")
    return text.rstrip("/")


def _text(tree: dict[str, Any], key: str) -> str:
    """Give a text that may stand in a header or an address."""
    value = tree.get(key)
    if value is None:
        return ""
    if not isinstance(value, str) or not all("!" <= letter <= "~" for letter in value):
        raise KubeconfigRefused(f"the kubeconfig's {key} is no text, or has blanks or control characters in it")
    return value


def _named(tree: Any, key: str, name: Any) -> Any:
    return next(item for item in tree[key] if item["name"] == name)


def _decoded(tree: Any, key: str) -> bytes:
    try:
        return base64.b64decode(tree.get(key) or "", validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise KubeconfigRefused(f"the kubeconfig's {key} is not base64") from None
