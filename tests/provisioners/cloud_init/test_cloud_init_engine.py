"""The real cloud-init, oldest and newest: it takes every document without a word, and the machine is as asked."""

from collections.abc import Callable

import pytest

from slipway.provisioners.cloud_init.render import CloudInit
from slipway.sdk import testing
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tools.oracles import cloud_init, fakes
from tools.oracles.machine_state import MachineState

pytestmark = pytest.mark.engine

ROOTS = ["trixie", "bookworm"]
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDm0t1sCzYt8Wn2o7f4dJ1c2Jr3g9m2jv4b7x0yqg3mB ops@example"
HASH = "$6$saltsalt$" + "a" * 86
CONTENTS = {
    "bytes": bytes(range(256)),
    "crlf": b"a\r\nb\r\n",
    "no-newline": b"a",
    "newlines": b"a\n\n\n",
    "leading": b"  a\n b\n",
    "tabs": b"\ta \n\tb",
    "braces": b"{{ x }} {% raw %} ${#a[@]} {# c #}",
    "header": b"#cloud-config\n## template: jinja\n",
    "unicode": "gr\u00fcn \U0001f600 \u2028 \ufeff".encode(),
    "yes": b"yes",
    "quotes": b"'\"\\`$(x)${y}: # - ? |\n",
    "empty": b"",
}


def _bundle() -> bundlepb.BootstrapBundle:
    files = [testing.file(f"/etc/slipway/{name}", data, mode=0o640) for name, data in CONTENTS.items()]
    files += [
        testing.file("/opt/new/deep/ops.txt", b"mine\n", owner="ops", group="ops", mode=0o600),
        testing.file("/home/ops/.config/x", b"x", mode=0o604),
        testing.file("/etc/sealed", b"x", mode=0),
        testing.file("/etc/secret", b"a: "),
        testing.file("/usr/local/bin/tool", b"#!/bin/sh\nexit 0\n", mode=0o1755),
        testing.file("/etc/slipway/run", b'mkdir -p /run/out\nfor x in "$@"; do echo "$x" >> /run/out/args; done\n'),
    ]
    files[-3].content.segments.add(
        secret_ref=secretpb.SecretReference(name="s", key="k"), encoding=contentpb.SPLICE_ENCODING_JSON_STRING
    )
    system = ospb.OperatingSystem(
        files=files,
        groups=[ospb.Group(name="ops"), ospb.Group(name="team")],
        users=[
            ospb.User(
                name="ops",
                gecos="Ops, all: none".replace(":", ""),
                groups=["team"],
                shell="/bin/bash",
                uid=4321,
                sudo=["ALL=(ALL) NOPASSWD:ALL", "ALL=(root) /bin/ls"],
                ssh_authorized_keys=[KEY],
            ),
            ospb.User(name="open", password_hash=secretpb.SecretValue(value=HASH), lock_password=False),
            ospb.User(name="shut", password_hash=secretpb.SecretValue(value=HASH)),
            ospb.User(name="daemon2", system=True, home="/var/lib/d", shell="/usr/sbin/nologin"),
        ],
        hostname=ospb.Hostname(name=contentpb.MachineText(value="node-7.example.com")),
        time_zone=ospb.TimeZone(name="UTC"),
    )
    argv = ["sh", "/etc/slipway/run", "a b", "it's", "$HOME"]
    of = testing.bundle(system, argv=argv, secrets=[testing.secret("s", "k", b'p"w')])
    of.commands.boot.add(
        script=contentpb.Content(segments=[{"data": b"mkdir -p /run/out; echo $((1+1)) > /run/out/boot"}])
    )
    of.commands.boot.add(script=contentpb.Content(segments=[{"data": b"set -e\nexit 0\n"}]))
    of.commands.boot.add(argv=["sh", "-c", "echo after >> /run/out/boot"])
    return of


@pytest.fixture(
    scope="module", params=[pytest.param(root, marks=pytest.mark.xdist_group(f"cloud-init-{root}")) for root in ROOTS]
)
def booted(request: pytest.FixtureRequest, engine: Callable[..., None]) -> MachineState:
    """A machine that the whole bundle was given to."""
    engine(f"root-{request.param}")
    return cloud_init.run(testing.render(CloudInit(), _bundle()), root=request.param)


@pytest.mark.parametrize("root", ROOTS)
def test_the_schema_has_nothing_to_say(root: str, engine: Callable[..., None]) -> None:
    """The document is valid for the oldest and the newest cloud-init in wide use."""
    engine(f"root-{root}")
    assert cloud_init.validate(testing.render(CloudInit(), _bundle()), root=root) == []


def test_cloud_init_has_nothing_to_say(booted: MachineState) -> None:
    """No error, no warning, not even a recoverable one."""
    assert booted.status == "done"
    assert booted.findings == ()


@pytest.mark.parametrize("name", CONTENTS)
def test_every_content_arrives(booted: MachineState, name: str) -> None:
    """Byte for byte, whatever the content is."""
    node = booted.files[f"/etc/slipway/{name}"]
    assert node.content == CONTENTS[name]
    assert (node.mode, node.owner, node.group) == (0o640, "root", "root")


