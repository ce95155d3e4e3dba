"""The Ignition config: every byte, account, unit and mount, in the shape of each spec."""

import base64
import gzip
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioners.ignition.render import IgnitionProvisioner
from provisioners.sdk import ProvisionerCore, testing
from services.contract.errors import BundleInvalid, SlipwayError, UnsupportedFeature
from services.contract.walk import uses
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb

UNIT = "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"
SPECS = ["3.3.0", "3.4.0", "2.3.0"]


def config(of: bundlepb.BootstrapBundle | ospb.OperatingSystem, spec: str = "3.3.0") -> dict[str, Any]:
    """Render and read back."""
    of = of if isinstance(of, bundlepb.BootstrapBundle) else testing.bundle(of)
    return json.loads(testing.render(IgnitionProvisioner(), of, format_id=f"ignition/{spec}"))


def refusals(of: bundlepb.BootstrapBundle | ospb.OperatingSystem, spec: str = "3.3.0") -> list[str]:
    """Give the paths that are refused."""
    with pytest.raises(UnsupportedFeature) as caught:
        config(of, spec)
    return [violation.path for violation in caught.value.violations]


def content(resource: dict[str, Any]) -> bytes:
    """Give the bytes of a data URL as Ignition does."""
    head, _, data = resource["source"].partition(",")
    raw = base64.b64decode(data, validate=True) if head == "data:;base64" else unquote_to_bytes(data)
    assert head in {"data:", "data:;base64"}
    return gzip.decompress(raw) if resource.get("compression") == "gzip" else raw


def unit(of: bundlepb.BootstrapBundle | ospb.OperatingSystem, name: str) -> dict[str, Any]:
    """Give a unit by its name."""
    return next(entry for entry in config(of)["systemd"]["units"] if entry["name"] == name)


def test_an_empty_bundle_starts_the_entry_point_and_nothing_else() -> None:
    """The unit waits for the network, starts on every boot, and has what enabling needs."""
    assert config(testing.bundle()) == {
        "ignition": {"version": "3.3.0"},
        "passwd": {},
        "storage": {},
        "systemd": {
            "units": [
                {
                    "name": "slipway-bootstrap.service",
                    "enabled": True,
                    "contents": "[Unit]\n"
                    "Description=Bootstrap of this machine\n"
                    "Wants=network-online.target\n"
                    "After=network-online.target\n"
                    "[Service]\n"
                    "Type=oneshot\n"
                    "RemainAfterExit=yes\n"
                    "ExecStart=sh /etc/slipway/run\n"
                    "[Install]\n"
                    "WantedBy=multi-user.target\n",
                }
            ]
        },
    }


def test_the_entry_point_follows_its_units_and_drop_ins() -> None:
    """Name, units to wait for and drop-ins are those of the plan."""
    of = testing.bundle()
    of.plan.entrypoint.unit_name = "join.service"
    of.plan.entrypoint.after_units.extend(["containerd.service", "coreos-metadata.service"])
    of.plan.entrypoint.drop_ins.add(name="10.conf", contents="[Service]\nEnvironment=A=b\n")
    seen = unit(of, "join.service")
    assert "After=network-online.target containerd.service coreos-metadata.service\n" in seen["contents"]
    assert "Requires=containerd.service coreos-metadata.service\n" in seen["contents"]
    assert seen["dropins"] == [{"name": "10.conf", "contents": "[Service]\nEnvironment=A=b\n"}]


