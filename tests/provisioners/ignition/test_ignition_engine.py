"""The real Ignition: its own parsers take every config, and its engine leaves the machine that was asked for."""

import json
from collections.abc import Callable

import pytest

from slipway.provisioners.ignition.render import IgnitionProvisioner
from slipway.sdk import testing
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tools.oracles import fakes, ignition
from tools.oracles.finding import Severity
from tools.oracles.machine_state import Kind, MachineState
from tools.oracles.sandbox import File

pytestmark = pytest.mark.engine

SPECS = ["3.3.0", "3.4.0", "2.3.0"]
ENGINE_SPECS = ["3.3.0", "2.3.0"]
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDm0t1sCzYt8Wn2o7f4dJ1c2Jr3g9m2jv4b7x0yqg3mB ops@example"
HASH = "$6$saltsalt$" + "a" * 86
UNIT = "[Service]\nType=oneshot\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"
CONTENTS = {
    "bytes": bytes(range(256)),
    "long": b"line of text\n" * 500,
    "text": "gr\u00fcn 100% ?#&+ '\"\\ {{ x }}\r\n\t".encode(),
    "empty": b"",
}


def _bundle(spec: str) -> bundlepb.BootstrapBundle:
    files = [testing.file(f"/etc/slipway/{name}", data, mode=0o640) for name, data in CONTENTS.items()]
    files += [
        testing.file("/opt/new/deep/ops.txt", b"mine\n", owner="ops", group="ops", mode=0o600),
        testing.file("/etc/two", b"1", mode=0o600),
        testing.file("/etc/two", b"2", mode=0o600),
        testing.file("/etc/machine-here", b"new\n"),
    ]
    files[-2].append = True
    system = ospb.OperatingSystem(
        files=files,
        directories=[ospb.Directory(path="/srv/plain", owner="root", group="root", mode=0o755)],
        links=[
            ospb.Link(path="/etc/soft", target="slipway/text", owner="ops", group="ops"),
            ospb.Link(path="/etc/hard", target="/etc/two", hard=True, owner="root", group="root"),
        ],
        groups=[ospb.Group(name="ops", gid=777), ospb.Group(name="team")],
        users=[
            ospb.User(
                name="ops",
                gecos="Ops",
                groups=["team"],
                shell="/bin/bash",
                uid=4321,
                sudo=["ALL=(ALL) NOPASSWD:ALL", "ALL=(root) /bin/ls"],
                ssh_authorized_keys=[KEY],
            ),
            ospb.User(name="open", password_hash=secretpb.SecretValue(value=HASH), lock_password=False),
            ospb.User(name="shut", password_hash=secretpb.SecretValue(value=HASH)),
        ],
        systemd_units=[
            ospb.SystemdUnit(name="a.service", contents=UNIT, enabled=True),
            ospb.SystemdUnit(name="b.service", contents=UNIT, enabled=False),
            ospb.SystemdUnit(name="c.service", masked=True),
            ospb.SystemdUnit(name="a.service.d.service", drop_ins=[{"name": "x.conf", "contents": "[Unit]\nA=b\n"}]),
        ],
        mounts=[ospb.Mount(source="LABEL=my disk", path="/mnt/x-y", options=["nofail"], check=True)],
        hostname=ospb.Hostname(name=contentpb.MachineText(value="node-7")),
    )
    if spec != "2.3.0":
        system.directories.add(path="/srv/a/b", owner="ops", group="team", mode=0o2750 & 0o777)
        system.files.add(path="/etc/hosts", append=True, owner="root", group="root", mode=0o644)
        system.files[-1].content.segments.add(data=b"192.0.2.1 x\n")
        system.files.add(path="/etc/kept", append=True, owner="root", group="root", mode=0o644)
        system.files[-1].content.segments.add(data=b"more\n")
    of = testing.bundle(system, argv=["join-it", "a b", "it's", "100%", "$HOME", ""])
    if spec != "2.3.0":
        # Debian's engine knows no spec 2, and only the outer config can be translated for it.
        nested = {"path": "/etc/nested", "mode": 420, "contents": {"source": "data:,nested"}}
        document = json.dumps({"ignition": {"version": spec}, "storage": {"files": [nested]}}).encode()
        of.extensions.append(
            specpb.Extension(
                id="ignition.slipway.dev/config",
                media_type="application/json",
                content=contentpb.Content(segments=[contentpb.Segment(data=document)]),
            )
        )
    return of


def _rendered(spec: str) -> bytes:
    return testing.render(IgnitionProvisioner(), _bundle(spec), format_id=f"ignition/{spec}")


@pytest.mark.parametrize("spec", SPECS)
def test_ignitions_own_parser_takes_it(spec: str, engine: Callable[..., None]) -> None:
    """The parser of that very spec finds no fault."""
    engine("ignition-parsers")
    assert ignition.validate(_rendered(spec)) == []


