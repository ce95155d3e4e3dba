"""Machines join a real domain at their first boot, by the user data that we make, and by nothing else."""

import gzip
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.services.directory import members
from tests.services.directory.real_domain import PASSWORD, Domain
from tools.oracles import directory
from tools.oracles.sandbox import File

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("directory"), pytest.mark.timeout(600)]

DOMAIN = directory.DOMAIN
USERS = {"alice": "Passw0rd-Alice1", "bob": "Passw0rd-Bob11"}
LOGIN = {"users": ["alice"], "sudoGroups": ["Node Admins"]}
JOINED = f"adcli testjoin --domain={DOMAIN}"
SLEEP = File(b"#!/bin/sh\nexec /usr/bin/sleep 1\n", 0o755)
# Behind the keys that the machine of a blob makes once it reaches its domain.
LATER = """\
[Unit]
After=slipway-directory.service
[Service]
Type=oneshot
ExecStart=/bin/sh /root/later.sh
[Install]
WantedBy=multi-user.target
"""
LATER_SCRIPT = f"""\
exec >/root/later 2>&1
n=0
until id alice@{DOMAIN} || [ $n = 60 ]; do n=$((n+1)); /usr/bin/sleep 1; done
klist -k
adcli testjoin --domain={DOMAIN}
"""


@pytest.fixture(scope="module")
def people(domain: Domain, engine: Callable[..., None]) -> Domain:
    """The domain with two users and a group of one of them."""
    engine("root-member")
    engine("ignition")
    for name, password in USERS.items():
        domain.succeed("samba-tool", "user", "create", name, password)
    domain.succeed("samba-tool", "group", "add", "Node Admins")
    domain.succeed("samba-tool", "group", "addmembers", "Node Admins", "alice")
    return domain


def checks(computer: str) -> list[str]:
    """Give commands that show what a member is and whom it lets in."""
    return [
        JOINED,
        f"kinit -k '{computer}$' && klist",
        "stat -c '%n %a %U' /etc/krb5.keytab",
        f"id alice@{DOMAIN}; id bob@{DOMAIN}",
        f"sssctl user-checks alice@{DOMAIN} -a acct",
        f"sssctl user-checks bob@{DOMAIN} -a acct",
        f"sudo -l -U alice@{DOMAIN}; sudo -l -U bob@{DOMAIN}",
    ]


def assert_member(member: members.Member, computer: str) -> None:
    """Check what those commands printed."""
    text = member.checks
    assert member.failure == ""
    assert f"Sucessfully validated join to domain {DOMAIN}" in text
    assert f"Default principal: {computer}$@{directory.REALM}" in text
    assert "/etc/krb5.keytab 600 root" in text
    assert f"(alice@{DOMAIN})" in text
    assert f"(bob@{DOMAIN})" in text
    alice, bob = text.partition("user-checks alice")[2].split("user-checks bob")
    assert "pam_acct_mgmt: Success" in alice
    assert "pam_acct_mgmt: Permission denied" in bob
    assert "(ALL : ALL) ALL" in text
    assert f"User bob@{DOMAIN} is not allowed to run sudo" in text
    units = {unit for unit in member.boot.failed_units if unit.startswith(("sssd", "slipway"))}
    assert units == set()


@pytest.mark.parametrize("provisioner", ["cloud-init", "ignition"])
async def test_a_machine_joins_by_its_one_time_password(people: Domain, provisioner: str) -> None:
    """It is a member with keys of its own, knows users, and lets in those alone who may; the password is used up."""
    name = f"otp-{provisioner}"
    secret = people.preset(name)
    computer, password = secret["computer-name"].decode(), secret["one-time-password"]
    membership = {"method": "OneTimePassword", "login": LOGIN}
    data = await members.user_data(members.question(name, membership, password, *checks(computer)), provisioner)
    with members.booted(data, provisioner, neighbour=people.controller.process) as member:
        assert_member(member, computer)
        assert not (member.machine.box.upper / "var/lib/slipway/directory/password").exists()
        assert_no_secret_of_others(data, member, people)
        events = member.text("/var/lib/slipway/events.jsonl") + member.boot.journal
        assert password.decode() not in events
    if provisioner == "cloud-init":
        with members.booted(data, neighbour=people.controller.process) as copy:
            assert copy.reasons == {"DirectoryCredentialsInvalid"}, copy.failure
            assert "Preauthentication failed" in copy.failure
        renewed = people.preset(name, "--renew")["one-time-password"]
        again = await members.user_data(members.question(name, membership, renewed, *checks(computer)), provisioner)
        with members.booted(again, neighbour=people.controller.process) as rebuilt:
            assert_member(rebuilt, computer)


def assert_no_secret_of_others(data: bytes, member: members.Member, domain: Domain) -> None:
    """Neither the delegated account's password nor an administrator's is in user data, log or state."""
    log = (domain.controller.scratch / "samba.log").read_bytes()
    texts = [gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data, member.boot.journal.encode(), log]
    folders = ("var/lib", "var/log", "etc", "root")
    for folder in folders:
        files = (file for file in sorted((member.machine.box.upper / folder).rglob("*")) if file.is_file())
        texts += [file.read_bytes() for file in files if not file.is_symlink()]
    for secret in (PASSWORD, directory.ADMINISTRATOR_PASSWORD):
        assert not any(secret.encode() in text for text in texts)