@given(st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
def test_any_content_arrives(data: bytes) -> None:
    """Every content comes out as it went in."""
    (file,) = config(ospb.OperatingSystem(files=[testing.file("/etc/a", data)]))["storage"]["files"]
    assert content(file["contents"]) == data


@pytest.mark.parametrize(
    ("data", "form", "reason"),
    [
        (b"", "data:,", "an empty file has a source, else an old file would stay"),
        (b"a b\n", "data:,a%20b%0A", "short text"),
        (b"\xff" * 20, "data:;base64,//////////////////////////8=", "bytes"),
        (b"100%?#", "data:,100%25%3F%23", "what a URL would take for its own"),
    ],
)
def test_form_of_content(data: bytes, form: str, reason: str) -> None:
    """The shortest form is taken."""
    (file,) = config(ospb.OperatingSystem(files=[testing.file("/a", data)]))["storage"]["files"]
    assert file["contents"] == {"source": form}, reason


def test_large_content_is_packed_without_a_time() -> None:
    """Long text is packed, and the same text always into the same bytes."""
    (file,) = config(ospb.OperatingSystem(files=[testing.file("/a", b"line\n" * 500)]))["storage"]["files"]
    assert file["contents"]["compression"] == "gzip"
    packed = base64.b64decode(file["contents"]["source"].partition(",")[2])
    assert packed[4:8] == bytes(4)
    assert content(file["contents"]) == b"line\n" * 500


@given(st.lists(st.integers(0, 0o777), max_size=4))
def test_modes_are_decimal(modes: list[int]) -> None:
    """A mode is a number, not a text in octal."""
    files = [testing.file(f"/etc/{index}", b"", mode=mode) for index, mode in enumerate(modes)]
    seen = config(ospb.OperatingSystem(files=files))["storage"].get("files", [])
    assert [file["mode"] for file in seen] == modes


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o1777])
def test_special_bits_are_refused(mode: int) -> None:
    """Ignition drops them in silence before spec 3.6."""
    assert refusals(ospb.OperatingSystem(files=[testing.file("/a", b"", mode=mode)])) == ["os.files[0]"]


def test_owners() -> None:
    """Owners are names, or ids where they are numbers; root is not said."""
    files = [testing.file("/a", b"", owner="ops", group="1000"), testing.file("/b", b"")]
    first, second = config(ospb.OperatingSystem(files=files))["storage"]["files"]
    assert (first["user"], first["group"]) == ({"name": "ops"}, {"id": 1000})
    assert "user" not in second
    assert first["overwrite"] is True


def _append(path: str, data: bytes, **kwargs: Any) -> ospb.File:
    file = testing.file(path, data, **kwargs)
    file.append = True
    return file


def test_append_leaves_mode_and_owner_alone() -> None:
    """An entry that only appends says neither, so that an existing file keeps its own."""
    (file,) = config(ospb.OperatingSystem(files=[_append("/etc/hosts", b"x")]))["storage"]["files"]
    assert file == {"path": "/etc/hosts", "append": [{"source": "data:,x"}]}


def test_append_joins_the_entry_of_the_same_path() -> None:
    """Ignition takes each path once, so what is known now is joined now; mode and owner are those of the first."""
    files = [testing.file("/etc/a", b"1", mode=0o600), _append("/etc/a", b"2"), _append("/etc/a", b"3", mode=0o600)]
    (file,) = config(ospb.OperatingSystem(files=files), "2.3.0")["storage"]["files"]
    assert (file["mode"], file["contents"]["source"]) == (0o600, "data:,123")
    files = [_append("/etc/a", b"1"), _append("/etc/a", b"2")]
    (file,) = config(ospb.OperatingSystem(files=files))["storage"]["files"]
    assert file["append"] == [{"source": "data:,12"}]


def test_append_to_a_download_is_refused() -> None:
    """A hash holds for one resource only."""
    file = testing.file("/a", b"")
    file.remote.urls.append("https://a")
    assert refusals(ospb.OperatingSystem(files=[file, _append("/a", b"x")])) == ["os.files[1]"]


@pytest.mark.parametrize(
    ("spec", "kwargs", "reason"),
    [
        ("3.3.0", {"mode": 0o600}, "a new file would be 0644"),
        ("3.3.0", {"owner": "ops"}, "a new file would be root's"),
        ("2.3.0", {}, "a new file would have no permissions at all"),
    ],
)
def test_append_that_can_not_be_right_is_refused(spec: str, kwargs: dict[str, Any], reason: str) -> None:
    """It is not known whether the file is there, so both cases must be right."""
    assert refusals(ospb.OperatingSystem(files=[_append("/etc/hosts", b"x", **kwargs)]), spec) == ["os.files[0]"], (
        reason
    )


