"""A machine's membership: its computer's name and its secret follow from the Machine's name, and belong to it alone."""

import base64
import struct

import pytest

from slipway.bootstrapper.assembly.membership import complete_membership, membership_violations, violations
from slipway.bootstrapper.assembly.membership_secret import check_membership_secret, keytab_principals
from slipway.bootstrapper.placeholders import PLACEHOLDER
from slipway.contract.errors import SpecInvalid
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb

PASSWORD = ospb.DIRECTORY_JOIN_METHOD_ONE_TIME_PASSWORD
KEYTAB = ospb.DIRECTORY_JOIN_METHOD_KEYTAB
BLOB = ospb.DIRECTORY_JOIN_METHOD_OFFLINE_BLOB


def spec(method: ospb.DirectoryJoinMethod.ValueType = PASSWORD) -> specpb.MachineBootstrapSpec:
    """Give a spec with a membership."""
    made = specpb.MachineBootstrapSpec()
    made.os.directory.domain, made.os.directory.method = "corp.example.com", method
    return made


KEYS = [(PASSWORD, "one-time-password"), (KEYTAB, "keytab"), (BLOB, "blob")]


@pytest.mark.parametrize(("method", "key"), KEYS)
def test_name_and_secret_follow_from_the_machine(method: ospb.DirectoryJoinMethod.ValueType, key: str) -> None:
    """What a caller has written there counts for nothing: it could be another machine's."""
    made = spec(method)
    made.os.directory.computer_name = "OTHER"
    made.os.directory.secret_ref.name = "other-directory"
    complete_membership(made, "worker-1")
    membership = made.os.directory
    assert (membership.computer_name, membership.secret_ref.name) == ("WORKER-1", "worker-1-directory")
    assert membership.secret_ref.key == key


def test_a_long_name_is_hashed() -> None:
    """Two machines of a deployment have two accounts, of 15 characters at most."""
    names = set()
    for machine in ("harbour-md-0-7f9c6-abcde", "harbour-md-0-7f9c6-fghij"):
        made = spec()
        complete_membership(made, machine)
        names.add(made.os.directory.computer_name)
        assert made.os.directory.secret_ref.name == f"{machine}-directory"
    assert len(names) == 2
    assert all(len(name) <= 15 for name in names)


def test_every_layer_of_a_spec_is_completed() -> None:
    """Also what counts for the first machine only; a layer without a membership gets none."""
    made = spec()
    made.init.os.directory.method = KEYTAB
    complete_membership(made, "plane-1")
    assert made.init.os.directory.secret_ref.key == "keytab"
    assert not made.HasField("join")


@pytest.mark.parametrize("machine", ["", "a." * 122 + "a" * 8])
def test_a_machine_without_a_usable_name_is_refused(machine: str) -> None:
    """Its Secret could not exist."""
    (violation,) = membership_violations(spec(), machine)
    assert violation.path == "machine.name"


def test_a_filter_excludes_lists() -> None:
    """One of them decides who may log in."""
    made = spec().os
    made.directory.login.access_filter = "(a=b)"
    assert list(violations(made, "os")) == []
    made.directory.login.groups.append("x")
    made.directory.domain = "corp"
    assert [violation.path for violation in violations(made, "os")] == [
        "os.directory.login.access_filter", "os.directory.domain",
    ]  # fmt: skip


def keytab(*principals: tuple[str, ...]) -> bytes:
    """Give a keytab with a key for each principal: its realm, then its parts."""
    result = b"\x05\x02" + struct.pack(">i", -4) + b"hole"
    for realm, *parts in principals:
        entry = struct.pack(">H", len(parts))
        for text in (realm, *parts):
            entry += struct.pack(">H", len(text)) + text.encode()
        entry += struct.pack(">IIBHH", 1, 0, 2, 18, 32) + bytes(32)
        result += struct.pack(">i", len(entry)) + entry
    return result


def blob(*names: str) -> bytes:
    """Give what has the form of a blob."""
    return base64.b64encode(b"\x01\x10" + b"".join(name.encode("utf-16-le") + b"\0\0" for name in names)) + b"\0"


REALM = "CORP.EXAMPLE.COM"
OWN = (REALM, "WORKER-1$")
SECRETS = [
    (PASSWORD, b"kW7aQ2xvB9mLp4Zt", "", "a random password"),
    (PASSWORD, b"Administrator%Passw0rd-Test1", "no random password", "an account and its password, for net"),
    (PASSWORD, b"CORP\\joiner:Passw0rd-Test1", "no random password", "an account and its password"),
    (PASSWORD, b"joiner@corp.example.com Passw0rd", "no random password", "the same in two words"),
    (PASSWORD, b"worker-1", "no random password", "what Windows itself gives to an account"),
    (PASSWORD, b"kW7aQ2xvB9mLp4Zt\n", "no random password", "a line end is no part of it"),
    (PASSWORD, b"\xff" * 20, "no random password", "no text"),
    (
        KEYTAB,
        keytab(OWN, (REALM, "host", "worker-1.corp.example.com"), (REALM, "RestrictedKrbHost", "WORKER-1")),
        "",
        "",
    ),
    (KEYTAB, keytab(OWN, (REALM, "Administrator")), "another account", "an administrator's"),
    (KEYTAB, keytab((REALM, "joiner")), "another account", "one that joins machines"),
    (KEYTAB, keytab((REALM, "WORKER-2$")), "another account", "another machine's"),
    (KEYTAB, keytab(("OTHER.EXAMPLE.COM", "WORKER-1$")), "another account", "another domain's"),
    (KEYTAB, keytab(OWN, (REALM, "host", "dc1.corp.example.com")), "another account", "a controller's"),
    (KEYTAB, keytab(), "without a key", "no key"),
    (KEYTAB, b"\x05\x01", "no keytab", "another version"),
    (KEYTAB, keytab(OWN)[:-3], "no keytab", "cut off"),
    (BLOB, blob("corp.example.com", "WORKER-1"), "", "as text"),
    (BLOB, blob("corp.example.com", "WORKER-1").decode().encode("utf-16"), "", "as djoin writes it"),
    (BLOB, blob("corp.example.com", "WORKER-2"), "another computer", "another machine's"),
    (BLOB, blob("other.example.com", "WORKER-1"), "another domain", "another domain's"),
    (BLOB, b"Passw0rd-Test1!", "no blob", "a password"),
    (BLOB, PLACEHOLDER, "", "a dry run has no secrets"),
]


@pytest.mark.parametrize(("method", "value", "expected", "reason"), SECRETS)
def test_a_secret_that_is_not_the_machines_own_is_refused(
    method: ospb.DirectoryJoinMethod.ValueType, value: bytes, expected: str, reason: str
) -> None:
    """By its field, and without a part of its value."""
    made = spec(method)
    complete_membership(made, "worker-1")
    bundle = bundlepb.BootstrapBundle(os=made.os)
    reference = made.os.directory.secret_ref
    bundle.secrets.secrets.add(name=reference.name, key=reference.key, value=value)
    if not expected:
        check_membership_secret(bundle)
        return
    with pytest.raises(SpecInvalid) as refused:
        check_membership_secret(bundle)
    (violation,) = refused.value.violations
    assert violation.path == "spec.os.directory.method", reason
    assert expected in violation.description, reason
    assert "Passw0rd" not in f"{violation}"


def test_names_of_a_keytab_are_read() -> None:
    """Holes that a removed key leaves are passed over."""
    assert list(keytab_principals(keytab(OWN))) == [("corp.example.com", ["worker-1$"])]
