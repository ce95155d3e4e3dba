"""A kubeconfig out of a Secret runs no program and reads no file of the controller."""

import base64
from typing import Any

import pytest
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from slipway.kubernetes_api.kubeconfig import KubeconfigRefused, read_kubeconfig

CERTIFICATE = base64.b64encode(b"certificate").decode()
Key = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey


def _pem(key: Key, password: bytes = b"") -> str:
    encryption = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
    return base64.b64encode(pem).decode()


KEY = _pem(ec.generate_private_key(ec.SECP256R1()))


def _der(tag: int, content: bytes) -> bytes:
    size = len(content)
    length = bytes([size]) if size < 128 else b"\x82" + size.to_bytes(2, "big")
    return bytes([tag]) + length + content


def _made_up(bits: int) -> str:
    """Give a key of RSA whose parts do not belong together: making it costs nothing, and signing much."""
    numbers = (0, 1 << bits - 1 | 1, 65537, 1 << bits - 2 | 1, 3, 5, 3, 5, 7)
    words = [number.to_bytes(number.bit_length() // 8 + 1, "big") for number in numbers]
    text = base64.encodebytes(_der(0x30, b"".join(_der(2, word) for word in words))).decode()
    pem = f"-----BEGIN RSA PRIVATE KEY-----\n{text}-----END RSA PRIVATE KEY-----\n"
    return base64.b64encode(pem.encode()).decode()


ENCRYPTED = _pem(ed25519.Ed25519PrivateKey.generate(), b"password")


def _kubeconfig(*, user: dict[str, Any] | None = None, cluster: dict[str, Any] | None = None) -> bytes:
    return yaml.safe_dump(
        {
            "clusters": [
                {"name": "a", "cluster": {"server": "https://other.example.com"}},
                {"name": "c", "cluster": {"server": "https://api.example.com:6443/", **(cluster or {})}},
            ],
            "users": [{"name": "u", "user": user or {}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
    ).encode()


def test_the_current_context_is_read() -> None:
    """Server, authority and credentials are those of the context, decoded."""
    access = read_kubeconfig(
        _kubeconfig(
            user={"client-certificate-data": CERTIFICATE, "client-key-data": KEY, "token": "t"},
            cluster={"certificate-authority-data": CERTIFICATE, "tls-server-name": "name"},
        )
    )
    assert access.server == "https://api.example.com:6443"
    assert access.authority == "certificate"
    assert (access.certificate, access.key, access.token) == (b"certificate", base64.b64decode(KEY), "t")
    assert access.tls_server_name == "name"
    assert "certificate" not in repr(access)


@pytest.mark.parametrize(
    ("data", "said", "reason"),
    [
        (_kubeconfig(user={"exec": {"command": "sh"}}), "exec", "it would run a program"),
        (_kubeconfig(user={"auth-provider": {"name": "gcp"}}), "auth-provider", "it would run a provider"),
        (_kubeconfig(user={"tokenFile": "/etc/shadow"}), "tokenFile", "it would read a file"),
        (_kubeconfig(user={"client-certificate": "/a"}), "client-certificate", "it would read a file"),
        (_kubeconfig(user={"client-key": "/a"}), "client-key", "it would read a file"),
        (_kubeconfig(user={"as": "admin"}), "impersonates", "it would act as somebody else"),
        (_kubeconfig(user={"as-uid": "1"}), "impersonates", "it would act as somebody else"),
        (_kubeconfig(user={"as-groups": ["system:masters"]}), "impersonates", "it would act as somebody else"),
        (_kubeconfig(user={"token": "a\r\nX: y"}), "token", "it would write a header of its own"),
        (_kubeconfig(user={"token": 1}), "token", "no text"),
        (_kubeconfig(user={"client-key-data": [1]}), "base64", "no text"),
        (_kubeconfig(user={"client-key-data": CERTIFICATE}), "cannot be read", "no key"),
        (_kubeconfig(user={"client-key-data": _made_up(16384)}), "more than 4096 bits", "it would sign for a minute"),
        (_kubeconfig(user={"client-key-data": _made_up(4096)}), "cannot be read", "it would sign for a second"),
        (_kubeconfig(user={"client-key-data": ENCRYPTED}), "encrypted", "a terminal would be asked for the password"),
        (_kubeconfig(user=["x"]), "cannot be read", "a user that is a list"),  # type: ignore[arg-type]
        (_kubeconfig(user="abc"), "cannot be read", "a user that is a text"),  # type: ignore[arg-type]
        (_kubeconfig(cluster={"server": "https://u:p@api.example.com"}), "more, or less", "credentials in an address"),
        (_kubeconfig(cluster={"server": "https://api.example.com/?a=b"}), "more, or less", "a query"),
        (_kubeconfig(cluster={"server": "https://api.example.com/#"}), "more, or less", "a fragment"),
        (_kubeconfig(cluster={"server": "https://%6cocalhost:6443"}), "more, or less", "a name that is encoded"),
        (_kubeconfig(cluster={"server": "https://"}), "more, or less", "no host"),
        (_kubeconfig(cluster={"server": "https://[x"}), "no address", "a broken address"),
        (_kubeconfig(cluster={"server": "https://a:99999"}), "no address", "a broken port"),
        (_kubeconfig(cluster={"server": "https://a/\n"}), "server", "a line break"),
        (_kubeconfig(cluster={"server": ["https://a"]}), "server", "no text"),
        (_kubeconfig() + b"# " + b"x" * 65536, "longer than 64 KiB", "it would take long to read"),
        (b"[" * 60_000, "cannot be read", "nested without end"),
        (b"a: &a [x]\nb: [*a, *a]\n" + _kubeconfig(), "cannot be read", "aliases multiply"),
        (b"a: " + b"1" * 5000 + b"\n" + _kubeconfig(), "cannot be read", "a number without end"),
        (b"a: 2026-99-99\n" + _kubeconfig(), "cannot be read", "a date that is none"),
        (b"x", "cannot be read", "a text"),
        (b"contexts: 1\ncurrent-context: x", "cannot be read", "of another shape"),
        (_kubeconfig(cluster={"certificate-authority": "/a"}), "certificate-authority", "it would read a file"),
        (_kubeconfig(cluster={"insecure-skip-tls-verify": True}), "does not check", "nobody proves to be the server"),
        (_kubeconfig(cluster={"proxy-url": "http://p"}), "proxy", "it would call somebody else"),
        (_kubeconfig(cluster={"server": "http://api.example.com"}), "not https", "the token would be seen"),
        (_kubeconfig(cluster={"certificate-authority-data": "%"}), "base64", "it is damaged"),
        (b"\x00", "cannot be read", "no YAML"),
        (b"[]", "cannot be read", "no kubeconfig"),
        (_kubeconfig().replace(b"current-context: x", b"current-context: y"), "cannot be read", "no such context"),
    ],
)
def test_what_is_refused(data: bytes, said: str, reason: str) -> None:
    """The text says which part, and holds nothing of it."""
    with pytest.raises(KubeconfigRefused) as refused:
        read_kubeconfig(data)
    assert said in str(refused.value), reason
    assert "shadow" not in str(refused.value)


@pytest.mark.parametrize(
    "key",
    [
        ed25519.Ed25519PrivateKey.generate(),
        ec.generate_private_key(ec.SECP384R1()),
        rsa.generate_private_key(65537, 2048),
    ],
    ids=["Ed25519", "ECDSA", "RSA"],
)
def test_usual_client_keys(key: Key) -> None:
    """Each kind that tools make for a cluster."""
    user = {"client-certificate-data": CERTIFICATE, "client-key-data": _pem(key)}
    assert read_kubeconfig(_kubeconfig(user=user)).key == base64.b64decode(_pem(key))
