"""`slipway directory` in a real domain: an account with delegated rights makes, renews and removes computers."""

import base64
import json

import pytest

from slipway.diagnosis.diagnosis import diagnose
from slipway.diagnosis.log_files import Log
from tests.services.directory.real_domain import NODES, PARTITION, PASSWORD, ROOT, Domain
from tools.oracles import directory

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("directory"), pytest.mark.timeout(1800)]


def test_a_machine_joins_once_with_its_password_alone(domain: Domain) -> None:
    """The delegated account makes an object that adcli joins; the password is of no use afterwards."""
    secret = domain.preset("worker-1")
    password = secret["one-time-password"].decode()
    assert secret == {
        "computer-name": b"WORKER-1", "domain": directory.DOMAIN.encode(), "one-time-password": password.encode(),
    }  # fmt: skip
    made = domain.show("WORKER-1")
    assert made["distinguishedName"] == f"CN=WORKER-1,{NODES}"
    assert made["description"] == "slipway owner=management-1 machine=clusters/worker-1"
    assert made["userAccountControl"] == "4096"

    joined = domain.join("WORKER-1", password)
    assert joined.returncode == 0, joined.stdout
    domain.succeed("adcli", "testjoin", f"--domain-controller={directory.HOST}", "--host-keytab=/root/WORKER-1.keytab")
    domain.succeed("kinit", "-c", "/root/cache", "-k", "-t", "/root/WORKER-1.keytab", "WORKER-1$")

    replayed = domain.join("WORKER-1", password)
    assert replayed.returncode == 3
    assert b"Preauthentication failed" in replayed.stdout


@pytest.mark.parametrize(
    ("name", "attribute", "value"),
    [
        ("expired", "accountExpires", "132223104000000000"),  # 2020-01-01
        ("disabled", "userAccountControl", "4098"),
    ],
)
def test_an_account_that_has_ended_joins_nothing(domain: Domain, name: str, attribute: str, value: str) -> None:
    """The password that was made for it is refused, and the diagnosis has a reason of its own for that."""
    password = domain.preset(name)["one-time-password"].decode()
    domain.change(f"dn: CN={name.upper()},{NODES}\nchangetype: modify\nreplace: {attribute}\n{attribute}: {value}\n")
    joined = domain.join(name.upper(), password)
    assert joined.returncode == 3
    printed = f"directory: {joined.stdout.decode()}"
    assert {finding.rule.reason for finding in diagnose([Log("failure", printed)]).findings} == {
        "DirectoryAccountLocked"
    }


def test_a_password_has_no_end_of_its_own(domain: Domain) -> None:
    """Those of computers do not expire: an account that was made joins until it ends, or is removed."""
    password = domain.preset("late")["one-time-password"].decode()
    domain.change(f"dn: CN=LATE,{NODES}\nchangetype: modify\nreplace: pwdLastSet\npwdLastSet: 0\n")
    joined = domain.join("LATE", password)
    assert joined.returncode == 0, joined.stdout


def test_an_object_is_renewed_only_on_request(domain: Domain) -> None:
    """Without --renew nothing changes; with it the new password joins and the old one no longer does."""
    first = domain.preset("renewed")["one-time-password"].decode()
    before = domain.show("RENEWED")
    assert domain.refusal("renewed") == "ComputerExists"
    assert domain.show("RENEWED") == before
    second = domain.preset("renewed", "--renew", user="second")["one-time-password"].decode()
    assert domain.show("RENEWED")["objectGUID"] == before["objectGUID"]
    assert domain.join("RENEWED", first).returncode == 3
    joined = domain.join("RENEWED", second)
    assert joined.returncode == 0, joined.stdout


def test_what_is_not_ours_is_never_changed(domain: Domain) -> None:
    """Objects of people, of another owner, of another Machine, and the domain controller itself stay as they are."""
    domain.change(f"dn: CN=BYHAND,{NODES}\nobjectClass: computer\nsAMAccountName: BYHAND$\n", program="ldbadd")
    domain.preset("shared")
    names = ("BYHAND", "SHARED", "DC1")
    before = [domain.show(name) for name in names]
    assert domain.refusal("byhand", "--renew") == "ComputerNotOwned"
    assert domain.refusal("dc1", "--renew") == "ComputerNotOwned"
    assert domain.refusal("shared", "--renew", OWNER="management-2") == "ComputerNotOwned"
    assert domain.refusal("shared", "-n", "elsewhere", "--renew") == "ComputerNotOwned"
    assert domain.refusal("shared", "-n", "elsewhere", "--renew", kind="blob") == "ComputerNotOwned"
    assert [domain.show(name) for name in names] == before