@pytest.mark.parametrize(
    ("remote", "expected", "reason"),
    [
        ({"urls": ["https://a/b"]}, {"source": "https://a/b"}, "no hash is asked for"),
        (
            {"urls": ["http://a/b"], "sha256": "AB" * 32},
            {"source": "http://a/b", "verification": {"hash": "sha256-" + "ab" * 32}},
            "lower case",
        ),
        (
            {"urls": ["http://a/b"], "sha256": "ab" * 32, "sha512": "cd" * 64},
            {"source": "http://a/b", "verification": {"hash": "sha512-" + "cd" * 64}},
            "the stronger of two",
        ),
    ],
)
def test_remote_files(remote: dict[str, Any], expected: dict[str, Any], reason: str) -> None:
    """Downloads carry the hash that Ignition verifies."""
    file = ospb.File(path="/a", owner="root", group="root", mode=0o644, remote=ospb.RemoteContent(**remote))
    (seen,) = config(ospb.OperatingSystem(files=[file]))["storage"]["files"]
    assert seen["contents"] == expected, reason


@pytest.mark.parametrize(
    ("spec", "remote", "reason"),
    [
        ("3.3.0", {"urls": ["https://a", "https://b"]}, "Ignition takes one URL"),
        ("2.3.0", {"urls": ["https://a"], "sha256": "ab" * 32}, "spec 2 knows SHA-512 only"),
    ],
)
def test_remote_files_that_are_refused(spec: str, remote: dict[str, Any], reason: str) -> None:
    """A download that would not be verified, or not tried as asked, is refused."""
    file = ospb.File(path="/a", owner="root", group="root", mode=0o644, remote=ospb.RemoteContent(**remote))
    assert refusals(ospb.OperatingSystem(files=[file]), spec) == ["os.files[0]"], reason


def test_directories_and_links() -> None:
    """Directories and links are native; a hard link has no owner of its own."""
    system = ospb.OperatingSystem(
        directories=[ospb.Directory(path="/opt/x", owner="ops", group="root", mode=0o700)],
        links=[
            ospb.Link(path="/a", target="b", owner="root", group="ops"),
            ospb.Link(path="/c", target="/d", hard=True, owner="ops", group="ops"),
        ],
    )
    storage = config(system)["storage"]
    assert storage["directories"] == [{"path": "/opt/x", "user": {"name": "ops"}, "mode": 0o700}]
    assert storage["links"] == [
        {"path": "/a", "group": {"name": "ops"}, "overwrite": True, "target": "b"},
        {"path": "/c", "overwrite": True, "target": "/d", "hard": True},
    ]


@pytest.mark.parametrize(
    ("make", "path", "reason"),
    [
        (
            lambda: ospb.OperatingSystem(
                files=[testing.file("/l/a", b"")], links=[ospb.Link(path="/l", target="/x", owner="root", group="root")]
            ),
            "os.files[0]",
            "Ignition refuses a config that writes through its own link",
        ),
        (
            lambda: ospb.OperatingSystem(files=[testing.file("/a", b""), testing.file("/a", b"")]),
            "os.files[1]",
            "each path once",
        ),
        (
            lambda: ospb.OperatingSystem(
                files=[testing.file("/m/a", b"")], mounts=[ospb.Mount(source="tmpfs", path="/m", type="tmpfs")]
            ),
            "os.files[0]",
            "the mount comes later and would hide it",
        ),
        (
            lambda: ospb.OperatingSystem(
                users=[ospb.User(name="a", sudo=["ALL"])], files=[testing.file("/etc/sudoers.d/90-slipway-users", b"")]
            ),
            "os.users[0]",
            "the path is needed for the rules",
        ),
        (
            lambda: ospb.OperatingSystem(users=[ospb.User(name="a b", sudo=["ALL"])]),
            "os.users[0]",
            "escapes in sudoers",
        ),
    ],
)
def test_what_ignition_would_trip_over(make: Callable[[], ospb.OperatingSystem], path: str, reason: str) -> None:
    """A config that fails, or that leaves something else, must never be given."""
    assert refusals(make()) == [path], reason


def _password(text: str) -> secretpb.SecretValue:
    return secretpb.SecretValue(value=text)


