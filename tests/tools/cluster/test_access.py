"""Certificates and kubeconfigs, as programs read them."""

import ssl
from pathlib import Path

from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store

from tools.cluster import access
from tools.cluster.access import Access
from tools.cluster.authority import Authority


def test_a_kubeconfig_is_read_back() -> None:
    """parse(write(x)) is x, for a user with a certificate and one with a token."""
    authority = Authority.create("test")
    certified = Access("https://127.1.2.3:16443", authority.certificate, "alice", authority.client("alice"))
    trusted = Access("https://127.1.2.3:16443", authority.certificate, "bob", token="secret")
    assert access.read(certified.kubeconfig()) == certified
    assert access.read(trusted.kubeconfig()) == trusted


def test_nothing_secret_is_shown() -> None:
    """Neither a token nor a key is in what a failed assertion or a log would print."""
    authority = Authority.create("test")
    shown = repr(Access("https://x", authority.certificate, "alice", authority.client("alice"), token="hidden-token"))
    assert "hidden-token" not in shown
    assert "PRIVATE KEY" not in repr(authority.pair)


def test_keys_are_for_their_owner_alone(tmp_path: Path) -> None:
    """Kubeconfig and keys are written with mode 0600."""
    authority = Authority.create("test")
    kubeconfig = Access("https://x", authority.certificate, token="t").write(tmp_path / "a" / "kubeconfig")
    authority.server("localhost").write(tmp_path)
    assert kubeconfig.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "tls.key").stat().st_mode & 0o777 == 0o600


def test_users_and_servers_are_what_kubernetes_reads() -> None:
    """Common name and organisations of a user, names and addresses of a server; a strict verifier takes it."""
    authority = Authority.create("test")
    user = x509.load_pem_x509_certificate(authority.client("alice", groups=("a", "b")).certificate)
    assert user.subject.rfc4514_string() == "CN=alice,O=b,O=a"
    server = x509.load_pem_x509_certificate(authority.server("localhost", "127.1.2.3").certificate)
    names = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(name.value) for name in names] == ["localhost", "127.1.2.3"]
    store = Store([x509.load_pem_x509_certificate(authority.certificate)])
    verifier = PolicyBuilder().store(store).build_server_verifier(x509.DNSName("localhost"))
    assert verifier.verify(server, [])[0] == server


def test_an_authority_is_loaded_from_its_files() -> None:
    """Another process signs with the same authority."""
    authority = Authority.create("test")
    again = Authority.load(authority.pair.certificate, authority.pair.key)
    loaded = Access("https://x", again.certificate, certificate=again.client("alice"))
    assert again.pair == authority.pair
    assert isinstance(loaded.tls(), ssl.SSLContext)
