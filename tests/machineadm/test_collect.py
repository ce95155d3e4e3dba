"""The log bundle of a machine: what is in it, how large it is, and that no secret of the machine is.

The real machineadm runs in a file system of the test, beside a journal that is a fake.
"""

import base64
import gzip
import io
import json
import os
import re
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner

from slipway.bootstrapper.lowering.runners.linux_file import RUN_PROGRAM
from slipway.cli.command_line import cli
from slipway.conformance.encodings import forms
from tests.bootstrapper.lowering.runners.conftest import linux_machine
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import PRE, lowered, note, script
from tools.oracles import machineadm

AGENT = "/fake/machineadm"
LARGEST = 5 << 20
FOLDER = "slipway-logs/"
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

FILES = [
    "/var/log/cloud-init.log", "/var/log/cloud-init-output.log", "/run/slipway/log", "/run/cloud-init/status.json",
    "/run/cloud-init/result.json", "/run/cloud-init/ds-identify.log", "/etc/.ignition-result.json",
    "/var/lib/slipway/state/bundle-1/20-kubeadm.failed", "/var/lib/slipway/events.jsonl",
    "/var/log/pods/kube-system_etcd-n1_1/etcd/0.log", "/etc/hosts", "/etc/resolv.conf",
]  # fmt: skip
OPENRC = ["/var/log/messages", "/var/log/kubelet/kubelet.log", "/var/log/containerd.log", "/var/log/rc.log"]
PREFIX = "2026-11-26T03:00:00+0000 node-1 kubelet[12]: "


@pytest.fixture
def machine(tmp_path: Path, engine: Callable[..., None]) -> Iterator[LinuxMachine]:
    """Give a machine with the real machineadm."""
    engine(machineadm.NAME)
    for made in linux_machine("dash", tmp_path):
        made.agent = machineadm.require()
        made.path(AGENT).write_bytes(made.agent.read_bytes())
        made.path(AGENT).chmod(0o755)
        yield made


def put(machine: LinuxMachine, path: str, text: str) -> None:
    """Write a file of the machine."""
    place = machine.path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def collect(machine: LinuxMachine, *arguments: str) -> bytes:
    """Collect on the machine; give the bundle."""
    assert machine.run([AGENT, "collect", "--output", "/bundle.tar.gz", *arguments]) == 0
    assert machine.path("/bundle.tar.gz").stat().st_mode & 0o777 == 0o600
    return machine.path("/bundle.tar.gz").read_bytes()


def members(bundle: bytes) -> dict[str, bytes]:
    """Give the members in their order."""
    with tarfile.open(fileobj=io.BytesIO(bundle)) as archive:
        files = {entry.name: archive.extractfile(entry) for entry in archive}
        return {name: file.read() for name, file in files.items() if file is not None}


def corpus() -> str:
    """Give a log that has every secret in every form."""
    lines = [line for kept in SECRETS.values() for line in _forms_of(kept.value.strip())]
    return "\n".join([BENIGN, *lines, BENIGN]) + "\n"


def _forms_of(value: str) -> list[str]:
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


def _leaks(text: bytes) -> list[str]:
    bare = text.replace(PREFIX.encode(), b"")
    leaks = []
    for name, kept in SECRETS.items():
        words = [line for line in kept.value.splitlines() if "-----" not in line]
        for word in [kept.value.strip(), *words]:
            leaks += [f"{name}: {form}" for form in {*forms(text, word.encode()), *forms(bare, word.encode())}]
            joined = re.sub(rb"\s+", b"", bare)
            leaks += [f"{name}: split"] * (re.sub(rb"\s+", b"", word.encode()) in joined)
    return leaks


@pytest.mark.parametrize("journal", [True, False], ids=["with a journal", "OpenRC"])
def test_no_secret_in_any_form_leaves_any_source(machine: LinuxMachine, *, journal: bool) -> None:
    """Every type of secret, in every source, in every form and over two lines: none is in the bundle; the rest is."""
    for kept in SECRETS.values():
        put(machine, kept.path, kept.value if kept.text is None else kept.text)
    for path in [*FILES, *OPENRC]:
        put(machine, path, corpus())
    put(machine, "/corpus", corpus())
    for program in (*(["journalctl"] if journal else []), "systemctl", "timedatectl", "crictl", "dmesg", "rc-status"):
        machine.fake(program, "cat /corpus")
    logs = members(collect(machine))
    own = [FOLDER + path.lstrip("/") for path in [*FILES, *([] if journal else OPENRC)]]
    printed = (
        ["journal/kubelet.service.log", "journal/kernel.log", "facts/units.txt"] if journal else ["facts/dmesg.txt"]
    )
    for name in [*own, *(FOLDER + entry for entry in printed)]:
        assert logs[name].decode().startswith(f"{BENIGN}\n"), name
        assert logs[name].decode().endswith(f"{BENIGN}\n"), name
    assert _leaks(b"\n".join(logs.values())) == []
    assert (f"{FOLDER}var/log/messages" in logs) is not journal


