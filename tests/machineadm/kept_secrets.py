"""The secrets of a machine, where each is kept, and every form in which a text may hold it."""

import base64
import gzip
import json
import re
from dataclasses import dataclass
from urllib.parse import quote

from slipway.conformance.encodings import forms

BENIGN = "error: failed to pull image registry.k8s.io/pause:3.10: not found in /var/lib/containerd"


@dataclass(frozen=True)
class Kept:
    """A secret of a machine.

    Attributes:
        value: as it is; a text of several lines is entry where each line counts.
        path: where it is on the disk.
        text: the file there; None for the value alone.
    """

    value: str
    path: str
    text: str | None = None


def _pem(kind: str, letters: str) -> str:
    body = base64.b64encode((letters * 9).encode()).decode()
    lines = "\n".join(body[start : start + 64] for start in range(0, len(body), 64))
    return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n"


CA_KEY = _pem("RSA PRIVATE KEY", "q7Zt-ca-")
SA_KEY = _pem("EC PRIVATE KEY", "Lm3x-sa-")
CLIENT_KEY = _pem("PRIVATE KEY", "Vb9w-client-")
HOST_KEY = _pem("OPENSSH PRIVATE KEY", "Hk2p-host-")
ETCD_KEY = _pem("RSA PRIVATE KEY", "Et4d-etcd-")
CLOUD_CONFIG = """#cloud-config
chpasswd:
  list: |
    admin:Pw-of-list-83kd
write_files:
- path: /etc/kubernetes/pki/etcd/ca.key
  content: |
{key}
- path: /etc/app/settings
  encoding: gz+b64
  content: {packed}
""".format(
    key="\n".join(f"    {line}" for line in ETCD_KEY.splitlines()),
    packed=base64.b64encode(gzip.compress(b"database_password=Db-pass-71xq0\n")).decode(),
)

