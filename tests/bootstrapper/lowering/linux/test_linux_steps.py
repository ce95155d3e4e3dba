"""Tests of what single passes emit, where a machine would not show the difference."""

import shlex

import pytest

from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.contract.content import literal
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from tests.bootstrapper.lowering.lowered_systems import LowerSystem

FACT = contentpb.MachineFact(kind=contentpb.FACT_KIND_LOCAL_HOSTNAME)

PACKAGES = [
    ("debian", ospb.Packages(install=[ospb.Package(name="curl")]), ["update", "install"], "an install refreshes"),
    ("debian", ospb.Packages(install=[ospb.Package(name="curl")], update=False), ["install"], "unless told not to"),
    ("debian", ospb.Packages(upgrade=True), ["update", "dist-upgrade"], "an upgrade needs the index"),
    ("debian", ospb.Packages(update=True), ["update"], "the index alone"),
    ("rhel", ospb.Packages(upgrade=True), ["makecache", "upgrade"], "dnf"),
    ("photon", ospb.Packages(update=True), ["makecache"], "tdnf"),
    ("sles", ospb.Packages(update=True, upgrade=True), ["refresh", "update"], "zypper"),
]


@pytest.mark.parametrize(("distribution", "packages", "verbs", "reason"), PACKAGES)
def test_packages(
    lower: LowerSystem, distribution: str, packages: ospb.Packages, verbs: list[str], reason: str
) -> None:
    """Each package manager gets its own verbs, in the order update, upgrade, install."""
    done = lower(ospb.OperatingSystem(packages=packages), distribution=distribution)
    lines = done.scripts["20-packages"].splitlines()[1:]
    assert [next(word for word in line.split() if word in verbs) for line in lines] == verbs, reason


PINNED = [
    ("debian", "curl=8.1-2~deb", "apt"),
    ("rhel", "curl-8.1-2~deb", "dnf"),
    ("amzn", "curl-8.1-2~deb", "dnf"),
    ("opensuse-leap", "curl=8.1-2~deb", "zypper"),
]


@pytest.mark.parametrize(("distribution", "word", "reason"), PINNED)
def test_pinned_packages(lower: LowerSystem, distribution: str, word: str, reason: str) -> None:
    """Each package manager has its own way to write a version; nobody is asked anything."""
    packages = ospb.Packages(install=[ospb.Package(name="curl", version="8.1-2~deb")])
    script = lower(ospb.OperatingSystem(packages=packages), distribution=distribution).scripts["20-packages"]
    assert shlex.split(script)[-1] == word, reason
    assert "-y" in script.split() or "--non-interactive" in script, reason


TRUST = [
    ("debian", "/usr/local/share/ca-certificates/corp.crt", "update-ca-certificates"),
    ("rhel", "/etc/pki/ca-trust/source/anchors/corp.crt", "update-ca-trust extract"),
    ("fedora-coreos", "/etc/pki/ca-trust/source/anchors/corp.crt", "update-ca-trust extract"),
    ("flatcar", "/etc/ssl/certs/corp.pem", "update-ca-certificates"),
    ("sles", "/etc/pki/trust/anchors/corp.crt", "update-ca-certificates"),
    ("photon", "/etc/ssl/certs/corp.pem", "rehash_ca_certificates.sh"),
]


@pytest.mark.parametrize(("distribution", "path", "command"), TRUST)
def test_trust(lower: LowerSystem, distribution: str, path: str, command: str) -> None:
    """A certificate goes where the distribution looks; one behind a reference is not looked into."""
    content = contentpb.Content(segments=[contentpb.Segment(secret_ref={"name": "s", "key": "ca.crt"})])
    item = ospb.TrustedCertificate(name="corp", certificate=content)
    done = lower(ospb.OperatingSystem(trusted_certificates=[item]), distribution=distribution)
    assert list(done.files) == [path]
    assert done.files[path].content == content
    assert command in done.scripts["15-trusted-certificates"]


def test_a_name_that_is_a_fact_is_installed_before_it_is_set(lower: LowerSystem) -> None:
    """The runner fills the fact in; the step then reads the file."""
    name = contentpb.MachineText(segments=[contentpb.TextSegment(text="n-"), contentpb.TextSegment(fact=FACT)])
    done = lower(ospb.OperatingSystem(hostname=ospb.Hostname(name=name)))
    wave, step = done.prepared
    assert isinstance(wave, Wave)
    assert [segment.WhichOneof("value") for segment in wave.files[0].content.segments] == ["data", "fact", "data"]
    assert step.id == f"{Rank.HOSTNAME:02d}-hostname"
    assert not done.files


def test_a_declared_fact_stays_native(lower: LowerSystem) -> None:
    """A provisioner that fills facts in itself gets the file."""
    name = contentpb.MachineText(segments=[contentpb.TextSegment(fact=FACT)])
    own = ["os.files", "plan.entrypoint", "os.files.facts", "os.files.facts.local_hostname"]
    item = ospb.File(path="/a", owner="root", group="root", mode=0o644)
    item.content.segments.add(fact=FACT)
    done = lower(ospb.OperatingSystem(hostname=ospb.Hostname(name=name), files=[item]), declares=own)
    assert list(done.files) == ["/a"]


def test_root_is_no_user_that_files_wait_for(lower: LowerSystem) -> None:
    """Keys for root do not turn every file into a staged one."""
    spec = ospb.OperatingSystem(
        users=[ospb.User(name="root", ssh_authorized_keys=["ssh-ed25519 A"])],
        files=[ospb.File(path="/etc/a", owner="root", group="root", mode=0o644, content=literal(b"a"))],
    )
    done = lower(spec)
    assert list(done.files) == ["/etc/a"]
    assert done.draft.staged == []


