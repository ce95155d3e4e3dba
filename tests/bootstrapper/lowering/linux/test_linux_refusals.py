"""Tests of what the Linux passes refuse: each with the field, why, and what to do."""

import pytest

from slipway.contract.content import literal
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from tests.bootstrapper.lowering.lowered_systems import LowerSystem
from tests.bootstrapper.lowering.specs import PEM

TEMPLATE = contentpb.ExtensionText(id="cloud-init.slipway.dev/jinja", text="{{ ds.x }}")


def system(**fields: object) -> ospb.OperatingSystem:
    """Make an operating system."""
    return ospb.OperatingSystem(**fields)


def mount(**fields: object) -> ospb.OperatingSystem:
    """Make one with a mount."""
    return system(mounts=[ospb.Mount(**{"source": "/dev/sdb", "path": "/data", **fields})])


def unit(**fields: object) -> ospb.OperatingSystem:
    """Make one with a unit."""
    return system(systemd_units=[ospb.SystemdUnit(**{"name": "a.service", **fields})])


def file(path: str, **fields: object) -> ospb.OperatingSystem:
    """Make one with a file that has to be staged."""
    return system(files=[ospb.File(path=path, append=True, owner="root", group="root", mode=0o644, **fields)])


MBR = ospb.PARTITION_TABLE_TYPE_MBR


def disk(**fields: object) -> ospb.OperatingSystem:
    """Make one with a disk."""
    return system(disks=[ospb.Disk(**{"device": "/dev/sdb", **fields})])


def filesystem(**fields: object) -> ospb.OperatingSystem:
    """Make one with a filesystem."""
    return system(filesystems=[ospb.Filesystem(**{"device": "/dev/sdb", "format": "ext4", **fields})])


REFUSED = [
    ("debian", "os.storage.disks", disk(device="ephemeral0"), "cloud-init alone knows the name"),
    ("debian", "os.storage.disks", disk(table_type=MBR, partitions=[{"size_mib": 1}] * 5), "too many for DOS"),
    ("debian", "os.storage.disks", disk(partitions=[{}, {"size_mib": 1}]), "the rest comes first"),
    ("debian", "os.storage.disks", disk(partitions=[{"type": "extended"}]), "a GPT has none"),
    ("debian", "os.storage.disks", disk(table_type=MBR, partitions=[{"label": "a"}]), "a DOS table has no labels"),
    ("debian", "os.storage.disks", disk(partitions=[{"label": 'a"'}]), "sfdisk cannot be told of a quote"),
    ("rhel", "os.storage.filesystems", filesystem(format="btrfs"), "the distribution has no program"),
    ("debian", "os.storage.filesystems", filesystem(device="ephemeral0.1"), "cloud-init alone knows the name"),
    (
        "debian",
        "os.kernel.arguments",
        system(kernel_arguments=[ospb.KernelArgument(argument="quiet")]),
        "boot loaders differ",
    ),
    ("debian", "os.default_user.omit", system(default_user=ospb.DEFAULT_USER_OMIT), "it is made already"),
    ("debian", "os.storage.mounts", mount(source="ephemeral0.1"), "cloud-init alone knows the name"),
    ("debian", "os.storage.mounts", mount(path="/var/lib"), "the runner lives there"),
    ("debian", "os.storage.mounts", mount(path="/"), "the system runs from it"),
    ("debian", "os.storage.mounts", mount(path="data"), "relative"),
    ("debian", "os.storage.mounts", mount(path="/a/../etc"), "climbs"),
    ("flatcar", "os.storage.mounts", mount(path="/usr/data"), "read-only"),
    ("debian", "os.systemd.units", unit(masked=True, enabled=True), "a contradiction"),
    ("debian", "os.systemd.units", unit(masked=True, contents="[Service]\n"), "a contradiction"),
    ("debian", "os.systemd.units", unit(enabled=True, contents="[Service]\n"), "enabling it has no effect"),
    (
        "debian",
        "os.systemd.units",
        unit(name="a@.service", enabled=True, contents="[Install]\nWantedBy=a.target\n"),
        "systemd refuses",
    ),
    ("debian", "os.systemd.units", unit(name="cloud-final.service", enabled=False), "the runner runs in it"),
    ("debian", "os.systemd.units", unit(name="slipway-bootstrap.service", enabled=False), "it is the entry point"),
    ("flatcar", "os.files", file("/usr/local/bin/tool"), "read-only"),
    ("debian", "os.files", file("C:\\x"), "a path of Windows"),
    (
        "debian",
        "os.files",
        file("/a", content=contentpb.Content(segments=[contentpb.Segment(extension=TEMPLATE)])),
        "foreign template",
    ),
    ("debian", "os.links", system(links=[ospb.Link(path="/a", target="b\nc")]), "two lines"),
    ("debian", "os.groups", system(groups=[ospb.Group(name="Team X")]), "groupadd would fail"),
    ("debian", "os.groups", system(groups=[ospb.Group(name="123")]), "it would read as a number"),
    ("debian", "os.users", system(users=[ospb.User(name="First.Last")]), "useradd would fail on some"),
    ("debian", "os.users", system(users=[ospb.User(name="ann", groups=["a b"])]), "lists of groups"),
    ("debian", "os.users", system(users=[ospb.User(name="ann", shell="/bin/sh\nx")]), "two lines of passwd"),
    ("debian", "os.users", system(users=[ospb.User(name="ann", sudo=["ALL=(ALL) ALL\\"])]), "joins two rules"),
    ("debian", "os.sysctls", system(sysctls=[ospb.Sysctl(name="net.ipv4.conf.*.rp_filter", value="1")]), "pattern"),
    (
        "debian",
        "os.kernel.modules",
        system(kernel_modules=[ospb.KernelModule(name="a", parameters=["x=1\\"])]),
        "joins two lines",
    ),
    (
        "debian",
        "os.hostname",
        system(
            hostname=ospb.Hostname(name=contentpb.MachineText(segments=[contentpb.TextSegment(extension=TEMPLATE)]))
        ),
        "foreign template",
    ),
    ("debian", "os.ntp", system(ntp=ospb.Ntp(servers=["*.example.com"])), "a pattern is no server"),
    ("flatcar", "os.packages", system(packages=ospb.Packages(upgrade=True)), "image based"),
    (
        "debian",
        "os.packages",
        system(packages=ospb.Packages(install=[ospb.Package(name="a/stable")])),
        "names a release, not a package",
    ),
    (
        "debian",
        "os.sysctls",
        system(
            sysctls=[ospb.Sysctl(name="vm.swappiness", value="0")],
            files=[
                ospb.File(
                    path="/etc/sysctl.d/99-zz-slipway.conf",
                    owner="root",
                    group="root",
                    mode=0o644,
                    content=literal(b""),
                )
            ],
        ),
        "",
    ),
    (
        "debian",
        "os.hostname",
        system(
            hostname=ospb.Hostname(name=contentpb.MachineText(value="a")),
            files=[ospb.File(path="/etc/hostname", owner="root", group="root", mode=0o644, content=literal(b"b"))],
        ),
        "two origins for one path",
    ),
]


