"""Which accounts are administrators: what their groups are, by the identifiers that are the same in every domain.

The numbers are those of MS-DTYP 2.4.2.4 and of "well-known SIDs" in Microsoft's documentation of Windows.
"""

import struct
from collections.abc import Iterable

_IN_DOMAIN = {
    498: "Enterprise Read-only Domain Controllers", 500: "Administrator", 502: "krbtgt", 512: "Domain Admins",
    516: "Domain Controllers", 517: "Cert Publishers", 518: "Schema Admins", 519: "Enterprise Admins",
    520: "Group Policy Creator Owners", 521: "Read-only Domain Controllers", 526: "Key Admins",
    527: "Enterprise Key Admins",
}  # fmt: skip
_BUILT_IN = {
    544: "Administrators", 548: "Account Operators", 549: "Server Operators", 550: "Print Operators",
    551: "Backup Operators", 552: "Replicator", 557: "Incoming Forest Trust Builders",
}  # fmt: skip
_ALONE = {"S-1-5-9": "Enterprise Domain Controllers", "S-1-5-18": "System"}


def administrator_groups(sids: Iterable[str]) -> list[str]:
    """Give the names of the groups among them that make an administrator of an account, or are that account."""
    return sorted({name for sid in sids if (name := _name(sid))})


def _name(sid: str) -> str:
    head, _, last = sid.rpartition("-")
    number = int(last) if last.isdecimal() else -1
    if head == "S-1-5-32":
        return _BUILT_IN.get(number, "")
    if head.startswith("S-1-5-21-"):
        return _IN_DOMAIN.get(number, "")
    return _ALONE.get(sid, "")


def decode_sid(value: bytes) -> str:
    """Give a security identifier as text (MS-DTYP 2.4.2.2).

    Raises:
        ValueError: the bytes are not one.
    """
    if len(value) < 8 or len(value) != 8 + 4 * value[1]:  # noqa: PLR2004  # the header, and four bytes a part
        raise ValueError("not a security identifier")
    authority = int.from_bytes(value[2:8], "big")
    parts = struct.unpack(f"<{value[1]}I", value[8:])
    return "-".join(["S", str(value[0]), str(authority), *map(str, parts)])