@pytest.mark.parametrize(
    ("fields", "expected", "reason"),
    [
        ({}, {}, "Ignition locks new users by itself"),
        ({"lock_password": True}, {"passwordHash": "!"}, "an image's user gets locked"),
        ({"password_hash": _password("$6$x")}, {"passwordHash": "!$6$x"}, "unset means locked"),
        ({"password_hash": _password("$6$x"), "lock_password": False}, {"passwordHash": "$6$x"}, "unlocked"),
        ({"system": True}, {"system": True, "noCreateHome": True}, "a system account has no home"),
        (
            {"system": True, "ssh_authorized_keys": ["k"]},
            {"system": True, "sshAuthorizedKeys": ["k"]},
            "keys need a home",
        ),
        (
            {"gecos": "A", "home": "/h", "shell": "/s", "primary_group": "g", "groups": ["x"], "uid": 0},
            {"gecos": "A", "homeDir": "/h", "shell": "/s", "primaryGroup": "g", "groups": ["x"], "uid": 0},
            "all the rest",
        ),
    ],
)
def test_users(fields: dict[str, Any], expected: dict[str, Any], reason: str) -> None:
    """Users are Ignition's, a lock is a mark in the hash."""
    seen = config(ospb.OperatingSystem(users=[ospb.User(name="ops", **fields)]))["passwd"]["users"]
    assert seen == [{"name": "ops"} | expected], reason


def test_groups_and_sudo() -> None:
    """Groups are Ignition's; rules for sudo are one file that sudo reads."""
    system = ospb.OperatingSystem(
        groups=[ospb.Group(name="a", gid=0), ospb.Group(name="b", system=True)],
        users=[ospb.User(name="x", sudo=["ALL=(ALL) ALL", "ALL=(b) /c"]), ospb.User(name="b", sudo=["ALL=(ALL) ALL"])],
    )
    seen = config(system)
    assert seen["passwd"]["groups"] == [{"name": "a", "gid": 0}, {"name": "b", "system": True}]
    assert seen["passwd"]["users"][1]["primaryGroup"] == "b"
    (file,) = seen["storage"]["files"]
    assert (file["path"], file["mode"]) == ("/etc/sudoers.d/90-slipway-users", 0o440)
    assert content(file["contents"]) == b"x ALL=(ALL) ALL\nx ALL=(b) /c\nb ALL=(ALL) ALL\n"


def test_hostname_is_a_file() -> None:
    """The host name is /etc/hostname, with the line break that it has on every system."""
    system = ospb.OperatingSystem(hostname=ospb.Hostname(name=contentpb.MachineText(value="node-1")))
    (file,) = config(system)["storage"]["files"]
    assert (file["path"], content(file["contents"])) == ("/etc/hostname", b"node-1\n")


def test_kernel_arguments() -> None:
    """Spec 3.3 knows them, spec 2 does not."""
    arguments = [ospb.KernelArgument(argument="a=b"), ospb.KernelArgument(argument="quiet", absent=True)]
    system = ospb.OperatingSystem(kernel_arguments=arguments)
    assert config(system)["kernelArguments"] == {"shouldExist": ["a=b"], "shouldNotExist": ["quiet"]}
    assert "os.kernel_arguments[0]" in refusals(system, "2.3.0")


def test_units() -> None:
    """The bundle's units come as they are; what is not said is left to the image."""
    system = ospb.OperatingSystem(
        systemd_units=[
            ospb.SystemdUnit(name="a.service", contents=UNIT, enabled=True),
            ospb.SystemdUnit(name="b.service", enabled=False),
            ospb.SystemdUnit(name="c.service", masked=True),
            ospb.SystemdUnit(name="d.service", drop_ins=[{"name": "x.conf", "contents": "[Service]\nA=b\n"}]),
        ]
    )
    assert config(system)["systemd"]["units"][:-1] == [
        {"name": "a.service", "enabled": True, "contents": UNIT},
        {"name": "b.service", "enabled": False},
        {"name": "c.service", "mask": True},
        {"name": "d.service", "dropins": [{"name": "x.conf", "contents": "[Service]\nA=b\n"}]},
    ]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": "a.service", "contents": "[Service]\nA=b\n", "enabled": True}, "enabling needs [Install]"),
        ({"name": "a.service", "contents": "nonsense", "enabled": False}, "Ignition fails the boot over it"),
        ({"name": "a.service", "drop_ins": [{"name": "a.conf", "contents": "[Service"}]}, "the same in a drop-in"),
        ({"name": "a.service", "contents": UNIT, "masked": True}, "both write the same path"),
        ({"name": "slipway-bootstrap.service", "enabled": True}, "the entry point's own name"),
        ({"name": "srv-x.mount", "contents": UNIT}, "a mount's own name"),
    ],
)
def test_units_that_are_refused(fields: dict[str, Any], reason: str) -> None:
    """A unit that Ignition would not bring into effect is refused."""
    system = ospb.OperatingSystem(
        systemd_units=[ospb.SystemdUnit(**fields)], mounts=[ospb.Mount(source="LABEL=x", path="/srv/x")]
    )
    assert refusals(system) == ["os.systemd_units[0]"], reason


