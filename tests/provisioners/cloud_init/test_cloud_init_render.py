"""The rest of the document: accounts, storage, commands, and the provisioner as a whole."""

import shlex
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from provisioners.cloud_init.render import CloudInit
from provisioners.sdk import ProvisionerCore, testing
from services.contract.errors import SlipwayError, UnsupportedFeature
from services.contract.walk import uses
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb


def document(of: bundlepb.BootstrapBundle | ospb.OperatingSystem) -> dict[str, Any]:
    """Render and read back."""
    of = of if isinstance(of, bundlepb.BootstrapBundle) else testing.bundle(of)
    return yaml.safe_load(testing.render(CloudInit(), of))


def refusals(system: ospb.OperatingSystem) -> list[str]:
    """Give the paths that are refused."""
    with pytest.raises(UnsupportedFeature) as caught:
        document(system)
    return [violation.path for violation in caught.value.violations]


def test_an_empty_bundle_starts_the_entry_point_and_nothing_else() -> None:
    """No key is there that nobody asked for: each one would switch a module on."""
    assert document(testing.bundle()) == {
        "write_files": [
            {
                "path": "/var/lib/cloud/scripts/per-boot/slipway",
                "permissions": "0755",
                "content": "#!/bin/sh\nexec sh /etc/slipway/run\n",
            }
        ]
    }


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20), min_size=1, max_size=5))
def test_arguments_of_the_entry_point_reach_it(argv: list[str]) -> None:
    """Whatever the arguments hold, the shell of the script splits them as they were."""
    script = document(testing.bundle(argv=argv))["write_files"][0]["content"]
    assert shlex.split(script.removeprefix("#!/bin/sh\nexec ")) == argv


def test_command_lines_are_run_as_they_are() -> None:
    """Consumers look for the literal line; a failing one does not stop the next."""
    lines = ["echo a", "join it --config /x  && echo success > /run/y", "echo 'a: b' # c", 'say "hi"']
    of = testing.bundle()
    of.plan.entrypoint.Clear()
    of.plan.entrypoint.execution = planpb.EXECUTION_COMMANDS
    for line in lines:
        of.plan.entrypoint.commands.add(segments=[contentpb.TextSegment(text=line)])
    rendered = testing.render(CloudInit(), of)
    assert yaml.safe_load(rendered)["runcmd"] == lines
    assert "write_files" not in yaml.safe_load(rendered)


def test_plain_command_lines_are_plain_scalars() -> None:
    """Some consumers search the user data itself for the line, so nothing may be quoted that need not be."""
    of = testing.bundle(ospb.OperatingSystem(files=[testing.file("/a", b"x")]))
    of.plan.entrypoint.execution = planpb.EXECUTION_COMMANDS
    line = "bootstrap join --config /run/b.yaml  && echo success > /run/cluster-api/bootstrap-success.complete"
    of.plan.entrypoint.commands.add(segments=[contentpb.TextSegment(text=line)])
    of.plan.entrypoint.commands.add(segments=[contentpb.TextSegment(text="echo 'done: yes'")])
    assert f"runcmd:\n- {line}\n- 'echo ''done: yes'''\n".encode() in testing.render(CloudInit(), of)


def test_command_lines_with_templates_are_blocks() -> None:
    """What a template gives must not meet any quoting."""
    of = testing.bundle()
    of.plan.entrypoint.execution = planpb.EXECUTION_COMMANDS
    template = contentpb.ForeignTemplate(language=contentpb.TEMPLATE_LANGUAGE_JINJA, text="{{ v1.region }}")
    segments = [contentpb.TextSegment(text="echo "), contentpb.TextSegment(template=template)]
    of.plan.entrypoint.commands.add(segments=segments)
    assert b"- |-\n  echo {{ v1.region }}\n" in testing.render(CloudInit(), of)


