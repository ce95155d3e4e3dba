"""Tests of the grammars: what they take is safe in every encoder further on, and what people really write is taken."""

import base64
import datetime as dt
import re

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.x509.oid import NameOID
from hypothesis import given, settings
from hypothesis import strategies as st

from slipway.contract.field_plans import plan
from slipway.contract.grammars import grammars
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import spec_pb2 as specpb

WRONG_ON_WINDOWS = ["C:", "C:\\", "C:\\a\\\\b", "C:\\a\\", "C:\\a\\..\\b", "C:\\a ", "C:\\a.\\b", "C:\\a?b"]
RESERVED = [
    "C:\\PROGRA~3\\x",
    "C:\\x\\LONGNA~1.TXT",
    "C:\\a:b",
    "C:\\a::$DATA",
    "C:\\con",
    "C:\\x\\nul.txt",
    "C:\\com\u00b9",
]
CASES: dict[str, tuple[list[str], list[str]]] = {
    "absolute-path": (
        ["/etc/hosts", "/a", "/opt/it's a $(file)/ü", "C:\\k\\config", "c:/k/x", "C:\\Program Files\\x", "/a" * 64],
        [
            "",
            "/a" * 65,
            "C:" + "\\a" * 65,
            "/",
            "etc",
            "./a",
            "/a/../b",
            "/a/./b",
            "/a//b",
            "/a/",
            "/a\nb",
            "/a\0",
            *WRONG_ON_WINDOWS,
            *RESERVED,
        ],
    ),
    "account-name": (["root", "ann", "_apt", "svc$", "a.b@c", "1000"], ["", "-x", ":", "a:b", "a\n", "a/b", "x" * 257]),
    "argument-name": (["v", "cloud-provider", "feature.gates"], ["", "-v", "--v", "a=b", "a b"]),
    "ca-hash": (["sha256:" + "a" * 64], ["sha256:" + "a" * 63, "sha1:" + "a" * 64, "a" * 64]),
    "cidr": (
        ["10.0.0.0/16", "fd00::/108", "0.0.0.0/0"],
        ["", "10.0.0.0", "10.0.0.1/16", "10.0.0.0/33", "10.0.0.0/255.255.0.0", "fe80::%a b/64", "x/8", "10.0.0.0/8\n"],
    ),
    "control-id": (
        ["cis-kubernetes-1.10/level-1", "cis-kubernetes-1.10/1.2.16", "disa-stig-kubernetes/V-242376"],
        ["", "1.2.16", "cis/", "/1.2.16", "CIS/1.2.16", "a/b/c", "a/ b", "a/b\n", "../b"],
    ),
    "computer-name": (["WORKER-1", "A", "9" * 15], ["", "worker-1", "A" * 16, "-A", "A-", "A.B", "A\n"]),
    "directory-account": (
        ["alice", "Node Admins", "svc$", "a.b_c-d", "7"],
        ["", " a", "a ", "%a", "#1", "!a", "a,b", "a@b", "a\\b", "a\n", "ü", "+a"],
    ),
    "home-template": (
        ["/home/%u@%d", "/home/%d/%u", "/srv/a.b"],
        ["", "/", "home", "/home/%U", "/home/%u/", "/home/../x", "/home/a b", "/home/%", "/home/%u\n"],
    ),
    "ldap-filter": (
        ["(a=b)", "(&(memberOf=CN=Node Admins,DC=b)(!(c=ü)))"],
        ["", "a=b", "(a=b) ", "( a=b)", "()", "(a\nb)", "(a=b", "(a=\u0085)", "(a=\u2028)"],
    ),
    "device": (
        ["/dev/sda", "/dev/disk/by-id/nvme-Amazon_EBS:1+2", "/dev/mapper/a-b", "ephemeral0", "ephemeral0.1"],
        ["", "sd a", "/dev", "/dev/", "/dev/../etc/passwd", "/dev/./a", "/dev/a/..", "/etc/x", "/dev/a b"],
    ),
    "dns-label": (["a", "a-1", "x" * 63], ["", "-a", "a-", "A", "a.b", "x" * 64, "a\n"]),
    "dns-subdomain": (["a.b-c.d", "x"], ["", ".a", "a.", "a..b", "A.b", ".".join(["a" * 60] * 5)]),
    "extension-id": (["ignition.slipway.dev/config"], ["config", "a/config", "a.b/", "a.b/../c", "a.b/C"]),
    "feature-id": (["os.files.append", "ext.a.b/c"], ["", ".append", "Os"]),
    "file-mode": (["0644", "644", "4755", "0o644"], ["", "8", "0888", "64", "066444", "rw-r--r--"]),
    "file-name": (["a", "kube-apiserver0+merge.yaml"], ["", "..", ".a", "a/b", "-a", "a\\b"]),
    "format-id": (["cloud-config", "ignition/3.3.0", "talos/v1.11"], ["", "/", "a/b/c", "A"]),
    "gecos": (["Ann O'Brien, $(room) 1"], ["a:b", "a\nb"]),
    "host": (
        ["a", "A.example", "192.0.2.1", "2001:db8::1", "[2001:db8::1]", "*.example.com", "ntp_1.example"],
        ["", "a b", "a..b", "a:1", "fe80::1%eth0", "fe80::1%x\nallow all", "[192.0.2.1]", "[a]", "-a", "a/b", "$(id)"],
    ),
    "host-port": (
        ["a.example:6443", "192.0.2.1:1", "[2001:db8::1]:65535"],
        ["", "a", "a:", ":1", "a:0", "a:65536", "2001:db8::1:6443", "a:\u0663", "a:1 ", "a:+1"],
    ),
    "hostname": (["node-1", "Node.Example"], ["", "a_b", "\u017ferver", "\u212a", "a..b", "-a", "a."]),
    "identifier": (["ext4", "24.04", "a_b-c+d"], ["", "-a", ".a", "a b", "a/b"]),
    "image": (
        ["registry.k8s.io/pause:3.10", "localhost:5000/a/b@sha256:" + "a" * 64, "a"],
        ["", "a b", "/a", "a:", "a@sha256:1", 'a"b', "a\n"],
    ),
    "image-pull-policy": (["Always", "IfNotPresent", "Never"], ["", "always"]),
    "image-tag": (["v1.2_3-x"], ["", "-a", ".a", "a:b", "x" * 129]),
    "login-shell": (["/bin/bash", "/usr/sbin/nologin"], ["", "bash", "/bin/b:sh", "/bin/sh\n", "C:\\k\\sh", "/a/../b"]),
    "kernel-module": (["br_netfilter", "nf-conntrack"], ["", "a b", "a/b", "a.ko", "-r", "--help"]),
    "kubeadm-field": (
        ["apiServer.certSANs[0]", "etcd.local.peerCertSANs[127]", "nodeRegistration.taints[1].value"],
        ["", "apiServer.certSANs", "apiServer.certSANs[-1]", "nodeRegistration.name", "taints[0].value", "criSocket\n"],
    ),
    "kubernetes-version": (
        ["v1.34.2", "1.34.2", "v1.34.0-rc.1", "v1.31.0+k3s1"],
        ["", "v1.34", "1", "latest", "v1.\u0663.2", "v1.34.2 "],
    ),
    "label-name": (
        ["a", "example.com/zone", "node-role.kubernetes.io/control-plane", "A_b.c"],
        ["", "/a", "a/", "a/b/c", "-a", "a b", "x" * 64, "Example.com/a"],
    ),
    "label-value": (["", "a", "A_b-c.1"], ["-a", "a b", "a/b", "a=b"]),
    "media-type": (["application/yaml", "text/x-shellscript; charset=utf-8"], ["", "yaml", "a/", "a/b\n", "A/b"]),
    "node-name": (["node-1.example"], ["", "Node", "a_b"]),
    "one-line": (["", "a 'b' $(c) ü"], ["a\nb", "a\r", "a\0", "a\u2028b", "a\x85b", "a\x7f"]),
    "one-word": (["a", "it's", "x=$(y)", "a-b"], ["", "-r", "--help", "-", "a b", "a\tb", "a\u00a0b", "a\n"]),
    "package-name": (
        ["curl", "g++", "lib6+x.y", "@group", "a:amd64"],
        ["", "-a", "a b", "--force", "a;b", "curl-", "a:amd64-", "curl.", "a/"],
    ),
    "package-version": (["1:1.2-3~deb"], ["", "-1", "a b"]),
    "partition-type": (["linux", "ntfs", "0FC63DAF-8483-4772-8E79-3D69D8477DE4"], ["", "Linux", "83", "0fc63daf"]),
    "reason": (["CommandFailed", "X"], ["", "commandFailed", "A b", "A-b", "A\n", "{{ x }}"]),
    "registry-host": (["docker.io", "Registry.example:5000", "_default"], ["", "a/b", "http://a", "a:", "\u212a.io"]),
    "repository-part": (["stable", "bookworm-updates/x", "1.34"], ["", "-o", "a b", "/", "[trusted=yes]"]),
    "secret-key": (["tls.crt", "a_b"], ["", "a/b", "a b"]),
    "secret-name": (["team", "slipway.dev/cluster-ca"], ["", "A", "a/b/c", "/a", "a/", "a_b"]),
    "sha256": (["a" * 64, "A" * 64], ["a" * 63, "g" * 64]),
    "sha512": (["0" * 128], ["0" * 127]),
    "step-id": (["20-kubeadm"], ["", "A", "a.b", "-a"]),
    "sysctl": (
        ["net.ipv4.ip_forward", "net.ipv4.conf.eth0/1.rp_filter", "a.*"],
        ["", "a", "a b.c", "a.", "../a", "a.b=1"],
    ),
    "systemd-drop-in": (["10-a.conf"], ["", ".conf", "a", "../a.conf", "a/b.conf"]),
    "systemd-service": (
        ["a.service", "a@b.service", "a\\x2db.service"],
        ["", ".service", "a", "a.timer", "../a.service", "-x.service", "a b.service", "a.service\n", "a.service.timer"],
    ),
    "systemd-unit": (
        ["a.service", "a@b.service", "-.mount", "dev-disk\\x2d1.swap", "x.timer"],
        ["", "a", "a.conf", "../a.service", "a/b.service", "-x.service", "--now.service", "a b.service", "a.service\n"],
    ),
    "time-zone": (["Europe/Berlin", "UTC", "Etc/GMT+1", "America/Argentina/Ushuaia"], ["", "../x", "/UTC", "a/b/c/d"]),
    "url": (
        ["https://a.example/v2/a%20b?x='y'&z=$1#f", "http://u:p%40ss@[::1]:3128"],
        ["", "a.example", "//a", "https://a b", "https://a\n", 'https://a"b', "https://a\u2028", "x://ü", "x://`"],
    ),
}