def _storage_system(**mount: Any) -> ospb.OperatingSystem:
    return ospb.OperatingSystem(
        disks=[
            ospb.Disk(
                device="/dev/sdb",
                overwrite=True,
                partitions=[ospb.Partition(size_mib=100, label="a", type="swap"), ospb.Partition()],
            )
        ],
        filesystems=[
            ospb.Filesystem(device="/dev/sdb2", format="ext4", label="data", overwrite=True, options=["-m", "0"])
        ],
        mounts=[ospb.Mount(**({"source": "LABEL=data", "path": "/var/lib/my-data"} | mount))],
        files=[testing.file("/var/lib/my-data/x", b"y")],
        directories=[ospb.Directory(path="/var/lib/my-data", owner="root", group="root", mode=0o755)],
    )


def test_storage() -> None:
    """Partitions, filesystems and a mount that Ignition itself writes to, with a unit for later boots."""
    seen = config(_storage_system())
    assert seen["storage"]["disks"] == [
        {
            "device": "/dev/sdb",
            "wipeTable": True,
            "partitions": [
                {"number": 1, "label": "a", "sizeMiB": 100, "typeGuid": "0657FD6D-A4AB-43C4-84E5-0933C84B4F4F"},
                {"number": 2},
            ],
        }
    ]
    assert seen["storage"]["filesystems"] == [
        {
            "device": "/dev/sdb2",
            "format": "ext4",
            "path": "/var/lib/my-data",
            "label": "data",
            "wipeFilesystem": True,
            "options": ["-m", "0"],
        }
    ]
    assert seen["systemd"]["units"][-1] == {
        "name": "var-lib-my\\x2ddata.mount",
        "enabled": True,
        "contents": "[Mount]\nWhat=/dev/disk/by-label/data\nWhere=/var/lib/my-data\n"
        "[Install]\nRequiredBy=local-fs.target\n",
    }


def test_storage_in_spec_2() -> None:
    """Spec 2 wraps filesystems, and nodes name the one that they lie on."""
    storage = config(_storage_system(), "2.3.0")["storage"]
    assert storage["filesystems"] == [
        {
            "name": "fs0",
            "mount": {
                "device": "/dev/sdb2",
                "format": "ext4",
                "label": "data",
                "wipeFilesystem": True,
                "options": ["-m", "0"],
            },
        }
    ]
    (file,) = storage["files"]
    assert (file["filesystem"], file["path"]) == ("fs0", "/x")
    (directory,) = storage["directories"]
    assert (directory["filesystem"], directory["path"]) == ("fs0", "/")


def test_nested_filesystems_in_spec_2() -> None:
    """A node lies on the deepest filesystem above it, and next to one whose path only looks alike."""
    system = ospb.OperatingSystem(
        filesystems=[ospb.Filesystem(device=f"/dev/sd{name}", format="ext4") for name in "bcd"],
        mounts=[
            ospb.Mount(source=f"/dev/sd{name}", path=path)
            for name, path in (("b", "/a"), ("c", "/a/b"), ("d", "/a/bc"))
        ],
        files=[testing.file(path, b"") for path in ("/a/x", "/a/b/x", "/a/bc/x", "/ab")],
    )
    files = config(system, "2.3.0")["storage"]["files"]
    assert [(file["filesystem"], file["path"]) for file in files] == [
        ("fs0", "/x"),
        ("fs1", "/x"),
        ("fs2", "/x"),
        ("root", "/ab"),
    ]


