"""N + M: one spec makes the same machine by cloud-init, by Ignition, and by the least provisioner that there can be.

That one has 50 lines, knows only files and an entry point, and its user data is carried out by a first-boot system of
20 lines. All three are run for real on the same root file system, and everything that they leave is compared.
"""

import contextlib
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.cli.processes import LOOPBACK
from slipway.rpc.addresses import free_port
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tests.integration.full_request import HASH, WORD, full_request
from tests.integration.machines import EXAMPLE, SHELL, boot, render_by_all
from tools.oracles import finding, tree_diff
from tools.oracles.machine_state import Kind, MachineState
from tools.oracles.tree_diff import Allowed, Part

pytestmark = [pytest.mark.engine, pytest.mark.timeout(180)]

HERE = Path(__file__).parent
PROVISIONERS = ["cloud-init", "ignition", SHELL]
SCRIPT = b'#!/bin/sh\n# {{ not jinja }} {% nor this %} ${HOME} `id`\necho "it\'s $1"\n'
KUBEADM = {
    "cp-0": ("kubeadm", "init", "--config", "/etc/slipway/kubeadm.yaml"),
    "worker-0": ("kubeadm", "join", "--config", "/etc/slipway/kubeadm.yaml"),
}

Answers = dict[str, bootstrappb.GetUserDataResponse]
States = dict[str, MachineState]


@contextlib.contextmanager
def shell_provisioner() -> Iterator[str]:
    """Run the example provisioner as the process that it is; give its address."""
    address = f"{LOOPBACK}:{free_port()}"
    # As `slipway provisioner serve` does, without the other commands.
    serve = (sys.executable, "-c", "from slipway.program_provisioner.command import serve; serve()")
    options = ("--insecure", "--listen-address", address, "--exec", shlex.quote(str(EXAMPLE / "provisioner.sh")))
    process = subprocess.Popen([*serve, *options])
    try:
        yield address
    finally:
        process.kill()
        process.wait()


def differences() -> list[Allowed]:
    """Give the checked-in list, an entry for each pair of first-boot systems."""
    table = tomllib.loads((HERE / "same_machine_differences.toml").read_text(encoding="utf-8"))
    return [
        Allowed(
            Part(one["part"]),
            one["name"],
            one["reason"],
            frozenset({"cloud-init", other}),
            only=other if one.get("only") == "other" else one.get("only", ""),
            member=one.get("member", ""),
        )
        for one in table["allowed"]
        for other in one["others"]
    ]


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.xdist_group(f"by-all-{name}")) for name in KUBEADM],
)
def role(request: pytest.FixtureRequest) -> str:
    """Name of the machine."""
    return str(request.param)


@pytest.fixture(scope="module")
def answers(role: str) -> Answers:
    """User data of the machine by each provisioner."""
    with shell_provisioner() as address:
        return render_by_all(full_request(role), PROVISIONERS, shell_address=address)


@pytest.fixture(scope="module")
def states(answers: Answers, engine) -> States:
    """What each first-boot system made of its user data."""
    engine("root-trixie", "ignition")
    return {name: boot(name, answers[name].user_data) for name in PROVISIONERS}


def test_every_first_boot_system_ends_well(states: States, role: str) -> None:
    """No finding, the success sentinel is there, and kubeadm was called once and in the same way."""
    for name, state in states.items():
        assert (name, state.status, finding.errors(state.findings)) == (name, "done", [])
        assert state.content("/run/cluster-api/bootstrap-success.complete") == b"success\n"
        assert [call.argv for call in state.calls if call.argv[0] == "kubeadm"] == [KUBEADM[role]]


def test_the_list_of_differences_does_not_grow_unseen() -> None:
    """A new entry needs a second look, and none is there twice."""
    found = [(difference.part, difference.name, difference.engines, difference.only) for difference in differences()]
    assert len(found) == len(set(found)) == 45


@pytest.mark.parametrize("other", ["ignition", SHELL])
def test_the_machine_is_the_same(states: States, other: str) -> None:
    """Nothing differs but what the checked-in list names, and the list names nothing that does not differ."""
    left, right = states["cloud-init"], states[other]
    assert tree_diff.compare(left, right, allowed=differences()) == []
    assert tree_diff.unused(left, right, allowed=differences()) == []