@pytest.mark.parametrize("provisioner", ["cloud-init", "ignition"])
async def test_a_machine_has_a_keytab(people: Domain, provisioner: str) -> None:
    """The keys of its account, made elsewhere, make it a member."""
    name = f"kt-{provisioner}"
    secret = people.preset(name)
    computer = secret["computer-name"].decode()
    assert people.join(computer, secret["one-time-password"].decode()).returncode == 0
    keytab = (people.controller.scratch / f"upper/root/{computer}.keytab").read_bytes()
    membership = {"method": "Keytab", "login": LOGIN}
    data = await members.user_data(members.question(name, membership, keytab, *checks(computer)), provisioner)
    with members.booted(data, provisioner, neighbour=people.controller.process) as member:
        assert_member(member, computer)


@pytest.mark.parametrize("provisioner", ["cloud-init", "ignition"])
async def test_a_machine_joins_by_a_blob_without_a_network(people: Domain, provisioner: str) -> None:
    """It is bootstrapped at once; once it reaches its domain it makes its keys, and knows users."""
    name = f"blob-{provisioner}"
    secret = people.preset(name, kind="blob")
    computer = secret["computer-name"].decode()
    commands = ["ip address", "ls /etc/krb5*", "systemctl enable later.service"]
    made = members.question(name, {"method": "OfflineBlob", "login": LOGIN}, secret["blob"], *commands)
    data = await members.user_data(made, provisioner)
    later = {"/etc/systemd/system/later.service": File(LATER.encode()), "/root/later.sh": File(LATER_SCRIPT.encode())}
    with members.booted(data, provisioner, neighbour=0, extra=later) as member:
        assert member.failure == ""
        assert "10.77.0" not in member.checks
        assert "krb5.keytab" not in member.checks
        assert "workgroup = CORP\n" in member.text("/etc/samba/smb.conf")
        assert not (member.machine.box.upper / "var/lib/slipway/directory/blob").exists()
        member.machine.box.neighbour = people.controller.process
        member.machine.boot_under_systemd(timeout=240.0)
        printed = member.text("/root/later")
        assert f"(alice@{DOMAIN})" in printed
        assert f"{computer}$@{directory.REALM}" in printed
        assert "Sucessfully validated join" in printed


SKEWED = File(b'#!/bin/sh\nexec faketime -f +600s /usr/bin/date "$@"\n', 0o755)
FAILURES = [
    ("wrong-pass", {}, "DirectoryCredentialsInvalid", "Preauthentication failed", "a wrong password"),
    ("no-account", {}, "DirectoryCredentialsInvalid", "not found in Kerberos database", "no account of that name"),
    ("dns-wrong", {"name_server": "127.0.0.9"}, "DirectoryNotFound", "DNS knows no", "a name server that is none"),
    (
        "skewed",
        {"extra": {"/usr/local/bin/date": SKEWED}},
        "DirectoryClockSkew",
        "differs by",
        "a clock 10 minutes ahead",
    ),
]


@pytest.mark.parametrize(("name", "options", "reason", "text", "what"), FAILURES)
async def test_what_fails_has_a_reason(  # noqa: PLR0913, PLR0917  # the columns of a table
    people: Domain, name: str, options: dict[str, object], reason: str, text: str, what: str
) -> None:
    """The bootstrap ends before the machine becomes a node, and the diagnosis knows why."""
    password = b"Abcdefghij0123456789" if name == "no-account" else people.preset(name)["one-time-password"]
    if name == "wrong-pass":
        password = password[::-1]
    data = await members.user_data(members.question(name, {"method": "OneTimePassword"}, password), "cloud-init")
    with members.booted(data, neighbour=people.controller.process, **options) as member:  # type: ignore[arg-type]
        assert member.checks == "", what
        assert text in member.failure, what
        assert member.reasons == {reason}, what
        assert password.decode() not in member.failure + member.boot.journal


async def test_a_controller_that_comes_back_is_waited_for(people: Domain) -> None:
    """It stands still while the machine boots, and goes on while the machine still tries."""
    name = "patient"
    secret = people.preset(name)
    made = members.question(
        name, {"method": "OneTimePassword"}, secret["one-time-password"], f"adcli testjoin -D {DOMAIN}"
    )
    data = await members.user_data(made, "cloud-init")
    with (
        stopped(people.controller.process, seconds=30.0) as ended,
        members.booted(data, neighbour=people.controller.process, extra={"/usr/local/bin/sleep": SLEEP}) as member,
    ):
        assert member.failure == ""
        assert "Sucessfully validated join" in member.checks
        joined = (member.machine.box.upper / "etc/krb5.keytab").stat().st_mtime
        assert joined > ended[0]


@contextmanager
def stopped(process: int, *, seconds: float) -> Iterator[list[float]]:
    """Stop the controller's processes for a while; give when they went on, once they have."""
    ended: list[float] = []
    processes = descendants(process)

    def go_on() -> None:
        ended.append(time.time())
        for process_id in processes:
            os.kill(process_id, signal.SIGCONT)

    for process_id in processes:
        os.kill(process_id, signal.SIGSTOP)
    timer = threading.Timer(seconds, go_on)
    timer.start()
    try:
        yield ended
    finally:
        timer.cancel()
        timer.join()
        if not ended:
            go_on()


def descendants(process: int) -> list[int]:
    """Give the processes below one."""
    text = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    children = [int(word) for word in text.split()]
    return children + [each for child in children for each in descendants(child)]