@pytest.mark.parametrize(("distribution", "feature", "spec", "reason"), REFUSED)
def test_refusals_name_field_and_remedy(
    lower: LowerSystem, distribution: str, feature: str, spec: ospb.OperatingSystem, reason: str
) -> None:
    """What cannot be done is refused with its origin; a batch file takes a free name in place of a refusal."""
    done = lower(spec, distribution=distribution)
    if not reason:
        assert done.refusals == []
        assert "/etc/sysctl.d/99-zz-slipway-2.conf" in done.files
        return
    (refusal,) = done.result.refusals
    assert refusal.feature == feature, reason
    assert refusal.reason, reason
    assert refusal.remedy, reason
    if feature != "os.default_user.omit":
        assert refusal.origin.path.startswith(f"spec.{refusal.path.partition('[')[0]}"), reason


BOOT = [
    (planpb.Command(argv=["a"], reboot=True), "reboots"),
    (planpb.Command(script=literal(b"x"), interpreter=planpb.INTERPRETER_CMD), "interpreter"),
    (
        planpb.Command(
            script=contentpb.Content(
                segments=[
                    contentpb.Segment(fact=contentpb.MachineFact(kind=contentpb.FACT_KIND_REGION)),
                ]
            )
        ),
        "known only",
    ),
]


@pytest.mark.parametrize(("command", "words"), BOOT)
def test_boot_commands_that_can_not_be(lower: LowerSystem, command: planpb.Command, words: str) -> None:
    """One bad command is refused and the other ones are kept."""
    done = lower(boot=[command, planpb.Command(argv=["good"])])
    ((feature, reason),) = done.refusals
    assert feature == "os.commands.boot"
    assert words in reason
    assert done.text("/var/lib/slipway/boot/command") == "exec good\n"
    assert not done.draft.bundle.HasField("commands")


