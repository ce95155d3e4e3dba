"""Membership in a domain on Linux: what is installed, written and run, and that no text is more than a text.

That machines become members is shown by tests/services/directory/test_real_members.py.
"""

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.bootstrapper.lowering.lowered_systems import LowerSystem
from tools.oracles import checkers
from tools.oracles.sandbox import File

PASSWORD = ospb.DIRECTORY_JOIN_METHOD_ONE_TIME_PASSWORD
KEYTAB = ospb.DIRECTORY_JOIN_METHOD_KEYTAB
BLOB = ospb.DIRECTORY_JOIN_METHOD_OFFLINE_BLOB
METHODS = [PASSWORD, KEYTAB, BLOB]
STATE = "/var/lib/slipway/directory"
JOIN = "95-directory"
INSTALL = "20-directory-packages"


def system(method: ospb.DirectoryJoinMethod.ValueType = PASSWORD, **login: Any) -> ospb.OperatingSystem:
    """Give a system that is a member."""
    membership = ospb.DirectoryMembership(
        domain="corp.example.com", method=method, computer_name="WORKER-1",
        secret_ref=secretpb.SecretReference(name="worker-1-directory", key="value"),
    )  # fmt: skip
    if login:
        membership.login.CopyFrom(ospb.DirectoryLogin(**login))
    return ospb.OperatingSystem(directory=membership)


PLACES = {PASSWORD: f"{STATE}/password", KEYTAB: "/etc/krb5.keytab", BLOB: f"{STATE}/blob"}


@pytest.mark.parametrize("method", METHODS)
def test_the_secret_is_a_reference_in_a_private_file(
    lower: LowerSystem, method: ospb.DirectoryJoinMethod.ValueType
) -> None:
    """No script holds it, and only root reads it."""
    done = lower(system(method))
    file = done.files[PLACES[method]]
    assert (file.mode, file.owner, file.group) == (0o600, "root", "root")
    assert [segment.secret_ref.name for segment in file.content.segments] == ["worker-1-directory"]
    assert "default_realm = CORP.EXAMPLE.COM\n" in done.text("/etc/krb5.conf")


def test_a_join_waits_for_the_domain_and_is_checked(lower: LowerSystem) -> None:
    """DNS, a controller that answers, both clocks; then the join, and whether it holds."""
    calls = [line for line in lower(system()).scripts[JOIN].splitlines() if line.startswith(("again ", "programs "))]
    assert calls == [
        "programs adcli ldapsearch",
        "again 30 reachable corp.example.com",
        f"again 3 join corp.example.com WORKER-1 worker-1.corp.example.com /etc/krb5.keytab {STATE}/password",
        "again 6 joined corp.example.com /etc/krb5.keytab",
    ]


def test_a_blob_needs_no_network(lower: LowerSystem) -> None:
    """Nothing is wanted for; a service makes the keys later."""
    done = lower(system(BLOB, users=["alice"]))
    script = done.scripts[JOIN]
    assert "adcli" not in script
    assert "reachable" not in script
    assert script.splitlines()[-1] == "systemctl start --no-block slipway-directory.service"
    assert f"login {STATE}/sssd.conf /etc/sssd/sssd.conf ''" in script
    assert "ConditionPathExists=!/etc/krb5.keytab" in done.text("/etc/systemd/system/slipway-directory.service")


def test_packages_are_installed_where_programs_are_missing(lower: LowerSystem) -> None:
    """Only what the method needs, and sssd for login alone."""
    assert "install --no-install-recommends adcli ldap-utils\n" in lower(system()).scripts[INSTALL]
    script = lower(system(BLOB, groups=["a"])).scripts[INSTALL]
    assert "install --no-install-recommends samba-common-bin sssd-ad libnss-sss libpam-sss\n" in script
    assert script.splitlines()[-1].startswith("lacking 'net sssd' env ")