def test_the_corpus_has_leaks() -> None:
    """The check can fail: each secret is seen in what was not redacted."""
    assert {leak.partition(":")[0] for leak in _leaks(corpus().encode())} == set(SECRETS)
    lines = [line for line in _forms_of(SECRETS["bootstrap token"].value) if "q4k8zt" not in line]
    shown = {leak for line in lines for leak in _leaks(line.encode())}
    assert shown >= {f"bootstrap token: {form}" for form in ("base64", "hexadecimal")}
    assert "bootstrap token: split" in _leaks(b"q4k8zt.7hx2\nmv9wdl3rb5np")


def test_only_what_is_allowed_is_collected(machine: LinuxMachine) -> None:
    """Files of users, keys, user data and logs of other programs are in no bundle; the manifest names what is."""
    for path in (
        "/home/alice/notes.log",
        "/etc/kubernetes/admin.conf",
        "/var/log/auth.log",
        "/var/log/app/app.log",
        "/var/lib/cloud/instance/user-data.txt",
        "/root/.bash_history",
        "/var/log/pods/default_app_1/c/0.log",
    ):
        put(machine, path, "nothing to see here\n")
    put(machine, "/var/log/cloud-init.log", "a line\n")
    put(machine, "/var/lib/slipway/plan", "bundle-1\n-\n")
    logs = members(collect(machine))
    assert not any(b"nothing to see" in text for text in logs.values())
    manifest = json.loads(logs.pop(f"{FOLDER}manifest.json"))
    assert manifest["bundleId"] == "bundle-1"
    assert manifest["hostname"] == "node-1.example"
    assert {entry["name"] for entry in manifest["members"]} == set(logs)
    assert f"{FOLDER}var/log/cloud-init.log" in logs


def test_it_is_bounded_and_the_newest_comes_first(machine: LinuxMachine) -> None:
    """Logs that do not compress are cut at their older end; what finds no room is older, and is named."""
    noise = "".join(f"{number} {number * 2654435761 % 2**32:x}{number * 40503 % 2**31:x}\n" for number in range(120000))
    for number in range(9):
        path = f"/var/log/pods/kube-system_p{number:02}_1/c/0.log"
        put(machine, path, f"oldest\n{noise}newest {number}\n")
        os.utime(machine.path(path), (1_700_000_000 + number, 1_700_000_000 + number))
    bundle = collect(machine)
    assert 4 << 20 < len(bundle) <= LARGEST
    logs = members(bundle)
    manifest = json.loads(logs[f"{FOLDER}manifest.json"])
    pods = [name for name in logs if "/pods/" in name]
    assert pods == sorted(pods, reverse=True)
    assert pods[0].endswith("p08_1/c/0.log")
    assert all(logs[name].endswith(b"\n") and b"newest" in logs[name] and b"oldest" not in logs[name] for name in pods)
    assert manifest["leftOut"]
    assert [entry["name"] for entry in manifest["members"]] == [
        name for name in logs if not name.endswith("manifest.json")
    ]
    small = collect(machine, "--largest", str(200 << 10))
    assert len(small) <= 200 << 10


def test_a_program_that_hangs_is_left_out(machine: LinuxMachine) -> None:
    """A source that does not answer costs its time, and nothing else."""
    real = "exec /usr/bin/sleep 60"
    machine.fake("timedatectl", real)
    put(machine, "/var/log/cloud-init.log", "a line\n")
    logs = members(collect(machine))
    assert f"{FOLDER}var/log/cloud-init.log" in logs
    assert f"{FOLDER}facts/clock.txt" not in logs


def test_diagnose_reads_a_bundle(machine: LinuxMachine) -> None:
    """A bundle of a machine that failed gives the reason, the line that shows it, and the timeline of its steps."""
    machine.write(
        lowered([note("a", PRE), script("20-kubeadm", "echo '[ERROR Swap]: running with swap on'; exit 1")]).files
    )
    assert machine.run(["/bin/sh", RUN_PROGRAM]) == 1
    put(machine, "/b.tar.gz", "")
    machine.path("/b.tar.gz").write_bytes(collect(machine))
    result = CliRunner().invoke(cli, ["diagnose", str(machine.path("/b.tar.gz")), "-o", "json"])
    assert result.exit_code == 0, result.output
    diagnosis = json.loads(result.stdout)
    assert [entry["reason"] for entry in diagnosis["findings"]] == ["SwapOn"]
    (bootstrap,) = diagnosis["bootstraps"]
    assert bootstrap["bundleId"] == "bundle-1"
    assert "20-kubeadm" in json.dumps(bootstrap)