@pytest.mark.parametrize("spec", SPECS)
def test_ignitions_own_parser_takes_disks(spec: str, engine: Callable[..., None]) -> None:
    """Partitions, filesystems of every kind and mounts are valid in every spec."""
    engine("ignition-parsers")
    kinds = ["ext4", "btrfs", "xfs", "vfat", "swap"]
    system = ospb.OperatingSystem(
        disks=[
            ospb.Disk(
                device="/dev/sdb",
                overwrite=True,
                partitions=[
                    ospb.Partition(size_mib=100, label=f"p{index}", type=kind)
                    for index, kind in enumerate(["linux", "swap", "raid", "lvm", "fat32", "ntfs"])
                ]
                + [ospb.Partition(type="0657fd6d-a4ab-43c4-84e5-0933c84b4f4f")],
            )
        ],
        filesystems=[
            ospb.Filesystem(device=f"/dev/sdb{index}", format=kind, label=kind, overwrite=True)
            for index, kind in enumerate(kinds, start=1)
        ],
        mounts=[ospb.Mount(source=f"LABEL={kind}", path=f"/srv/{kind}") for kind in kinds[:-1]]
        + [ospb.Mount(source="LABEL=swap", path="none", type="swap")],
        files=[testing.file("/srv/xfs/a", b"a")],
    )
    rendered = testing.render(IgnitionProvisioner(), testing.bundle(system), format_id=f"ignition/{spec}")
    assert [found for found in ignition.validate(rendered) if found.severity is Severity.ERROR] == []


@pytest.fixture(
    scope="module",
    params=[pytest.param(spec, marks=pytest.mark.xdist_group(f"ignition-{spec}")) for spec in ENGINE_SPECS],
)
def set_up(request: pytest.FixtureRequest, engine: Callable[..., None]) -> MachineState:
    """A machine that the whole bundle was given to, its entry point started."""
    engine("ignition")
    given = {
        "/etc/kept": File(b"old\n", 0o600),
        "/etc/machine-here": File(b"old\n", 0o600),
        **fakes.command("join-it"),
    }
    return ignition.run(_rendered(request.param), extra_files=given, start=("slipway-bootstrap.service",))


def test_ignition_has_nothing_to_say(set_up: MachineState) -> None:
    """No error and no warning."""
    assert (set_up.status, set_up.findings) == ("done", ())


@pytest.mark.parametrize("name", CONTENTS)
def test_every_content_arrives(set_up: MachineState, name: str) -> None:
    """Byte for byte, whatever the content is and however it was packed."""
    node = set_up.files[f"/etc/slipway/{name}"]
    assert node.content == CONTENTS[name]
    assert (node.mode, node.owner, node.group) == (0o640, "root", "root")


def test_files_and_folders(set_up: MachineState) -> None:
    """Owners, parents, links, appended and nested content."""
    mine = set_up.files["/opt/new/deep/ops.txt"]
    assert (mine.mode, mine.owner, mine.group, mine.content) == (0o600, "ops", "ops", b"mine\n")
    for folder in ("/opt/new", "/opt/new/deep", "/srv/plain"):
        node = set_up.files[folder]
        assert (node.kind, node.mode, node.owner, node.group) == (Kind.DIRECTORY, 0o755, "root", "root"), folder
    assert set_up.content("/etc/two") == b"12"
    assert set_up.files["/etc/two"].mode == 0o600
    assert set_up.content("/etc/hard") == b"12"
    soft = set_up.files["/etc/soft"]
    assert (soft.kind, soft.target, soft.owner) == (Kind.LINK, "slipway/text", "ops")
    assert set_up.content("/etc/hostname") == b"node-7\n"


def test_append_keeps_mode_and_owner(engine: Callable[..., None]) -> None:
    """A file that is there keeps its mode; a new one gets what the bundle says."""
    engine("ignition")
    state = ignition.run(_rendered("3.3.0"), extra_files={"/etc/kept": File(b"old\n", 0o600)})
    assert (state.content("/etc/kept"), state.files["/etc/kept"].mode) == (b"old\nmore\n", 0o600)
    assert state.content("/etc/nested") == b"nested"
    deep = state.files["/srv/a/b"]
    assert (deep.mode, deep.owner, deep.group) == (0o750, "ops", "team")
    assert (state.files["/srv/a"].mode, state.files["/srv/a"].owner) == (0o755, "root")


def test_accounts(set_up: MachineState) -> None:
    """Numbers, groups, keys, locks and rules for sudo."""
    ops = set_up.users["ops"]
    assert (ops.uid, ops.group, ops.shell, ops.groups) == (4321, "ops", "/bin/bash", frozenset({"team"}))
    assert ops.ssh_keys == frozenset({KEY})
    assert [set_up.users[name].password for name in ("ops", "open", "shut")] == ["locked", HASH, "locked"]
    assert {rule for rule in set_up.sudo_rules if rule.startswith("ops ")} == {
        "ops ALL=(ALL) NOPASSWD:ALL",
        "ops ALL=(root) /bin/ls",
    }


def test_units(set_up: MachineState) -> None:
    """Enabled, disabled, masked; the mount and the entry point are units that are enabled."""
    enabled = {name.partition(" ")[0] for name in set_up.enabled_units}
    assert {"a.service", "slipway-bootstrap.service", "mnt-x\\x2dy.mount"} <= enabled
    assert "b.service" not in enabled
    assert "c.service" in set_up.masked_units


def test_arguments_reach_the_entry_point(set_up: MachineState) -> None:
    """What systemd makes of the command line is what the plan said."""
    assert [call.argv for call in set_up.calls] == [("join-it", "a b", "it's", "100%", "$HOME", "")]
