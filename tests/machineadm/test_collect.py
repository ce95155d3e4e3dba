"""The log bundle of a machine: what is in it, how large it is, and that no secret of the machine is.

The real machineadm runs in a file system of the test, beside a journal that is a fake.
"""

import io
import json
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from slipway.bootstrapper.lowering.runners.linux_file import RUN_PROGRAM
from slipway.cli.command_line import cli
from tests.bootstrapper.lowering.runners.conftest import linux_machine
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import PRE, lowered, note, script
from tests.machineadm.kept_secrets import BENIGN, SECRETS, corpus, forms_of, leaks
from tools.oracles import machineadm

AGENT = "/fake/machineadm"
LARGEST = 5 << 20
FOLDER = "slipway-logs/"

FILES = [
    "/var/log/cloud-init.log", "/var/log/cloud-init-output.log", "/run/slipway/log", "/run/cloud-init/status.json",
    "/run/cloud-init/result.json", "/run/cloud-init/ds-identify.log", "/etc/.ignition-result.json",
    "/var/lib/slipway/state/bundle-1/20-kubeadm.failed", "/var/lib/slipway/events.jsonl",
    "/var/lib/slipway/evidence.json",
    "/var/log/pods/kube-system_etcd-n1_1/etcd/0.log", "/etc/hosts", "/etc/resolv.conf",
]  # fmt: skip
OPENRC = ["/var/log/messages", "/var/log/kubelet/kubelet.log", "/var/log/containerd.log", "/var/log/rc.log"]


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
    assert leaks(b"\n".join(logs.values())) == []
    assert (f"{FOLDER}var/log/messages" in logs) is not journal


def test_the_corpus_has_leaks() -> None:
    """The check can fail: each secret is seen in what was not redacted."""
    assert {leak.partition(":")[0] for leak in leaks(corpus().encode())} == set(SECRETS)
    lines = [line for line in forms_of(SECRETS["bootstrap token"].value) if "q4k8zt" not in line]
    shown = {leak for line in lines for leak in leaks(line.encode())}
    assert shown >= {f"bootstrap token: {form}" for form in ("base64", "hexadecimal")}
    assert "bootstrap token: split" in leaks(b"q4k8zt.7hx2\nmv9wdl3rb5np")


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