@pytest.mark.parametrize(
    ("mount", "lines", "reason"),
    [
        ({"type": "xfs", "options": ["ro", "noexec"]}, ["Type=xfs", "Options=ro,noexec"], "type and options"),
        ({"type": "auto", "options": ["defaults"]}, [], "what the system does anyway is not said"),
        ({"options": ["nofail"]}, ["WantedBy=local-fs.target"], "the boot goes on without it"),
        ({"type": "nfs", "source": "host:/x"}, ["What=host:/x", "RequiredBy=remote-fs.target"], "after the network"),
        ({"options": ["_netdev"]}, ["Options=_netdev", "RequiredBy=remote-fs.target"], "after the network"),
        (
            {"pass": 2},
            ["Requires=systemd-fsck@dev-disk-by\\x2dlabel-data.service"],
            "checked before it is mounted",
        ),
        ({"source": "LABEL=my disk"}, ["What=/dev/disk/by-label/my\\x20disk"], "as udev spells it"),
        ({"source": "UUID=ab-cd"}, ["What=/dev/disk/by-uuid/ab-cd"], "a UUID"),
        ({"source": "/dev/sd%a"}, ["What=/dev/sd%%a"], "systemd would expand %a"),
    ],
)
def test_mount_units(mount: dict[str, Any], lines: list[str], reason: str) -> None:
    """What fstab says in a word is a key of a unit."""
    system = ospb.OperatingSystem(mounts=[ospb.Mount(**({"source": "LABEL=data", "path": "/x"} | mount))])
    contents = unit(system, "x.mount")["contents"].splitlines()
    assert set(lines) <= set(contents), reason
    if not lines:
        assert not any(line.startswith(("Type", "Options")) for line in contents)


def test_swap_is_a_swap_unit() -> None:
    """Swap has no path: its unit is named after the device."""
    system = ospb.OperatingSystem(mounts=[ospb.Mount(source="LABEL=swap", path="none", type="swap", options=["sw"])])
    assert unit(system, "dev-disk-by\\x2dlabel-swap.swap")["contents"] == (
        "[Swap]\nWhat=/dev/disk/by-label/swap\n[Install]\nWantedBy=swap.target\n"
    )


@pytest.mark.parametrize(
    ("mount", "reason"),
    [
        ({"options": ["noauto"]}, "a unit that is enabled is mounted"),
        ({"options": ["x-systemd.automount"]}, "known in fstab only"),
        ({"path": "none"}, "only swap has no path"),
        ({"type": "swap"}, "swap has no path"),
        ({"source": "LABEL=a\\b"}, "a backslash means something else in every place"),
        ({"path": "/a\nb"}, "a line break would be another key"),
    ],
)
def test_mounts_that_are_refused(mount: dict[str, Any], reason: str) -> None:
    """What a unit can not say is refused."""
    system = ospb.OperatingSystem(mounts=[ospb.Mount(**({"source": "LABEL=data", "path": "/x"} | mount))])
    assert refusals(system) == ["os.mounts[0]"], reason


@pytest.mark.parametrize(
    ("system", "path", "reason"),
    [
        (ospb.OperatingSystem(disks=[ospb.Disk(device="/dev/b")]), "os.disks[0]", "no partitions"),
        (
            ospb.OperatingSystem(disks=[ospb.Disk(device="sdb", partitions=[ospb.Partition()])]),
            "os.disks[0]",
            "an alias of another system's",
        ),
        (
            ospb.OperatingSystem(
                disks=[ospb.Disk(device="/dev/b", partitions=[ospb.Partition(), ospb.Partition(size_mib=1)])]
            ),
            "os.disks[0]",
            "the rest must come last",
        ),
        (
            ospb.OperatingSystem(filesystems=[ospb.Filesystem(device="/dev/b", format="ext3")]),
            "os.filesystems[0]",
            "Ignition does not make it",
        ),
        (
            ospb.OperatingSystem(filesystems=[ospb.Filesystem(device="/dev/b", format="xfs", label="x" * 13)]),
            "os.filesystems[0]",
            "the label is too long",
        ),
    ],
)
def test_storage_that_is_refused(system: ospb.OperatingSystem, path: str, reason: str) -> None:
    """What Ignition would fail the boot over is refused before there is a machine."""
    assert refusals(system) == [path], reason


def _extension(document: object, media_type: str = "application/json") -> bundlepb.BootstrapBundle:
    of = testing.bundle(ospb.OperatingSystem(files=[testing.file("/etc/a", b"")]))
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    of.extensions.append(
        specpb.Extension(
            id="ignition.slipway.dev/config",
            media_type=media_type,
            content=contentpb.Content(segments=[contentpb.Segment(data=data)]),
        )
    )
    return of


