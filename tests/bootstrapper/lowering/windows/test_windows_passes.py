"""Tests of the passes for Windows: what they emit, what PowerShell's grammar says of it, and what is refused."""

import tomllib
from collections.abc import Callable

import pytest

from slipway.bootstrapper.lowering.windows.powershell import quoted
from slipway.contract.content import SecretIndex, content_bytes, literal
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.bootstrapper.lowering.lowered_systems import Lowered, LowerSystem
from tests.bootstrapper.lowering.specs import PEM as CERTIFICATE
from tools.oracles import windows

PEM = CERTIFICATE.encode()
REFERENCE = secretpb.SecretReference(name="team", key="password")
PROXY = ospb.Proxy(http_proxy="http://u:p%40w'$x@h:1", no_proxy=["10.0.0.0/8", ".svc"])


def full_spec() -> ospb.OperatingSystem:
    """Give a system with everything that Windows can be."""
    registry = ospb.Registry(
        host="registry.example.com:5000",
        endpoints=[ospb.RegistryEndpoint(url="https://mirror.example.com", ca=literal(PEM))],
        credentials=ospb.RegistryCredentials(username="u", password=secretpb.SecretValue(secret_ref=REFERENCE)),
    )
    return ospb.OperatingSystem(
        groups=[ospb.Group(name="Team")],
        users=[
            ospb.User(
                name="Ann",
                gecos="Ann's \u2018$full\u2019 name",
                groups=["Team", "administrators"],
                ssh_authorized_keys=["ssh-ed25519 AAAA ann's $(key)"],
                inactive=True,
            )
        ],
        files=[
            ospb.File(path="C:/app/a b.txt", append=True, owner="root", group="root", mode=0o600, content=literal(b"a"))
        ],
        directories=[ospb.Directory(path="C:\\data", owner="Ann", group="Team", mode=0o755)],
        links=[ospb.Link(path="C:\\link", target="C:\\data")],
        hostname=ospb.Hostname(name=contentpb.MachineText(value="win-1")),
        ntp=ospb.Ntp(servers=["192.0.2.1"], pools=["pool.example.com"]),
        time_zone=ospb.TimeZone(name="Europe/Berlin"),
        proxy=PROXY,
        trusted_certificates=[ospb.TrustedCertificate(name="corp", certificate=literal(PEM + PEM))],
        containerd=ospb.Containerd(registries=[registry], sandbox_image="r.example.com/pause:3", proxy=PROXY),
    )


@pytest.fixture(scope="module")
def full(lower: LowerSystem) -> Lowered:
    """The full spec, lowered."""
    return lower(full_spec(), distribution="windows")


def test_everything_is_lowered(full: Lowered) -> None:
    """In an order in which each step finds what it needs."""
    assert full.refusals == []
    assert [step.id for step in full.prepared] == [
        "10-hostname",
        "15-trusted-certificate",
        "15-trusted-certificate-1",
        "25-groups",
        "30-users",
        "55-install",
        "75-time-zone",
        "80-ntp",
        "85-proxy",
        "90-containerd",
    ]
    assert next(step.command.reboot for step in full.prepared if isinstance(step, planpb.Step))


@pytest.mark.engine
def test_scripts_are_powershell(full: Lowered, engine: Callable[..., None]) -> None:
    """The grammar finds nothing wrong, whatever quotes are in a value."""
    engine("windows")
    for step in full.prepared:
        if isinstance(step, planpb.Step) and step.command.HasField("script"):
            assert windows.check_powershell(content_bytes(step.command.script, SecretIndex([]))) == [], step.id


def test_users_have_passwords_that_nobody_knows(full: Lowered) -> None:
    """The script draws one; keys of administrators go where OpenSSH looks for them."""
    script = full.scripts["30-users"]
    calls = [line for line in script.splitlines() if line.startswith(("Set-User ", "Add-Member ", "Add-Key "))]
    assert calls == [
        "Set-User 'Ann' 'Ann''s \u2018\u2018$full\u2019\u2019 name' 'x'",
        "Add-Member 'Team' 'Ann'",
        "Add-Member 'administrators' 'Ann'",
        "Add-Key 'ssh-ed25519 AAAA ann''s $(key)'",
    ]
    assert "RandomNumberGenerator" in script