def test_a_file_in_a_new_home_waits_for_the_user(lower: LowerSystem) -> None:
    """Written before, it would leave the home directory to root."""
    spec = ospb.OperatingSystem(
        users=[ospb.User(name="ann")],
        files=[ospb.File(path="/home/ann/a", owner="root", group="root", mode=0o644, content=literal(b"a"))],
    )
    done = lower(spec)
    assert not done.files
    assert [staged.entry.path for staged in done.draft.staged] == ["/home/ann/a"]


def test_a_linked_folder_stands_before_its_files(lower: LowerSystem) -> None:
    """Made after them, the link would find a folder in its place."""
    spec = ospb.OperatingSystem(
        links=[ospb.Link(path="/opt/a", target="/srv", owner="root", group="root")],
        files=[ospb.File(path="/opt/a/f", append=True, owner="root", group="root", mode=0o644, content=literal(b"a"))],
    )
    first, second = lower(spec).prepared
    assert isinstance(first, Wave)
    assert isinstance(second, Wave)
    assert [link.path for link in first.links] == ["/opt/a"]
    assert [file.path for file in second.files] == ["/opt/a/f"]


def test_image_based_systems_read_keys_from_fragments(lower: LowerSystem) -> None:
    """Flatcar and Fedora CoreOS put keys together from a folder."""
    spec = ospb.OperatingSystem(users=[ospb.User(name="core", ssh_authorized_keys=["ssh-ed25519 A"])])
    script = lower(spec, distribution="flatcar").scripts["30-users"]
    assert "keys core 'authorized_keys authorized_keys.d/slipway' 'ssh-ed25519 A'" in script
    assert "keys core authorized_keys 'ssh-ed25519 A'" in lower(spec).scripts["30-users"]


def test_only_called_functions_are_sent(lower: LowerSystem) -> None:
    """A user without password, keys and rules costs no byte for them."""
    script = lower(ospb.OperatingSystem(users=[ospb.User(name="ann")])).scripts["30-users"]
    assert "account()" in script
    assert "chpasswd" not in script
    assert "authorized_keys" not in script


def test_time_synchronisation_can_be_turned_off(lower: LowerSystem) -> None:
    """Set to false means stopped, now and later, whichever program the image has."""
    script = lower(ospb.OperatingSystem(ntp=ospb.Ntp(enabled=False))).scripts["80-ntp"]
    assert script.splitlines()[-2:] == [
        "off /usr/sbin/chronyd chrony.service",
        "off /lib/systemd/systemd-timesyncd systemd-timesyncd.service",
    ]


def test_chrony_gets_a_whole_configuration(lower: LowerSystem) -> None:
    """Its own file has the distribution's servers, which the spec replaces."""
    ntp = ospb.Ntp(servers=["192.0.2.1", "[2001:db8::1]"], pools=["pool.example.com"])
    script = lower(ospb.OperatingSystem(ntp=ntp), distribution="rhel").scripts["80-ntp"]
    assert "pool pool.example.com iburst\nserver 192.0.2.1 iburst\nserver 2001:db8::1 iburst\ndriftfile" in script
    assert "client /usr/sbin/chronyd chronyd.service /etc/chrony.conf" in script


def test_ntp_without_servers_keeps_the_distributions(lower: LowerSystem) -> None:
    """Only the service is turned on."""
    script = lower(ospb.OperatingSystem(ntp=ospb.Ntp(enabled=True)), distribution="rhel").scripts["80-ntp"]
    assert script.splitlines()[-2:] == ["client /usr/sbin/chronyd chronyd.service /etc/chrony.conf ''", "found"]


INSTALL = "[Install]\nWantedBy=multi-user.target\n"
INSTANCE = f"{INSTALL}DefaultInstance=1\n"
UNITS = [
    (ospb.SystemdUnit(name="a.service", enabled=True), ["enable", "start"], "it runs unchanged"),
    (ospb.SystemdUnit(name="a.service", enabled=True, contents=INSTALL), ["enable", "restart"], "it may run already"),
    (ospb.SystemdUnit(name="a.timer", enabled=True, contents=INSTALL), ["enable", "start"], "only services restart"),
    (ospb.SystemdUnit(name="a@.service", enabled=True, contents=INSTANCE), ["enable"], "a template cannot run"),
    (ospb.SystemdUnit(name="a.service", contents="x"), ["try-restart"], "as the image has it"),
    (ospb.SystemdUnit(name="a.timer", contents="x"), [], "as the image has it"),
    (ospb.SystemdUnit(name="a.service", enabled=False), ["disable", "stop"], "not on this boot either"),
    (ospb.SystemdUnit(name="a.service", masked=True), ["mask", "stop"], "not at all"),
    (ospb.SystemdUnit(name="a.service", masked=False), ["unmask"], "possible again"),
]


@pytest.mark.parametrize(("unit", "verbs", "reason"), UNITS)
def test_unit_verbs(lower: LowerSystem, unit: ospb.SystemdUnit, verbs: list[str], reason: str) -> None:
    """What is asked of systemd for a unit, after it has read the unit files."""
    script = lower(ospb.OperatingSystem(systemd_units=[unit])).scripts["85-systemd-units"]
    calls = [line.split() for line in script.splitlines() if "systemctl " in line]
    assert [words[words.index("systemctl") + 1] for words in calls] == ["daemon-reload", *verbs], reason
    assert all(words[0] == "settle" for words in calls if words[-2] in {"start", "restart", "stop", "try-restart"})