def test_boot_commands() -> None:
    """Programs are lists, lines are texts, and a script of many lines gets a shell of its own."""
    of = testing.bundle()
    of.commands.boot.add(argv=["modprobe", "x y"])
    of.commands.boot.add(script=contentpb.Content(segments=[{"data": b"echo a > /b"}]))
    of.commands.boot.add(
        script=contentpb.Content(segments=[{"data": b"set -e\nexit 3\n"}]), interpreter=planpb.INTERPRETER_SH
    )
    assert document(of)["bootcmd"] == [["modprobe", "x y"], "echo a > /b", ["sh", "-c", "set -e\nexit 3\n"]]


def test_boot_scripts_of_bytes_are_refused() -> None:
    """A script that is no text can not stand in the document."""
    of = testing.bundle()
    of.commands.boot.add(script=contentpb.Content(segments=[{"data": b"\xff"}]))
    with pytest.raises(UnsupportedFeature) as caught:
        document(of)
    assert caught.value.violations[0].path == "commands.boot[0]"


def test_a_user_with_everything() -> None:
    """Every field of a user reaches cloud-init under its own name."""
    user = ospb.User(
        name="ops",
        gecos="Ops: nobody",
        home="/srv/ops",
        shell="/bin/bash",
        primary_group="adm",
        groups=["sudo", "yes"],
        uid=1234,
        password_hash=secretpb.SecretValue(secret_ref=secretpb.SecretReference(name="pw", key="ops")),
        lock_password=False,
        sudo=["ALL=(ALL) NOPASSWD:ALL", "ALL=(root) /bin/ls"],
        ssh_authorized_keys=["ssh-ed25519 AAAA a: b # c"],
    )
    of = testing.bundle(ospb.OperatingSystem(users=[user]), secrets=[testing.secret("pw", "ops", b"$6$salt$hash")])
    assert document(of)["users"] == [
        "default",
        {
            "name": "ops",
            "gecos": "Ops: nobody",
            "homedir": "/srv/ops",
            "shell": "/bin/bash",
            "primary_group": "adm",
            "groups": ["sudo", "yes"],
            "uid": 1234,
            "hashed_passwd": "$6$salt$hash",
            "lock_passwd": False,
            "sudo": "ALL=(ALL) NOPASSWD:ALL\nops ALL=(root) /bin/ls",
            "ssh_authorized_keys": ["ssh-ed25519 AAAA a: b # c"],
        },
    ]


@pytest.mark.parametrize(
    ("default", "names", "expected", "reason"),
    [
        (None, ["a"], ["default", {"name": "a"}], "unset: it stays"),
        (ospb.DEFAULT_USER_KEEP, ["a"], ["default", {"name": "a"}], "it stays"),
        (ospb.DEFAULT_USER_OMIT, ["a"], [{"name": "a"}], "it goes"),
        (ospb.DEFAULT_USER_OMIT, [], None, "it goes only when the spec names users"),
        (None, [], None, "nothing is said"),
    ],
)
def test_the_images_own_user(default: Any, names: list[str], expected: Any, reason: str) -> None:
    """cloud-init drops the image's user from a list that does not name it."""
    system = ospb.OperatingSystem(users=[ospb.User(name=name) for name in names], default_user=default)
    assert document(system).get("users") == expected, reason


def test_a_user_with_a_group_of_its_own_name() -> None:
    """Useradd fails when the group is there already, unless it is told to take it."""
    system = ospb.OperatingSystem(groups=[ospb.Group(name="ops")], users=[ospb.User(name="ops")])
    assert document(system)["groups"] == ["ops"]
    assert document(system)["users"][1]["primary_group"] == "ops"