SECRETS = {
    "CA key": Kept(CA_KEY, "/etc/kubernetes/pki/ca.key"),
    "service account key": Kept(SA_KEY, "/var/lib/slipway/files/sa.key"),
    "host key": Kept(HOST_KEY, "/etc/ssh/ssh_host_ed25519_key"),
    "etcd key, in user data": Kept(ETCD_KEY, "/var/lib/cloud/instance/user-data.txt", CLOUD_CONFIG),
    "password, in a list of user data": Kept("Pw-of-list-83kd", "/var/lib/cloud/instance/user-data.txt", CLOUD_CONFIG),
    "password, compressed in user data": Kept("Db-pass-71xq0", "/var/lib/cloud/instance/user-data.txt", CLOUD_CONFIG),
    "client key of a kubeconfig": Kept(
        CLIENT_KEY,
        "/etc/kubernetes/admin.conf",
        f"users:\n- name: a\n  user:\n    client-key-data: {base64.b64encode(CLIENT_KEY.encode()).decode()}\n",
    ),
    "token of a kubeconfig": Kept(
        "kubelet-token-4Qz81Lw", "/etc/kubernetes/bootstrap-kubelet.conf", "user: {token: kubelet-token-4Qz81Lw}\n"
    ),
    "bootstrap token": Kept(
        "q4k8zt.7hx2mv9wdl3rb5np",
        "/run/kubeadm/kubeadm-join-config.yaml",
        "discovery:\n  bootstrapToken:\n    token: q4k8zt.7hx2mv9wdl3rb5np\n",
    ),
    "certificate key": Kept(
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "/var/lib/slipway/steps/20-kubeadm",
        "exec kubeadm join --certificate-key 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n",
    ),
    "encryption key": Kept(
        "bWFrZSB0aGlzIGtleSAzMiBieXRlcyBsb25nISEhIQ==",
        "/etc/kubernetes/encryption.yaml",
        "keys: [{name: k1, secret: bWFrZSB0aGlzIGtleSAzMiBieXRlcyBsb25nISEhIQ==}]\n",
    ),
    "registry password": Kept(
        "Rg-pass+77/ab=Q",
        "/etc/containerd/config.toml",
        '[plugins."cri".registry.configs."r".auth]\nusername = "u"\npassword = "Rg-pass+77/ab=Q"\n',
    ),
    "registry login": Kept(
        base64.b64encode(b"user:Lg-pass-55mz").decode(),
        "/var/lib/kubelet/config.json",
        json.dumps({"auths": {"r.example.com": {"auth": base64.b64encode(b"user:Lg-pass-55mz").decode()}}}),
    ),
    "hash of a password": Kept(
        "$6$Nj3kd0wq$Zq8XlPm2vb7cR4tY6uI9oP1aS3dF5gH7jK9lZ1xC3vB5nM7",
        "/etc/shadow",
        "root:$6$Nj3kd0wq$Zq8XlPm2vb7cR4tY6uI9oP1aS3dF5gH7jK9lZ1xC3vB5nM7:19000:0:99999:7:::\n",
    ),
    "proxy password": Kept(
        "Px-pass-29wl",
        "/etc/systemd/system/containerd.service.d/http-proxy.conf",
        '[Service]\nEnvironment="HTTPS_PROXY=http://me:Px-pass-29wl@proxy.example.com:3128"\n',
    ),
    "signature of an address": Kept(
        "5d41402abc4b2a76b9719d911017c592",
        "/var/lib/slipway/report/events.url",
        "https://reports.example.com/r/1?expires=1&signature=5d41402abc4b2a76b9719d911017c592\n",
    ),
    "repository password": Kept(
        "Rp-pass-61kx", "/etc/apt/auth.conf.d/slipway.conf", "machine m.example.com login me password Rp-pass-61kx\n"
    ),
    "token of k0s": Kept(
        base64.b64encode(gzip.compress(b"token: k0s-inner-token-3Xv9", mtime=0)).decode(), "/etc/k0s/token"
    ),
    "password with signs, in Ignition": Kept(
        "pa ss/w%rd&91", "/run/ignition.json", json.dumps({"source": "data:," + quote("password='pa ss/w%rd&91'")})
    ),
}
PREFIX = "2026-11-26T03:00:00+0000 node-1 kubelet[12]: "


def corpus() -> str:
    """Give a log that has every secret in every form."""
    lines = [line for kept in SECRETS.values() for line in forms_of(kept.value.strip())]
    return "\n".join([BENIGN, *lines, BENIGN]) + "\n"


def forms_of(value: str) -> list[str]:
    middle = len(value) // 2
    coded = base64.b64encode(value.encode()).decode()
    return [
        f"starting with {value} today",
        json.dumps({"msg": value}),
        f"data {coded} of it",
        "data " + base64.urlsafe_b64encode(f"xy{value}z".encode()).decode(),
        *(coded[start : start + 76] for start in range(0, len(coded), 76)),
        f"bytes {value.encode().hex()} of it",
        f"bytes {value.encode().hex().upper()} of it",
        f"GET /x/{quote(value, safe='')} HTTP/1.1",
        value[:middle],
        value[middle:],
        PREFIX + value[:middle].replace("\n", f"\n{PREFIX}"),
        PREFIX + value[middle:].replace("\n", f"\n{PREFIX}"),
    ]


def leaks(text: bytes) -> list[str]:
    bare = text.replace(PREFIX.encode(), b"")
    leaks = []
    for name, kept in SECRETS.items():
        words = [line for line in kept.value.splitlines() if "-----" not in line]
        for word in [kept.value.strip(), *words]:
            leaks += [f"{name}: {form}" for form in {*forms(text, word.encode()), *forms(bare, word.encode())}]
            joined = re.sub(rb"\s+", b"", bare)
            leaks += [f"{name}: split"] * (re.sub(rb"\s+", b"", word.encode()) in joined)
    return leaks