def test_an_extension_is_merged_by_ignition_itself() -> None:
    """It is a nested config, byte for byte, so that the rules of the merge are Ignition's own."""
    document = b'{"ignition": {"version": "3.0.0"}, "storage": {"files": [{"path": "/etc/b"}]}}'
    (nested,) = config(_extension(document))["ignition"]["config"]["merge"]
    assert content(nested) == document
    old = document.replace(b"3.0.0", b"2.2.0")
    (nested,) = config(_extension(old), "2.3.0")["ignition"]["config"]["append"]
    assert content(nested) == old


def test_a_long_extension_is_packed_where_the_spec_can_unpack_it() -> None:
    """Spec 2 has no word for the packing of a nested config."""
    for spec, packed in (("3.3.0", True), ("2.3.0", False)):
        document = json.dumps({"ignition": {"version": spec}, "x": ["y"] * 500}).encode()
        ignition = config(_extension(document), spec)["ignition"]["config"]
        (nested,) = ignition.get("merge") or ignition["append"]
        assert ("compression" in nested) is packed
        assert content(nested) == document


@pytest.mark.parametrize(
    ("document", "path", "reason"),
    [
        ({"ignition": {"version": "3.4.0"}}, "extensions[0].content", "newer than the machine's Ignition may be"),
        ({"ignition": {"version": "2.3.0"}}, "extensions[0].content", "another major version"),
        ({"ignition": {}}, "extensions[0].content", "no version"),
        (
            {"ignition": {"version": "3.3.0"}, "storage": {"files": [{"path": "/x"}, {"path": "/etc/a"}]}},
            "extensions[0].content:storage.files[1]",
            "the bundle has a file there",
        ),
        (
            {"ignition": {"version": "3.3.0"}, "systemd": {"units": [{"name": "slipway-bootstrap.service"}]}},
            "extensions[0].content:systemd.units[0]",
            "the entry point's unit",
        ),
    ],
)
def test_extensions_that_are_refused(document: dict[str, Any], path: str, reason: str) -> None:
    """A conflict is named by its place in the user's own config."""
    assert refusals(_extension(document)) == [path], reason


def test_butane_is_refused() -> None:
    """Nothing is transpiled here: the person gets told what to do."""
    assert refusals(_extension(b"variant: flatcar", "application/yaml")) == ["extensions[0].media_type"]


@pytest.mark.parametrize("data", [b"{", b"[]", b"\xff", b"[" * 100_000])
def test_an_extension_that_can_not_be_read(data: bytes) -> None:
    """It is the bundle that is wrong, and the field is named."""
    with pytest.raises(BundleInvalid) as caught:
        config(_extension(data))
    assert caught.value.violations[0].path == "extensions[0].content"


@pytest.mark.parametrize("spec", SPECS)
def test_the_version_is_that_of_the_format(spec: str) -> None:
    """The format that was asked for is the one that comes."""
    assert config(testing.bundle(), spec)["ignition"]["version"] == spec


@pytest.mark.parametrize("spec", SPECS)
def test_whatever_is_set_is_rendered_or_refused(spec: str) -> None:
    """With any one field set, even a nonsensical one, the answer is user data or an error with a reason."""
    info = next(info for info in IgnitionProvisioner().formats() if info.format == f"ignition/{spec}")
    declared = {support.id for support in info.features}
    core = ProvisionerCore(IgnitionProvisioner())
    outcomes = {"rendered": 0, "refused": 0}
    for of in testing.one_field_bundles():
        undeclared = {use.id for use in uses(of)} - declared
        try:
            core.render_now(testing.request(IgnitionProvisioner(), of, format_id=info.format))
        except SlipwayError:
            outcomes["refused"] += 1
        else:
            outcomes["rendered"] += 1
            assert not undeclared
    assert min(outcomes.values()) > 50


def test_every_declared_feature_exists() -> None:
    """An id that no field gives would be a promise about nothing."""
    declared = {support.id for info in IgnitionProvisioner().formats() for support in info.features}
    known = {use.id for of in testing.one_field_bundles() for use in uses(of)}
    assert declared - known == {"ext.ignition.slipway.dev/config"}


def test_rendering_is_deterministic() -> None:
    """The same request gives the same bytes, also from a bundle that was sent and read again."""
    again = testing.bundle(_storage_system())
    again = bundlepb.BootstrapBundle.FromString(again.SerializeToString())
    assert config(again) == config(_storage_system())
    assert testing.render(IgnitionProvisioner(), again) == testing.render(
        IgnitionProvisioner(), testing.bundle(_storage_system())
    )