@pytest.mark.parametrize("distribution", ["rhel", "centos", "rocky", "almalinux", "ol", "fedora", "amzn"])
def test_the_tools_of_red_hat_are_used(lower: LowerSystem, distribution: str) -> None:
    """Packages by dnf, then authselect for NSS and PAM, and oddjobd for home directories, before sssd starts."""
    done = lower(system(users=["alice"]), distribution=distribution)
    packages = "adcli openldap-clients sssd authselect oddjob oddjob-mkhomedir"
    assert f"dnf -y install {packages}\n" in done.scripts[INSTALL]
    calls = done.scripts[JOIN].splitlines()
    tools = ["authselect select sssd with-mkhomedir --force", "systemctl enable --now oddjobd.service"]
    at = calls.index(tools[0])
    assert calls[at : at + 2] == tools
    assert calls[at + 2].startswith("login ")
    assert "samba-common-tools" in lower(system(BLOB), distribution=distribution).scripts[INSTALL]


@pytest.mark.parametrize("distribution", ["sles", "opensuse-leap"])
def test_the_tools_of_suse_are_used(lower: LowerSystem, distribution: str) -> None:
    """Packages by zypper, pam-config for PAM, and an edit for NSS, which has no tool there; then sssd starts."""
    done = lower(system(users=["alice"]), distribution=distribution)
    assert "install adcli openldap2-client sssd sssd-ad pam-config\n" in done.scripts[INSTALL]
    calls = done.scripts[JOIN].splitlines()
    at = calls.index("pam-config --add --sss --mkhomedir")
    assert calls[at + 1].startswith("sed -i -E ")
    assert calls[at + 2].startswith("login ")
    assert "samba-client" in lower(system(BLOB), distribution=distribution).scripts[INSTALL]


NAMES = [
    ("passwd: compat\n", "passwd: compat sss\n", "the line of SLES"),
    ("group:  files systemd \n", "group:  files systemd sss\n", "more sources, and a blank at the end"),
    ("shadow:\tfiles sss\n", "shadow:\tfiles sss\n", "it is there already"),
    ("passwd: files sss systemd\n", "passwd: files sss systemd\n", "it is there, and not last"),
    ("# passwd: files\nhosts: files dns\n", "# passwd: files\nhosts: files dns\n", "other lines stay"),
]


@pytest.mark.parametrize(("before", "after", "reason"), NAMES)
def test_names_of_accounts_come_from_sssd_once(
    lower: LowerSystem, tmp_path: Path, before: str, after: str, reason: str
) -> None:
    """The call of the script adds sssd to what lists accounts; run again it changes nothing."""
    calls = lower(system(users=["alice"]), distribution="sles").scripts[JOIN].splitlines()
    (call,) = [shlex.split(line) for line in calls if line.startswith("sed ")]
    assert call[-1] == "/etc/nsswitch.conf"
    file = tmp_path / "nsswitch.conf"
    file.write_text(before)
    for _ in range(2):
        subprocess.run([*call[:-1], str(file)], check=True)
        assert file.read_text() == after, reason


@pytest.mark.parametrize("distribution", ["opensuse-microos", "sle-micro", "sl-micro", "fedora-coreos", "photon"])
def test_a_distribution_without_an_entry_is_refused(lower: LowerSystem, distribution: str) -> None:
    """What its packages and tools are is not guessed; an operator's profile may have it."""
    (refusal,) = lower(system(), distribution=distribution).result.refusals
    assert (refusal.feature, "no entry for os.directory" in refusal.reason) == ("os.directory", True)


def test_an_image_has_the_programs(lower: LowerSystem) -> None:
    """Nothing is installed there; a program that is missing is named."""
    profile = {"directory": {"kerberos": "/etc/krb5.conf"}, "image_based": True}
    done = lower(system(users=["a"]), distribution="flatcar", changes=profile)
    assert INSTALL not in done.scripts
    assert "programs adcli ldapsearch sssd" in done.scripts[JOIN].splitlines()