def test_what_is_allowed_to_differ_means_the_same(states: States) -> None:
    """Swap, time zone and memberships are equal where their bytes cannot be."""
    for state in states.values():
        fields = state.content("/etc/fstab").decode().split("\n")
        assert [line.split()[:3] for line in fields if line.startswith("/")] == [["/var/swap/file", "none", "swap"]]
        swap = state.files["/var/swap/file"]
        assert (len(swap.content), swap.mode, swap.owner) == (1 << 20, 0o600, "root")
        assert state.files["/etc/localtime"].target.removeprefix("..") == "/usr/share/zoneinfo/Europe/Berlin"
        assert state.users["ann"].groups == {"sudo", "team"}
        assert {"ann ALL=(ALL) NOPASSWD:ALL", "ann ALL=(root) /bin/ls"} <= state.sudo_rules
        assert {"team", "svc"} <= state.groups.keys()
        boots = state.content("/var/log/slipway-boot").decode()
        assert boots == "it's a boot\n"


@pytest.mark.parametrize(
    ("path", "owner", "mode", "content"),
    [
        ("script.sh", "root:root", 0o755, SCRIPT),
        ("deep/er/plain", "root:root", 0o644, b"  leading\r\n\ttabs, no final newline"),
        ("empty", "root:root", 0o600, b""),
        ("header", "root:root", 0o644, b"#cloud-config\nusers: []\n"),
        ("binary", "root:root", 0o400, bytes(range(256))),
        ("mixed.json", "root:daemon", 0o640, b'{"token": "s\\"e\\\\cret \xc3\xbc", "b64": "cyJlXGNyZXQgw7w="}\n'),
        ("made-by-append", "root:root", 0o600, b"first\nsecond\n"),
        ("pre", "root:root", 0o644, b'it\'s "quoted" $HOME \\ %s'),
        ("pre-saw", "root:root", 0o644, b"first\nsecond\n"),
        ("/home/ann/notes/today.txt", "ann:team", 0o640, b"mine\n"),
        ("/srv/deep/bob/file", "bob:team", 0o644, b"bob's\n"),
        ("/opt/app/new/file", "ann:svc", 0o2755, b"set-gid\n"),
        ("/etc/motd", "root:root", 0o600, b"replaced\n"),
        ("/etc/hostname", "root:root", 0o644, b"harbour-node\n"),
    ],
)
def test_files_arrive_byte_for_byte(states: States, path: str, owner: str, mode: int, content: bytes) -> None:
    """Agreement proves little if all are wrong: each file has the owner, the mode and the bytes of the spec."""
    whole = path if path.startswith("/") else f"/etc/slipway-test/{path}"
    for name, state in states.items():
        node = {**state.engine_files, **state.files}[whole]
        assert (name, f"{node.owner}:{node.group}", oct(node.mode), node.content) == (name, owner, oct(mode), content)


def test_directories_links_and_units_are_as_asked(states: States) -> None:
    """Parents belong to root, links point where they were told to, units are enabled and masked."""
    for state in states.values():
        found = state.files
        for path, owner, mode in [
            ("/srv/data/a b", "ann:svc", 0o2750),
            ("/srv/data", "root:root", 0o755),
            ("/srv/plain", "root:root", 0o755),
            ("/opt/app/new", "root:root", 0o755),
            ("/srv/deep", "root:root", 0o755),
        ]:
            node = found[path]
            assert (path, node.kind, f"{node.owner}:{node.group}", node.mode) == (path, Kind.DIRECTORY, owner, mode)
        assert found["/etc/slipway-test/soft"].target == "../motd"
        owned = found["/etc/slipway-test/owned"]
        assert (owned.target, owned.owner, owned.group) == ("nowhere", "ann", "team")
        assert found["/etc/slipway-test/hard"].content == found["/etc/slipway-test/script.sh"].content
        assert {"mine.service (multi-user.target.wants)", "containerd.service (multi-user.target.wants)"} <= (
            state.enabled_units
        )
        assert "fstrim.timer (timers.target.wants)" in state.disabled_units
        assert "apt-daily.timer" in state.masked_units


def test_secrets_reach_the_machine_and_nothing_else(states: States, answers: Answers) -> None:
    """The hash is the user's in shadow, and no answer's remarks hold a secret."""
    for name, state in states.items():
        assert state.users["ann"].password == HASH.decode()
        assert (state.users["bob"].password, state.users["bob"].expires) == ("locked", "1")
        shown = str(answers[name].diagnostics) + str(answers[name].lowered) + str(answers[name].size)
        assert HASH.decode() not in shown
        assert WORD not in shown


def test_the_least_provisioner_gets_everything_lowered(answers: Answers) -> None:
    """What the example takes natively is what it says: everything else was lowered for it, and not for the others."""
    lowered = {name: {one.feature for one in answer.lowered} for name, answer in answers.items()}
    assert {"os.users", "os.groups", "os.links", "os.hostname", "os.systemd.units", "plan.steps"} <= lowered[SHELL]
    assert lowered["cloud-init"] < lowered[SHELL]
    assert "os.systemd.units" not in lowered["ignition"]