def test_an_object_that_was_moved_out_of_the_base_is_never_changed(domain: Domain) -> None:
    """Its mark alone does not make it ours."""
    mark = "slipway owner=management-1 machine=clusters/moved"
    text = f"dn: CN=MOVED,CN=Computers,{ROOT}\nobjectClass: computer\nsAMAccountName: MOVED$\ndescription: {mark}\n"
    domain.change(text, program="ldbadd")
    before = domain.show("MOVED")
    assert domain.refusal("moved", "--renew") == "ComputerNotOwned"
    done = domain.slipway("cleanup", "--machine", "moved", "-n", "clusters", "--apply")
    assert done.returncode == 0
    assert domain.show("MOVED") == before


@pytest.mark.parametrize(
    ("user", "password", "reason"),
    [
        ("Administrator", directory.ADMINISTRATOR_PASSWORD, "AdministratorRefused"),
        ("nested", PASSWORD, "AdministratorRefused"),  # a member of a group in Domain Admins
        ("operator", PASSWORD, "AdministratorRefused"),  # Account Operators
        ("former", PASSWORD, "AdministratorRefused"),  # adminCount
        ("plain", PASSWORD, "PermissionMissing"),
        ("joiner", "Passw0rd-Other1", "LoginFailed"),
        ("absent", PASSWORD, "LoginFailed"),
    ],
)
def test_accounts_with_too_many_rights_or_none_make_nothing(
    domain: Domain, user: str, password: str, reason: str
) -> None:
    """Administrators are recognised through other groups, too; neither object nor file exists afterwards."""
    assert domain.refusal("refused", user=user, password=password) == reason
    assert domain.show("REFUSED") == {}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"UNIT": f"CN=Computers,{ROOT}"}, "InvalidConfiguration"),  # outside the base
        ({"UNIT": f"OU=Absent,{NODES}"}, "InvalidConfiguration"),
        ({"BASE": ROOT}, "InvalidConfiguration"),  # the whole domain
        ({"BASE": f"OU=Absent,{ROOT}"}, "InvalidConfiguration"),
        ({"BASE": "no name"}, "InvalidConfiguration"),
        ({"BASE": f"OU=Domain Controllers,{ROOT}"}, "PermissionMissing"),
        ({"SERVER": f"ldap://{directory.HOST}"}, "InvalidConfiguration"),
        ({"SERVER": f"ldaps://{directory.HOST}:389"}, "ServerUnavailable"),  # no TLS there
        ({"SERVER": f"ldaps://{directory.ADDRESS}"}, "ServerUnavailable"),  # not in the certificate
        ({"SERVER": f"ldaps://{directory.HOST}:637"}, "ServerUnavailable"),  # nothing listens
        ({"CA_FILE": ""}, "ServerUnavailable"),  # the system does not know the authority
    ],
)
def test_settings_that_reach_too_far_or_nowhere_make_nothing(
    domain: Domain, options: dict[str, str], reason: str
) -> None:
    """Each is refused with its reason, before an object is made."""
    assert domain.refusal("refused", **options) == reason
    assert domain.show("REFUSED") == {}


def test_a_blob_joins_a_machine_without_a_network(domain: Domain) -> None:
    """The delegated account makes it; Samba takes it over offline, and then is a member."""
    values = domain.preset("offline-machine-name", kind="blob")
    name = values["computer-name"].decode()
    assert name.startswith("OFFLIN-")
    assert values["blob"].startswith(b"\xff\xfe")
    base64.b64decode(values["blob"].decode("utf-16").rstrip("\0"), validate=True)
    assert domain.show(name)["dNSHostName"] == f"{name.lower()}.{directory.DOMAIN}"

    state = domain.controller.shared / "member"
    state.mkdir()
    (state / "blob").write_bytes(values["blob"])
    folders = ("cache directory", "lock directory", "pid directory", "private dir", "state directory")
    options = ["--configfile=/dev/null", *(f"--option={folder}={state}" for folder in folders)]
    options += [f"--option=realm={directory.REALM}", "--option=workgroup=CORP", "--option=security=ads"]
    options += [f"--option=netbios name={name}", "--option=kerberos method=secrets only"]
    # Samba asks for an interface with an address, and has none that leads anywhere.
    alone = 'ip link set lo up; ip address add 192.0.2.1/32 dev lo; exec net "$@"'
    requested = domain.succeed(
        *("unshare", "--net", "sh", "-c", alone, "net", "offlinejoin", "requestodj"),
        *(f"loadfile={state}/blob", "--option=interfaces=lo", *options),
    )
    assert "Successfully requested" in requested
    assert "Join is OK" in domain.succeed("net", "ads", "testjoin", *options)