ACCESS = [
    ({"id_mapping": True}, "access_provider = deny", "no user was named"),
    ({"users": ["alice", "b c"]}, "access_provider = simple\nsimple_allow_users = alice, b c\n", "users"),
    ({"groups": ["Node Admins"]}, "access_provider = simple\nsimple_allow_groups = Node Admins\n", "groups"),
    ({"access_filter": "(a=%h)"}, "access_provider = ad\nad_access_filter = (a=%h)\n", "a filter"),
    ({"id_mapping": False}, "ldap_id_mapping = False\n", "the domain's own numbers"),
    ({"home": "/h/%u"}, "override_homedir = /h/%u\n", "a home"),
    ({"shell": "/bin/sh"}, "override_shell = /bin/sh\n", "a shell"),
]


@pytest.mark.parametrize(("login", "expected", "reason"), ACCESS)
def test_sssd_lets_in_whom_the_spec_names(
    lower: LowerSystem, login: dict[str, Any], expected: str, reason: str
) -> None:
    """One provider decides, and it is `deny` unless the spec names users."""
    done = lower(system(**login))
    text = done.text(f"{STATE}/sssd.conf")
    assert expected in text, reason
    assert text.count("access_provider") == 1
    assert done.files[f"{STATE}/sssd.conf"].mode == 0o600


def test_rules_for_sudo_name_accounts_of_the_domain(lower: LowerSystem) -> None:
    """A name with a blank is one name."""
    path = "/etc/sudoers.d/90-slipway-directory"
    done = lower(system(sudo_users=["alice"], sudo_groups=["Node Admins"]))
    assert done.text(path) == (
        "alice@corp.example.com ALL=(ALL:ALL) ALL\n%Node\\ Admins@corp.example.com ALL=(ALL:ALL) ALL\n"
    )
    assert done.files[path].mode == 0o440
    assert path not in lower(system(users=["alice"])).files


REFUSED = [
    (system(), "photon", "has no entry for os.directory", "its tools are not known"),
    (system(), "flatcar", "has no entry for os.directory", "an image that may not have the programs"),
    (
        ospb.OperatingSystem(
            directory=system(users=["a"]).directory, files=[ospb.File(path="/etc/sssd/sssd.conf", owner="root")]
        ),
        "debian",
        "a configuration of sssd of its own",
        "two would be one too many",
    ),
]


@pytest.mark.parametrize(("wanted", "distribution", "expected", "reason"), REFUSED)
def test_what_cannot_be_done_is_refused(
    lower: LowerSystem, wanted: ospb.OperatingSystem, distribution: str, expected: str, reason: str
) -> None:
    """By its feature, and with a remedy."""
    (refusal,) = lower(wanted, distribution=distribution).result.refusals
    assert refusal.feature == "os.directory", reason
    assert expected in refusal.reason, reason
    assert refusal.remedy


@pytest.mark.engine
@pytest.mark.parametrize("method", METHODS)
def test_scripts_are_posix_shell(
    lower: LowerSystem, method: ospb.DirectoryJoinMethod.ValueType, engine: Callable[..., None]
) -> None:
    """Dash reads them, shellcheck finds nothing, and systemd and sudo know the files."""
    engine("checkers")
    done = lower(system(method, users=["it's"], sudo_groups=["Node Admins"]))
    for name in (INSTALL, JOIN):
        assert checkers.dash(done.scripts[name].encode()) == [], name
        text = b"#!/bin/sh\n" + done.scripts[name].encode()
        assert [str(finding) for finding in checkers.shellcheck(text)] == [], name
    unit = "/etc/systemd/system/slipway-directory.service"
    if unit in done.files:
        files = {"/etc/krb5.keytab": File()}
        text = done.text(unit).encode()
        assert checkers.systemd_unit("slipway-directory.service", text, extra_files=files) == []