@pytest.mark.parametrize(
    ("user", "reason"),
    [
        (ospb.User(name="a", system=True, ssh_authorized_keys=["k"]), "no home, so no place for keys"),
        (ospb.User(name="a", no_create_home=True, ssh_authorized_keys=["k"]), "no home, so no place for keys"),
        (ospb.User(name="a b", sudo=["ALL"]), "a blank in sudoers"),
        (ospb.User(name="root", shell="/bin/false"), "root is there already"),
        (ospb.User(name="root", groups=["adm"]), "root is there already"),
    ],
)
def test_users_that_cloud_init_gets_wrong_are_refused(user: ospb.User, reason: str) -> None:
    """What cloud-init would ignore, or stumble over, is refused so that it is lowered."""
    assert refusals(ospb.OperatingSystem(users=[ospb.User(name="ok"), user])) == ["os.users[1]"], reason


def test_roots_keys_are_native() -> None:
    """Keys and password of a user that exists are changed by cloud-init."""
    system = ospb.OperatingSystem(users=[ospb.User(name="root", ssh_authorized_keys=["k"])])
    assert document(system)["users"][1] == {"name": "root", "ssh_authorized_keys": ["k"]}


@pytest.mark.parametrize(
    ("partitions", "layout", "reason"),
    [
        ([{}], True, "one partition for all"),
        ([{"percentage": 100}], True, "the same, said in percent"),
        ([{"type": "swap"}], [[100, 82]], "one partition with a type"),
        ([{"percentage": 33}, {}], [33, 67], "the last takes the rest"),
        (
            [{"percentage": 10, "type": "lvm"}, {"percentage": 90, "type": "linux"}],
            [[10, "8e"], [90, 83]],
            "types by their codes",
        ),
    ],
)
def test_partitions(partitions: list[dict[str, Any]], layout: Any, reason: str) -> None:
    """Layouts are cloud-init's: percentages, or percentage and type."""
    disk = ospb.Disk(device="/dev/sdb", partitions=[ospb.Partition(**entry) for entry in partitions])
    assert document(ospb.OperatingSystem(disks=[disk]))["disk_setup"] == {
        "/dev/sdb": {"table_type": "gpt", "layout": layout}
    }, reason


def test_a_last_partition_that_is_made_larger_is_told() -> None:
    """cloud-init never leaves the end of a disk free; whoever asked for that is warned."""
    disk = ospb.Disk(device="/dev/sdb", partitions=[ospb.Partition(percentage=25), ospb.Partition(percentage=25)])
    request = testing.request(CloudInit(), testing.bundle(ospb.OperatingSystem(disks=[disk])))
    response = ProvisionerCore(CloudInit()).render_now(request)
    assert [d.field_path for d in response.diagnostics] == ["os.disks[0].partitions[1].percentage"]
    assert yaml.safe_load(response.user_data)["disk_setup"]["/dev/sdb"]["layout"] == [25, 75]


@pytest.mark.parametrize(
    ("disk", "reason"),
    [
        (ospb.Disk(device="/dev/b"), "no partitions"),
        (ospb.Disk(device="/dev/b", partitions=[ospb.Partition(), ospb.Partition(percentage=5)]), "rest comes first"),
        (
            ospb.Disk(device="/dev/b", partitions=[ospb.Partition(percentage=60), ospb.Partition(percentage=50)]),
            "more than the disk",
        ),
        (ospb.Disk(device="/dev/b", partitions=[ospb.Partition(percentage=100), ospb.Partition()]), "no rest"),
        (
            ospb.Disk(
                device="/dev/b",
                table_type=ospb.PARTITION_TABLE_TYPE_MBR,
                partitions=[ospb.Partition(percentage=20)] * 5,
            ),
            "too many for DOS",
        ),
    ],
)
def test_disks_that_cloud_init_can_not_make(disk: ospb.Disk, reason: str) -> None:
    """A layout that cloud-init would get wrong is refused."""
    assert refusals(ospb.OperatingSystem(disks=[disk])) == ["os.disks[0]"], reason