def test_optional_features_are_left_out(lower: LowerSystem) -> None:
    """A feature that the spec lists as optional is no reason to refuse."""
    spec = system(kernel_arguments=[ospb.KernelArgument(argument="quiet")], default_user=ospb.DEFAULT_USER_OMIT)
    done = lower(spec, optional_features=["os.kernel.arguments", "os.default_user.omit"])
    assert done.refusals == []
    assert [one.feature for one in done.result.omitted] == ["os.default_user.omit", "os.kernel.arguments"]
    assert not done.draft.bundle.os.HasField("default_user")


def test_keeping_the_default_user_needs_nobody(lower: LowerSystem) -> None:
    """It stays unless somebody takes it away."""
    done = lower(system(default_user=ospb.DEFAULT_USER_KEEP))
    assert done.refusals == []
    assert not done.draft.bundle.os.HasField("default_user")


MISSING = [
    ("packages", "os.packages", system(packages=ospb.Packages(upgrade=True))),
    ("accounts", "os.users", system(users=[ospb.User(name="ann")])),
    ("accounts", "os.groups", system(groups=[ospb.Group(name="ann")])),
    (
        "certificates",
        "os.trusted_certificates",
        system(trusted_certificates=[ospb.TrustedCertificate(name="a", certificate=literal(PEM.encode()))]),
    ),
    ("ntp", "os.ntp", system(ntp=ospb.Ntp(enabled=True))),
    ("containerd", "os.containerd", system(containerd=ospb.Containerd())),
    ("containerd", "os.proxy", system(proxy=ospb.Proxy(no_proxy=["a"]))),
    ("kubelet", "os.proxy", system(proxy=ospb.Proxy(no_proxy=["a"]))),
    ("time_zones", "os.time_zone", system(time_zone=ospb.TimeZone(name="UTC"))),
    ("filesystems", "os.storage.disks", disk()),
    ("filesystems", "os.storage.filesystems", filesystem()),
    ("systemd_directory", "os.systemd.units", unit(contents="[Service]\n")),
]


@pytest.mark.parametrize(("entry", "feature", "spec"), MISSING)
def test_a_missing_entry_of_the_profile_is_a_refusal(
    lower: LowerSystem, entry: str, feature: str, spec: ospb.OperatingSystem
) -> None:
    """No pass guesses what nobody has looked up."""
    assert lower(spec).refusals == []
    (refusal,) = lower(spec, without=entry).result.refusals
    assert refusal.feature == feature
    assert "target.distribution" in refusal.reason


def test_a_program_that_the_distribution_does_not_have(lower: LowerSystem) -> None:
    """Only what needs the program is refused; the other users are made."""
    users = [ospb.User(name="ann"), ospb.User(name="old", inactive=True)]
    accounts = {"programs": ["useradd", "usermod"], "administrators": "wheel"}
    done = lower(system(users=users), changes={"accounts": accounts})
    assert done.refusals == [("os.users", "the distribution has no chage")]
    assert "account ann" in done.scripts["30-users"]
    assert "old" not in done.scripts["30-users"]


@pytest.mark.parametrize(
    "written",
    [b"", b"no certificate", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"],
    ids=["nothing", "text", "no X.509"],
)
def test_a_certificate_that_is_none_is_a_refusal(lower: LowerSystem, written: bytes) -> None:
    """It is never left out: whatever holds no certificate is refused."""
    spec = system(trusted_certificates=[ospb.TrustedCertificate(name="a", certificate=literal(written))])
    (refusal,) = lower(spec).result.refusals
    assert refusal.feature == "os.trusted_certificates"


@pytest.mark.parametrize(
    "written",
    [
        PEM.replace("CERTIFICATE-----", "X509 CERTIFICATE-----").replace("X509 X509", "X509"),
        PEM.replace("CERTIFICATE-----\n", "CERTIFICATE-----", 1),
        PEM.replace("\n", "\r\n"),
    ],
    ids=["older label", "no line break after the label", "line breaks of Windows"],
)
def test_a_certificate_in_another_spelling_reaches_the_machine(lower: LowerSystem, written: str) -> None:
    """What passes the check of the spec is written for the programs of the machine, and never left out."""
    spec = system(trusted_certificates=[ospb.TrustedCertificate(name="a", certificate=literal(written.encode()))])
    lowered = lower(spec)
    assert lowered.result.refusals == []
    (path,) = [file.path for file in lowered.draft.bundle.os.files if "/a" in file.path]
    assert lowered.text(path) == PEM