def test_system_settings(full: Lowered) -> None:
    """Names that Windows has for what the spec says."""
    assert full.scripts["75-time-zone"] == "tzutil.exe /s 'W. Europe Standard Time'"
    assert full.scripts["80-ntp"].splitlines()[-1] == "Start-Ntp 'w32time' '192.0.2.1,0x8 pool.example.com,0x8'"
    path = "C:\\ProgramData\\slipway\\certificates\\corp-2.pem"
    assert full.scripts["15-trusted-certificate-1"] == f"certutil.exe -f -addstore Root '{path}'"
    assert full.text(path).encode() == PEM


def test_containerd_has_its_own_folders(full: Lowered) -> None:
    """A colon cannot stand in a folder's name; control groups and runc are Linux's."""
    root = "C:\\Program Files\\containerd"
    secrets = SecretIndex([secretpb.Secret(name="team", key="password", value=b"secret")])
    tree = tomllib.loads(full.text(f"{root}\\config.toml", secrets))
    plugin = tree["plugins"]["io.containerd.grpc.v1.cri"]
    assert plugin["registry"]["config_path"] == f"{root}\\certs.d"
    assert plugin["registry"]["configs"]["registry.example.com:5000"]["auth"]["password"] == "secret"
    assert "containerd" not in plugin
    assert f"{root}\\certs.d\\registry.example.com_5000_\\hosts.toml" in full.files
    assert full.files[f"{root}\\config.toml"].mode == 0o600


def membership(method: ospb.DirectoryJoinMethod.ValueType, **fields: object) -> ospb.OperatingSystem:
    """Give a system that is a member of a domain."""
    directory = ospb.DirectoryMembership(
        domain="corp.example.com", method=method, computer_name="WIN-1", secret_ref=REFERENCE
    )
    if "login" in fields:
        directory.login.users.append("alice")
    name = str(fields.get("hostname", ""))
    return ospb.OperatingSystem(
        directory=directory, hostname=ospb.Hostname(name=contentpb.MachineText(value=name)) if name else None
    )


@pytest.mark.engine
def test_a_blob_joins_and_the_reboot_is_survived(lower: LowerSystem, engine: Callable[..., None]) -> None:
    """Windows' own program takes it over; behind the reboot the membership is checked, and the blob removed."""
    engine("windows")
    done = lower(membership(ospb.DIRECTORY_JOIN_METHOD_OFFLINE_BLOB, hostname="win-1"), distribution="windows")
    blob = "C:\\ProgramData\\slipway\\directory.blob"
    assert done.refusals == []
    assert done.files[blob].mode == 0o600
    assert done.files[blob].content.segments[0].secret_ref == REFERENCE
    first, second = (step for step in done.prepared if isinstance(step, planpb.Step) and "directory" in step.id)
    assert (first.command.reboot, second.command.reboot) == (True, False)
    for step in (first, second):
        assert windows.check_powershell(content_bytes(step.command.script, SecretIndex([]))) == []
    assert "djoin.exe /requestODJ /loadFile $Blob /windowsPath $env:SystemRoot /localOS" in done.scripts[first.id]
    assert done.scripts[first.id].splitlines()[-1] == f"Join-Directory 'corp.example.com' '{blob}'"
    assert done.scripts[second.id].splitlines()[-1] == f"Confirm-Directory 'corp.example.com' 'WIN-1' '{blob}'"


def test_other_memberships_are_refused_by_field(lower: LowerSystem) -> None:
    """Windows has one way to join without an account, and policies of its own for login."""
    method = ospb.DIRECTORY_JOIN_METHOD_ONE_TIME_PASSWORD
    done = lower(membership(method, login=True, hostname="other"), distribution="windows")
    reasons = [reason for feature, reason in done.refusals if feature.startswith("os.directory")]
    assert len(reasons) == 3
    assert any("by the blob" in reason for reason in reasons)
    assert any("policies" in reason for reason in reasons)
    assert any("os.hostname is another" in reason for reason in reasons)


def test_ntp_can_be_turned_off(lower: LowerSystem) -> None:
    """Set to false means stopped, now and later."""
    done = lower(ospb.OperatingSystem(ntp=ospb.Ntp(enabled=False)), distribution="windows")
    assert done.scripts["80-ntp"].splitlines()[-1] == "Stop-Ntp 'w32time'"


QUOTES = [
    ("", "''", "an empty word is a word"),
    ("it's", "'it''s'", "a quote is doubled"),
    ("\u2019;calc\u201a", "'\u2019\u2019;calc\u201a\u201a'", "PowerShell takes these for quotes, too"),
    ('$x `t "y"\n', "'$x `t \"y\"\n'", "nothing else has a meaning"),
]