@pytest.mark.parametrize(
    ("fields", "expected", "reason"),
    [
        ({}, {}, "cloud-init finds the place itself"),
        ({"partition": "auto"}, {"partition": "auto"}, "cloud-init's own word"),
        ({"partition": "2"}, {"partition": 2}, "sdb2"),
        (
            {"device": "/dev/nvme1n1", "partition": "2"},
            {"device": "/dev/nvme1n1p2", "partition": "auto"},
            "cloud-init would say nvme1n12",
        ),
        (
            {"device": "/dev/disk/by-id/x", "partition": "1", "overwrite": True},
            {"device": "/dev/disk/by-id/x-part1", "partition": "none", "overwrite": True},
            "stable names have their own suffix",
        ),
        (
            {"label": "data", "overwrite": False, "replace_format": "ntfs", "options": ["-E", "x"]},
            {"label": "data", "overwrite": False, "replace_fs": "ntfs", "extra_opts": ["-E", "x"]},
            "all fields",
        ),
        ({"device": "ephemeral0.1"}, {"device": "ephemeral0.1"}, "cloud-init's own name of a partition stays"),
    ],
)
def test_filesystems(fields: dict[str, Any], expected: dict[str, Any], reason: str) -> None:
    """Filesystems are cloud-init's fs_setup."""
    filesystem = ospb.Filesystem(**({"device": "/dev/sdb", "format": "ext4"} | fields))
    seen = document(ospb.OperatingSystem(filesystems=[filesystem]))["fs_setup"]
    assert seen == [{"device": "/dev/sdb", "filesystem": "ext4"} | expected], reason


@pytest.mark.parametrize(("kind", "flag"), [("vfat", "-n"), ("f2fs", "-l")])
def test_labels_are_said_as_the_program_knows_them(kind: str, flag: str) -> None:
    """cloud-init gives -L to every mkfs; one that does not know it would make no filesystem at all."""
    filesystem = ospb.Filesystem(device="/dev/sdb1", format=kind, label="boot", options=["-v"])
    (seen,) = document(ospb.OperatingSystem(filesystems=[filesystem]))["fs_setup"]
    assert seen == {"device": "/dev/sdb1", "filesystem": kind, "extra_opts": [flag, "boot", "-v"]}


def test_a_dotted_device_is_refused() -> None:
    """cloud-init would take what stands behind the dot for a partition, and make no filesystem at all."""
    filesystem = ospb.Filesystem(device="/dev/disk/by-path/pci-0000:1f.2-ata-1", format="ext4")
    assert refusals(ospb.OperatingSystem(filesystems=[filesystem])) == ["os.filesystems[0]"]


@pytest.mark.parametrize(
    ("mount", "row", "reason"),
    [
        ({}, ["LABEL=x", "/x"], "cloud-init's own defaults, nofail among them"),
        ({"options": ["defaults", "nofail"]}, ["LABEL=x", "/x"], "no more than that is said"),
        ({"type": "xfs"}, ["LABEL=x", "/x", "xfs"], "only the type is said"),
        ({"options": ["ro", "noexec"]}, ["LABEL=x", "/x", "auto", "ro,noexec"], "options are said"),
        ({"pass": 2}, ["LABEL=x", "/x", "auto", "defaults", "0", "2"], "fields stand in their order"),
        ({"path": "none", "type": "swap"}, ["LABEL=x", "none", "swap"], "swap"),
    ],
)
def test_mounts(mount: dict[str, Any], row: list[str], reason: str) -> None:
    """Mounts are rows of fstab, all fields texts, as the schema wants them."""
    seen = document(ospb.OperatingSystem(mounts=[ospb.Mount(**({"source": "LABEL=x", "path": "/x"} | mount))]))
    assert seen["mounts"] == [row], reason


def test_a_mount_point_that_fstab_would_escape_is_refused() -> None:
    """cloud-init up to 25 writes it as it is, and fstab has another path."""
    assert refusals(ospb.OperatingSystem(mounts=[ospb.Mount(source="x", path="/a b")])) == ["os.mounts[0]"]