@pytest.mark.parametrize(
    ("name", "text", "taken"),
    [
        (name, text, taken)
        for name, (good, bad) in CASES.items()
        for taken, texts in ((True, good), (False, bad))
        for text in texts
    ],
)
def test_texts(name: str, text: str, *, taken: bool) -> None:
    """Each grammar takes what people of its field write, and nothing that would mean something else further on."""
    assert grammars()[name].check(text) == taken


def test_every_grammar_is_tested_and_described() -> None:
    """A new grammar comes with cases; a description can end the sentence "must be ..."."""
    assert CASES.keys() | {"component", "openpgp-public-key", "pem-certificate"} == grammars().keys()
    for grammar in grammars().values():
        assert grammar.description
        assert not grammar.description.endswith(".")


def test_every_grammar_of_the_contract_exists_and_is_used() -> None:
    """An unknown name in a proto file would be found only when a value is checked."""
    used: set[str] = set()
    seen = set()

    def walk(descriptor: object) -> None:
        if descriptor in seen:
            return
        seen.add(descriptor)
        for field in plan(descriptor).values():  # type: ignore[arg-type]  # a descriptor
            used.add(field.rules.format)
            if field.message is not None:
                walk(field.message)

    for cls in (specpb.MachineBootstrapSpec, bundlepb.BootstrapBundle):
        walk(cls.DESCRIPTOR)
    assert used - {""} <= grammars().keys()