@pytest.mark.parametrize(("text", "expected", "reason"), QUOTES)
def test_quoting(text: str, expected: str, reason: str) -> None:
    """A value cannot leave its quotes."""
    assert quoted(text) == expected, reason


def user(**fields: object) -> ospb.OperatingSystem:
    """Make a system with a user."""
    return ospb.OperatingSystem(users=[ospb.User(**{"name": "Ann", **fields})])


def hostname(name: contentpb.MachineText) -> ospb.OperatingSystem:
    """Make a system with a name."""
    return ospb.OperatingSystem(hostname=ospb.Hostname(name=name))


FACT = contentpb.TextSegment(fact=contentpb.MachineFact(kind=contentpb.FACT_KIND_INSTANCE_ID))
REFUSED = [
    ("os.sysctls", ospb.OperatingSystem(sysctls=[ospb.Sysctl(name="a.b", value="1")]), "Linux only"),
    ("os.kernel.modules", ospb.OperatingSystem(kernel_modules=[ospb.KernelModule(name="a")]), "Linux only"),
    ("os.systemd.units", ospb.OperatingSystem(systemd_units=[ospb.SystemdUnit(name="a.service")]), "Linux only"),
    ("os.storage.mounts", ospb.OperatingSystem(mounts=[ospb.Mount(source="a", path="/b")]), "Linux only"),
    ("os.storage.swap", ospb.OperatingSystem(swaps=[ospb.Swap(path="/b", size_mib=1)]), "Linux only"),
    ("os.storage.disks", ospb.OperatingSystem(disks=[ospb.Disk(device="/dev/sda")]), "not lowered"),
    ("os.packages", ospb.OperatingSystem(packages=ospb.Packages(update=True)), "no package manager"),
    (
        "os.containerd",
        ospb.OperatingSystem(containerd=ospb.Containerd(cgroup_driver=ospb.CGROUP_DRIVER_SYSTEMD)),
        "no control groups",
    ),
    ("os.users", user(uid=5), "no numbers"),
    ("os.users", user(sudo=["ALL"]), "no sudo"),
    ("os.users", user(shell="/bin/sh"), "no login shell"),
    ("os.users", user(password_hash=secretpb.SecretValue(secret_ref=REFERENCE)), "no crypt(3)"),
    ("os.users", user(ssh_authorized_keys=["k"]), "no home before the first login"),
    ("os.users", user(name="a" * 21), "at most 20"),
    ("os.groups", ospb.OperatingSystem(groups=[ospb.Group(name="Team", gid=5)]), "no numbers"),
    ("os.hostname", hostname(contentpb.MachineText(value="a.example.com")), "no dots"),
    ("os.hostname", hostname(contentpb.MachineText(value="a" * 16)), "NetBIOS has 15"),
    ("os.hostname", hostname(contentpb.MachineText(segments=[FACT])), "known too late"),
    ("os.time_zone", ospb.OperatingSystem(time_zone=ospb.TimeZone(name="Mars/Olympus")), "nobody has recorded it"),
    (
        "os.files",
        ospb.OperatingSystem(files=[ospb.File(path="/etc/a", append=True, owner="root", group="root")]),
        "a path of Linux",
    ),
    (
        "os.files",
        ospb.OperatingSystem(
            files=[
                ospb.File(
                    path="C:\\a",
                    owner="root",
                    group="root",
                    remote=ospb.RemoteContent(urls=["https://a"], ca=contentpb.Content(data=b"pem")),
                )
            ]
        ),
        "a download trusts what the system does",
    ),
]


@pytest.mark.parametrize(("feature", "spec", "reason"), REFUSED)
def test_what_windows_has_no_notion_of(
    lower: LowerSystem, feature: str, spec: ospb.OperatingSystem, reason: str
) -> None:
    """It is refused, with its place and a remedy."""
    (refusal,) = lower(spec, distribution="windows").result.refusals
    assert refusal.feature == feature, reason
    assert refusal.remedy, reason
    assert refusal.origin.path.startswith("spec.os."), reason


def test_boot_commands_are_refused(lower: LowerSystem) -> None:
    """Windows has nothing as early."""
    (refusal,) = lower(boot=[planpb.Command(argv=["a"])], distribution="windows").result.refusals
    assert refusal.feature == "os.commands.boot"
    assert refusal.remedy