def test_a_mount_below_another_one_is_refused() -> None:
    """cloud-init would make its folder before the outer one is mounted over it; the runner mounts it in time."""
    mounts = [ospb.Mount(source=path[1:], path=path) for path in ("/a/b/", "/a", "/ab", "/", "/a/b/c")]
    assert refusals(ospb.OperatingSystem(mounts=mounts)) == ["os.mounts[0]", "os.mounts[4]"]


def test_swap_is_one_file() -> None:
    """cloud-init makes one swap file; a second is refused by the declared bound, so that it is lowered."""
    swaps = [ospb.Swap(path="/swap", size_mib=512), ospb.Swap(path="/swap2", size_mib=1)]
    assert document(ospb.OperatingSystem(swaps=swaps[:1]))["swap"] == {"filename": "/swap", "size": "512M"}
    assert refusals(ospb.OperatingSystem(swaps=swaps)) == ["os.swaps[1]"]


def test_the_rest() -> None:
    """Host name (both keys, for distributions differ), time zone and packages."""
    system = ospb.OperatingSystem(
        hostname=ospb.Hostname(name=contentpb.MachineText(value="node.example.com")),
        time_zone=ospb.TimeZone(name="Europe/Berlin"),
        packages=ospb.Packages(
            install=[ospb.Package(name="curl"), ospb.Package(name="jq", version="1.6")], update=True, upgrade=False
        ),
    )
    seen = document(system)
    del seen["write_files"]
    assert seen == {
        "hostname": "node.example.com",
        "fqdn": "node.example.com",
        "timezone": "Europe/Berlin",
        "package_update": True,
        "packages": ["curl", ["jq", "1.6"]],
    }


WORDS = ["yes", "No", "ON", "null", "~", "1", "0x1f", "1e3", "1:30", "2024-01-01", "=", "<<", "true", "y", "", "a: b"]


@pytest.mark.parametrize("word", WORDS)
def test_words_stay_words(word: str) -> None:
    """A text that YAML 1.1 takes for something else is quoted."""
    user = ospb.User(name="a", gecos=word, groups=[word or "x"])
    entry = document(ospb.OperatingSystem(users=[user]))["users"][1]
    assert entry["gecos"] == word
    assert entry["groups"] == [word or "x"]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_any_text_stays_a_text(text: str) -> None:
    """Whatever a text is, it comes back as that text."""
    assert document(ospb.OperatingSystem(users=[ospb.User(name="a", gecos=text)]))["users"][1]["gecos"] == text


def test_rendering_is_deterministic() -> None:
    """The same request gives the same bytes, also from a bundle that was sent and read again."""
    files = [testing.file(f"/etc/{index}", b"x" * index, mode=index) for index in range(9)]
    of = testing.bundle(ospb.OperatingSystem(files=files, users=[ospb.User(name="a")]))
    again = bundlepb.BootstrapBundle.FromString(of.SerializeToString())
    assert testing.render(CloudInit(), of) == testing.render(CloudInit(), again)


def test_every_declared_feature_exists() -> None:
    """An id that no field gives would be a promise about nothing."""
    declared = {support.id for info in CloudInit().formats() for support in info.features}
    assert declared <= {use.id for of in testing.one_field_bundles() for use in uses(of)}


def test_whatever_is_set_is_rendered_or_refused() -> None:
    """With any one field set, even a nonsensical one, the answer is user data or an error with a reason.

    Where the field uses a feature that is not declared, it is a refusal.
    """
    declared = {support.id for info in CloudInit().formats() for support in info.features}
    core = ProvisionerCore(CloudInit())
    outcomes = {"rendered": 0, "refused": 0}
    for of in testing.one_field_bundles():
        undeclared = {use.id for use in uses(of)} - declared
        try:
            core.render_now(testing.request(CloudInit(), of))
        except SlipwayError:
            outcomes["refused"] += 1
        else:
            outcomes["rendered"] += 1
            assert not undeclared
    assert min(outcomes.values()) > 50
