"""A bootstrap provider that makes its own plan gets the machines of its own template from Slipway, and more systems.

The provider is cluster-api-k3s: its published reconciler on one side, the example in Go that calls `Provision` on the
other. Both user data are booted by real cloud-init.
"""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.oracles import comparison, k3s_machines
from tests.oracles.k3s_machines import MACHINES, TOKEN, ask, boot_cloud_init, boot_ignition, bootstrapper, manifests
from tools.oracles.machine_state import MachineState

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300), pytest.mark.xdist_group("foreign-provider")]

LIST = Path(__file__).with_name("foreign_provider_differences.toml")
CONFIG = "/etc/rancher/k3s/config.yaml"
OWN = ("http://169.254.169.254/", "127.0.0.1:10248/healthz")
"""What the runner asks: the metadata of the machine, and its kubelet."""
SENTINEL = "/run/cluster-api/bootstrap-success.complete"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, engine: Callable[..., None]) -> Iterator[str]:
    """Everything of ours as processes; the address of the bootstrapper."""
    engine("root-trixie", "ignition", "k3s-provider", "bootstrap-provider-go")
    with bootstrapper(tmp_path_factory.mktemp("up")) as address:
        yield address


def user_data(server: str, name: str, provisioner: str) -> bytes:
    """What the example gets for a machine."""
    answer = ask(server, name, provisioner)
    assert answer.status == 0, answer.said
    return answer.data


def recorded(machine: MachineState) -> list[tuple[str, ...]]:
    """The calls that the commands of the config, and the install script of k3s, have made; none of the runner's own."""
    calls = [call.argv for call in machine.calls if call.argv[0] in {"curl", "record"}]
    return [argv for argv in calls if not any(argument.startswith(OWN) for argument in argv)]


@pytest.mark.parametrize("name", MACHINES)
def test_the_machine_is_that_of_the_providers_own_template(name: str, server: str) -> None:
    """Files, modes, owners, calls in their order, their arguments and the sentinel are the same, but for the list."""
    theirs, mine = k3s_machines.today(name), boot_cloud_init(user_data(server, name, "cloud-init"))
    found = comparison.everything(theirs, mine)
    assert [one.shown for one in comparison.unexplained(name, found, LIST)] == []
    assert comparison.idle(name, found, LIST) == []
    assert (theirs.status, mine.status, mine.findings) == ("done", "done", ())
    assert recorded(mine) == recorded(theirs) != []
    assert mine.content(SENTINEL) == theirs.content(SENTINEL) == b"success\n"
    assert TOKEN.encode() in mine.content(CONFIG)


def test_a_failing_installation_leaves_what_it_leaves_today(server: str) -> None:
    """The commands behind it run, and the sentinel is not written."""
    theirs = k3s_machines.today("commands-worker", curl=7)
    mine = boot_cloud_init(user_data(server, "commands-worker", "cloud-init"), curl=7)
    assert recorded(mine) == recorded(theirs)
    assert ("record", "fourth") in recorded(mine)
    assert SENTINEL not in mine.run
    assert SENTINEL not in theirs.run


@pytest.mark.parametrize("name", ["everything-init", "files-worker", "air-gapped-join"])
def test_ignition_makes_the_same_machine(name: str, server: str) -> None:
    """A format that the provider has no template for: the same files and calls as by cloud-init."""
    left = boot_cloud_init(user_data(server, name, "cloud-init"))
    right = boot_ignition(user_data(server, name, "ignition"))
    assert recorded(left) == recorded(right) != []
    assert left.content(SENTINEL) == right.content(SENTINEL)
    paths = [path for path in left.files if path.startswith(("/etc/rancher", "/srv", "/var/lib/rancher"))]
    assert CONFIG in paths
    assert {path: left.files[path] for path in paths} == {path: right.files.get(path) for path in paths}


@pytest.mark.parametrize(
    ("provisioner", "family", "fields"),
    [
        ("windows", "windows", ["spec.preK3sCommands", "spec.postK3sCommands[0]"]),
        ("talos", "linux", ["spec.files[0]", "spec.postK3sCommands[0]"]),
    ],
)
def test_a_refusal_names_the_fields_of_the_providers_own_config(
    provisioner: str, family: str, fields: list[str], server: str
) -> None:
    """A shell script is nothing for Windows, nor a plan for Talos: told by field, with a remedy, and no user data."""
    answer = ask(server, "everything-worker", provisioner, f"--os-family={family}")
    assert (answer.status, answer.data) == (1, b"")
    assert "UNSUPPORTED_FEATURE" in answer.said
    for field in fields:
        (line,) = [line for line in answer.said.splitlines() if line.startswith(f"{field}: ")]
        assert "; " in line
    assert TOKEN not in answer.said


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        (b"encoding: base64", b"encoding: gzip", "spec.files[0].encoding"),
        (b"no newline", b"no {{ newline }}", "spec.files[5].content"),
        (b"'0400'", b"rwx", "spec.files[0].permissions"),
    ],
)
def test_what_the_provider_itself_cannot_read_is_refused_by_field(
    old: bytes, new: bytes, field: str, server: str
) -> None:
    """Binary text, an expression that only cloud-init knows and a mode that is none are never guessed at."""
    given = manifests("files-worker")
    assert old in given
    answer = ask(server, "files-worker", "cloud-init", given=given.replace(old, new))
    assert (answer.status, answer.data) == (1, b"")
    assert f"{field}: " in answer.said


def test_a_refusal_of_the_providers_own_file_names_what_it_is_made_of(server: str) -> None:
    """The user has written neither the file nor its path: the Secret, and the config as a whole, lead further."""
    documents = manifests("files-worker")
    token = base64.b64encode(TOKEN.encode())
    assert token in documents
    answer = ask(server, "files-worker", "cloud-init", given=documents.replace(token, base64.b64encode(b"\xff\xfe")))
    assert (answer.status, answer.data) == (1, b"")
    assert "\nSecret tern-token: data[value]: refers to a secret that is no UTF-8" in answer.said
    answer = ask(server, "files-worker", "windows", "--os-family=windows")
    assert answer.status == 1
    assert "\nspec (file /etc/rancher/k3s/config.yaml): " in answer.said
    answer = ask(server, "files-worker", "ignition", "--os-family=windows")
    assert answer.status == 1
    assert "\n--os-family: " in answer.said


def test_the_list_of_differences_does_not_grow_unseen() -> None:
    """Every entry has a machine that shows it, and a new one needs a second look here."""
    listed = comparison.entries(LIST)
    assert {one.shown_by for one in listed} <= MACHINES.keys()
    assert len(listed) == 7