def test_files_have_their_owners_and_parents_are_roots(booted: MachineState) -> None:
    """The file is its owner's; the folders that had to be made are root's, with 0755."""
    mine = booted.files["/opt/new/deep/ops.txt"]
    assert (mine.mode, mine.owner, mine.group, mine.content) == (0o600, "ops", "ops", b"mine\n")
    for folder in ("/opt/new", "/opt/new/deep", "/home/ops/.config"):
        node = booted.files[folder]
        assert (node.mode, node.owner, node.group) == (0o755, "root", "root"), folder
    assert booted.files["/usr/local/bin/tool"].mode == 0o1755
    assert booted.files["/etc/sealed"].mode == 0
    assert booted.content("/etc/secret") == b'a: "p\\"w"'


def test_accounts_are_as_asked(booted: MachineState) -> None:
    """Numbers, groups, shells, keys, locks and rules for sudo."""
    ops = booted.users["ops"]
    assert (ops.uid, ops.group, ops.shell, ops.groups, ops.home) == (
        4321,
        "ops",
        "/bin/bash",
        frozenset({"team"}),
        "/home/ops",
    )
    assert ops.ssh_keys == frozenset({KEY})
    assert [booted.users[name].password for name in ("ops", "open", "shut")] == ["locked", HASH, "locked"]
    assert booted.users["daemon2"].home == "/var/lib/d"
    assert {rule for rule in booted.sudo_rules if rule.startswith("ops ")} == {
        "ops ALL=(ALL) NOPASSWD:ALL",
        "ops ALL=(root) /bin/ls",
    }
    assert "debian" in booted.users


def test_the_rest_is_as_asked(booted: MachineState) -> None:
    """Host name, boot commands in order and apart from each other, and the entry point's arguments."""
    assert booted.hostname == "node-7.example.com"
    assert booted.content("/run/out/boot") == b"2\nafter\n"
    assert booted.content("/run/out/args") == b"a b\nit's\n$HOME\n"


@pytest.mark.parametrize("root", ROOTS)
def test_the_entry_point_starts_again_on_the_next_boot(root: str, engine: Callable[..., None]) -> None:
    """The machine may go down before it ended; the runner knows what is done, cloud-init does not."""
    engine(f"root-{root}")
    of = testing.bundle(argv=["join-it", "now"])
    state = cloud_init.run(
        testing.render(CloudInit(), of), root=root, boots=2, extra_files=fakes.command("join-it", statuses=[1, 0])
    )
    assert [call.argv for call in state.calls] == [("join-it", "now")] * 2


@pytest.mark.parametrize("root", ROOTS)
def test_templates_are_rendered_and_the_rest_is_protected(root: str, engine: Callable[..., None]) -> None:
    """What the machine's metadata says is filled in, and no other brace is touched."""
    engine(f"root-{root}")
    template = contentpb.ExtensionText(id="cloud-init.slipway.dev/jinja", text="{{ ds.meta_data.local_hostname }}")
    file = testing.file("/etc/named", b"{a: {{ b }} {% c %} {# d #} ${#e[@]} {")
    file.content.segments.add(extension=template)
    file.content.segments.add(data=b"}\n")
    block = testing.file("/etc/block", b"")
    block.content.segments.add(
        extension=contentpb.ExtensionText(id="cloud-init.slipway.dev/jinja", text="{% if 1 %}\nyes\n{% endif %}\nend\n")
    )
    files = [file, block] + [testing.file(f"/etc/slipway/{name}", data) for name, data in CONTENTS.items()]
    of = testing.bundle(ospb.OperatingSystem(files=files))
    of.plan.entrypoint.Clear()
    of.plan.entrypoint.execution = planpb.EXECUTION_COMMANDS
    line = [contentpb.TextSegment(text="echo "), contentpb.TextSegment(extension=template), {"text": " > /etc/line"}]
    of.plan.entrypoint.commands.add(segments=line)
    state = cloud_init.run(testing.render(CloudInit(), of), root=root)
    assert state.content("/etc/named") == b"{a: {{ b }} {% c %} {# d #} ${#e[@]} {node1}\n"
    assert b"yes\n" in state.content("/etc/block")
    assert state.content("/etc/line") == b"node1\n"
    assert {name: state.content(f"/etc/slipway/{name}") for name in CONTENTS} == CONTENTS


@pytest.mark.parametrize("root", ROOTS)
def test_a_failing_command_line_does_not_stop_the_next(root: str, engine: Callable[..., None]) -> None:
    """With EXECUTION_COMMANDS the lines are cloud-init's own, with its own rules."""
    engine(f"root-{root}")
    of = testing.bundle()
    of.plan.entrypoint.Clear()
    of.plan.entrypoint.execution = planpb.EXECUTION_COMMANDS
    for text in ("false && touch /run/never", "exit_code=3; false", "echo 'a: b' > /run/second"):
        of.plan.entrypoint.commands.add(segments=[contentpb.TextSegment(text=text)])
    state = cloud_init.run(testing.render(CloudInit(), of), root=root)
    assert state.content("/run/second") == b"a: b\n"
    assert "/run/never" not in state.run


@pytest.mark.parametrize("root", ROOTS)
def test_the_images_own_user_can_be_left_out(root: str, engine: Callable[..., None]) -> None:
    """OMIT is what today's users of cloud-init get when they name users."""
    engine(f"root-{root}")
    system = ospb.OperatingSystem(users=[ospb.User(name="ops")], default_user=ospb.DEFAULT_USER_OMIT)
    state = cloud_init.run(testing.render(CloudInit(), testing.bundle(system)), root=root)
    assert "ops" in state.users
    assert "debian" not in state.users