# Where white space may be a part of the value.
_WITH_BLANKS = {
    "absolute-path",
    "account-name",
    "directory-account",
    "gecos",
    "ldap-filter",
    "media-type",
    "one-line",
    "openpgp-public-key",
    "pem-certificate",
}


@given(text=st.text(max_size=30) | st.from_regex(r"[a-zA-Z0-9./:@\[\]%*-]{1,20}[\s\S]", fullmatch=True))
@settings(max_examples=300)
def test_no_grammar_takes_more_than_a_line(text: str) -> None:
    """Whatever a grammar takes stays on its line; blanks are taken only where they are meant."""
    for name in sorted(
        grammars().keys() - {"openpgp-public-key", "pem-certificate"}
    ):  # To make up a text is dearer than to check it.
        if grammars()[name].check(text):
            assert not re.search(r"[\x00-\x1f\x7f]", text), name
            assert name in _WITH_BLANKS or not re.search(r"\s", text), name


def test_openpgp_public_keys() -> None:
    """One public key is taken; a private one, two, half of one, and text beside it are not."""
    check = grammars()["openpgp-public-key"].check
    begin, end = "-----BEGIN PGP PUBLIC KEY BLOCK-----", "-----END PGP PUBLIC KEY BLOCK-----"
    body = base64.b64encode(b"\x98\x33" + bytes(51)).decode()
    key = f"{begin}\n\n{body}\n=AAAA\n{end}\n"
    assert check(key)
    assert check(key.replace("\n", "\r\n"))
    assert check(key.replace("=AAAA\n", ""))
    assert check(key.replace(f"{begin}\n", f"{begin}\nVersion: x\nComment: y\n"))
    assert check(key.replace(body, base64.b64encode(b"\xc6\x33" + bytes(51)).decode()))
    private = key.replace("PUBLIC", "PRIVATE")
    for wrong in (
        "", "x", begin, private, key + key, f"x\n{key}", key + "x", key[:-20], key.replace(body, ""),
        key.replace(body, "!"), key.replace(body, base64.b64encode(b"\x94" + bytes(9)).decode()),
        f"{begin}\n{body}\n{end}",
    ):  # fmt: skip
        assert not check(wrong), wrong


def certificate() -> str:
    """Give a self-signed certificate."""
    key = ed25519.Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "x")])
    start = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, start, start + dt.timedelta(days=1))
    return builder.sign(key, None).public_bytes(serialization.Encoding.PEM).decode()


def test_certificates() -> None:
    """One or more certificates are taken; a private key beside them, or half a block, is not."""
    check = grammars()["pem-certificate"].check
    pem = certificate()
    key = ed25519.Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    assert check(pem)
    assert check(f"# a comment\n{pem}\n{pem}")
    assert check(pem.replace("\n", "\r\n"))
    other = "-----BEGIN X-----\n"
    for wrong in ("", "x", key.decode(), pem + key.decode(), pem[:-40], pem.replace("MI", "!!"), pem + other):
        assert not check(wrong)