def test_a_blob_is_renewed_by_another_member_of_the_group(domain: Domain) -> None:
    """The rights of the page are enough for an object that another account has made."""
    first = domain.preset("windows-1", kind="blob")["blob"]
    assert domain.preset("windows-1", "--renew", kind="blob", user="second")["blob"] != first


def test_a_blob_that_fails_leaves_no_object(domain: Domain) -> None:
    """Samba's program is not there: the new object is removed again, since its password is lost."""
    assert domain.refusal("no-blob", "--net", "/absent/net", kind="blob") == "InvalidConfiguration"
    assert domain.show("NO-BLOB") == {}


def test_a_cleanup_removes_what_is_named_and_only_on_request(domain: Domain) -> None:
    """A dry run removes nothing; an object of another owner and one with objects below it stay."""
    for machine in ("old-1", "old-2", "old-3"):
        domain.preset(machine)
    domain.preset("old-4", OWNER="management-2")
    domain.change(f"dn: CN=below,CN=OLD-2,{NODES}\nobjectClass: serviceConnectionPoint\n", program="ldbadd")
    machines = [f"--machine=old-{number}" for number in (1, 2, 4)]

    dry = domain.slipway("cleanup", *machines, "-n", "clusters", "-o", "json")
    assert dry.returncode == 0
    assert {row["machine"]: row["result"] for row in json.loads(dry.stdout)} == {
        "clusters/old-1": "stale", "clusters/old-2": "stale", "clusters/old-4": "kept",
    }  # fmt: skip
    assert domain.show("OLD-1")

    done = domain.slipway("cleanup", *machines, "-n", "clusters", "-o", "json", "--apply")
    assert done.returncode == 1
    assert {row["machine"]: row["result"] for row in json.loads(done.stdout)} == {
        "clusters/old-1": "removed", "clusters/old-2": "failed", "clusters/old-4": "kept",
    }  # fmt: skip
    assert [bool(domain.show(f"OLD-{number}")) for number in (1, 2, 3, 4)] == [False, True, True, True]


def test_a_cleanup_by_age_keeps_what_is_in_use(domain: Domain) -> None:
    """Of objects that were made long ago, those with a new password or a recent login stay."""
    owner = "management-3"
    machines = ("idle", "renewed-now", "busy", "fresh")
    names = [domain.preset(machine, OWNER=owner)["computer-name"].decode() for machine in machines]
    now = domain.show("FRESH")["pwdLastSet"]
    # Times count 100 ns since 1601; this one is 2020-01-01.
    old = "132223104000000000"
    for name, password_set, login in zip(names, (old, now, old), ("0", "0", now), strict=False):
        domain.change(
            f"dn: CN={name},{NODES}\nchangetype: modify\nreplace: whenCreated\nwhenCreated: 20200101000000.0Z\n-\n"
            f"replace: pwdLastSet\npwdLastSet: {password_set}\n-\n"
            f"replace: lastLogonTimestamp\nlastLogonTimestamp: {login}\n",
            database=PARTITION,
        )
    done = domain.slipway("cleanup", "--unused-for", "1", "-o", "json", "--apply", OWNER=owner)
    assert {row["machine"]: row["result"] for row in json.loads(done.stdout)} == {
        "clusters/idle": "removed", "clusters/renewed-now": "kept", "clusters/busy": "kept", "clusters/fresh": "kept",
    }  # fmt: skip
    assert [bool(domain.show(name)) for name in names] == [False, True, True, True]


def test_no_log_of_the_controller_has_a_password(domain: Domain) -> None:
    """What was sent stays in the encrypted connection and in the database."""
    secret = domain.preset("logged")["one-time-password"]
    log = (domain.controller.scratch / "samba.log").read_bytes()
    assert PASSWORD.encode() not in log
    assert secret not in log
