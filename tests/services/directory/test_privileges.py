"""Administrators are recognised by the identifiers that are the same in every domain."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.directory.privileges import administrator_groups, decode_sid

DOMAIN = "S-1-5-21-1904430907-605812273-1979382964"


@pytest.mark.parametrize(
    ("sid", "name"),
    [
        (f"{DOMAIN}-500", "Administrator"),
        (f"{DOMAIN}-512", "Domain Admins"),
        (f"{DOMAIN}-516", "Domain Controllers"),
        (f"{DOMAIN}-518", "Schema Admins"),
        (f"{DOMAIN}-519", "Enterprise Admins"),
        (f"{DOMAIN}-520", "Group Policy Creator Owners"),
        (f"{DOMAIN}-527", "Enterprise Key Admins"),
        ("S-1-5-32-544", "Administrators"),
        ("S-1-5-32-548", "Account Operators"),
        ("S-1-5-32-551", "Backup Operators"),
        ("S-1-5-18", "System"),
    ],
)
def test_administrators_are_named(sid: str, name: str) -> None:
    """The message can name the group, whatever language the domain has."""
    assert administrator_groups(["S-1-1-0", sid]) == [name]


@pytest.mark.parametrize(
    "sid", [f"{DOMAIN}-513", f"{DOMAIN}-515", f"{DOMAIN}-1512", "S-1-5-32-545", "S-1-5-11", "S-1-5-512", "S-1-1-0", ""]
)
def test_others_are_none(sid: str) -> None:
    """Users, computers, groups of the domain, and numbers in another place mean nothing."""
    assert administrator_groups([sid]) == []


@given(st.lists(st.integers(0, 2**32 - 1), max_size=15), st.integers(0, 2**48 - 1))
def test_identifiers_are_decoded(parts: list[int], authority: int) -> None:
    """Every part of the binary form is in the text."""
    binary = bytes([1, len(parts)]) + authority.to_bytes(6, "big") + struct.pack(f"<{len(parts)}I", *parts)
    assert decode_sid(binary) == "-".join(map(str, ["S", 1, authority, *parts]))


@pytest.mark.parametrize("binary", [b"", b"\1", b"\1\1\0\0\0\0\0\5", b"\1\1\0\0\0\0\0\5\0\0\0", b"\1\0\0\0\0\0\0\5\0"])
def test_other_bytes_are_refused(binary: bytes) -> None:
    """What is cut off is not read as another identifier."""
    with pytest.raises(ValueError, match="not a security identifier"):
        decode_sid(binary)
