"""Secrets of a membership that are not the machine's own: an account that can join machines must never reach a node.

A keytab and a blob hold the names of their accounts. Of a password nothing is known but its form: the pair of an
account and its password, as programs for joins take it, is recognisable, and so is a text that is not random.
"""

import base64
import binascii
import re
import struct
from collections.abc import Iterator

from slipway.bootstrapper.placeholders import PLACEHOLDER
from slipway.contract.errors import SpecInvalid, Violation
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb

_PASSWORD = re.compile(r"[A-Za-z0-9._~+=!#^*-]{14,120}")
_SERVICES = ("host", "restrictedkrbhost")
_REMEDY = "make it by `slipway directory`, for this machine alone"


def check_membership_secret(bundle: bundlepb.BootstrapBundle) -> None:
    """Check that the secret of a machine's membership is for its own account.

    Raises:
        SpecInvalid: it is not, or that cannot be seen. The value is never repeated.
    """
    membership = bundle.os.directory
    if not bundle.os.HasField("directory"):
        return
    place = (membership.secret_ref.name, membership.secret_ref.key)
    for secret in bundle.secrets.secrets:
        if (secret.name, secret.key) != place or secret.value == PLACEHOLDER:
            continue
        problem = next(_problems(membership, secret.value), "")
        if problem:
            path = f"{membership.origin.path or 'spec.os.directory'}.method"
            message = f"key {place[1]} of secret {place[0]} {problem}"
            raise SpecInvalid(
                "the secret of the machine's membership cannot be used",
                violations=[Violation(path, message, remedy=_REMEDY)],
            )


def _problems(membership: ospb.DirectoryMembership, value: bytes) -> Iterator[str]:
    if membership.method == ospb.DIRECTORY_JOIN_METHOD_KEYTAB:
        yield from _keytab_problems(membership, value)
    elif membership.method == ospb.DIRECTORY_JOIN_METHOD_OFFLINE_BLOB:
        yield from _blob_problems(membership, value)
    elif not _PASSWORD.fullmatch(value.decode("ascii", errors="replace")):
        yield "is no random password of one account: 14 to 120 letters, digits and ._~+=!#^*-"


def _keytab_problems(membership: ospb.DirectoryMembership, value: bytes) -> Iterator[str]:
    computer = membership.computer_name.casefold()
    hosts = {computer, f"{computer}.{membership.domain.casefold()}"}
    try:
        principals = list(keytab_principals(value))
    except (ValueError, struct.error):
        yield "is no keytab"
        return
    if not principals:
        yield "is a keytab without a key"
    for realm, names in principals:
        own = names == [f"{computer}$"] or (len(names) > 1 and names[0] in _SERVICES and names[1] in hosts)
        if realm != membership.domain.casefold() or not own:
            yield "is a keytab with keys of another account than the machine's"


def keytab_principals(keytab: bytes) -> Iterator[tuple[str, list[str]]]:
    """Give realm and components of each principal of a keytab, in lower case.

    Source: "The Kerberos Keytab Binary File Format", version 0x502, of MIT Kerberos' documentation.

    Raises:
        ValueError: the file is no keytab.
        struct.error: it ends too early.
    """
    if keytab[:2] != b"\x05\x02":
        raise ValueError("no keytab of version 0x502")
    at = 2
    while at < len(keytab):
        (size,) = struct.unpack_from(">i", keytab, at)
        at += 4
        if size > 0:
            if at + size > len(keytab):
                raise ValueError("an entry ends behind the file")
            yield _principal(keytab[at : at + size])
        elif size == 0:
            return
        at += abs(size)


def _principal(entry: bytes) -> tuple[str, list[str]]:
    (count,) = struct.unpack_from(">H", entry)
    at, parts = 2, list[str]()
    for _ in range(count + 1):
        (length,) = struct.unpack_from(">H", entry, at)
        at += 2
        parts.append(entry[at : at + length].decode(errors="replace").casefold())
        at += length
    return parts[0], parts[1:]


def _blob_problems(membership: ospb.DirectoryMembership, value: bytes) -> Iterator[str]:
    """Give what is wrong with a blob: base64 of UTF-16, whose content has its names as UTF-16 in turn (MS-ODJ)."""
    try:
        text = value.decode("utf-16" if value[:2] in {b"\xff\xfe", b"\xfe\xff"} else "ascii")
        blob = base64.b64decode(text.rstrip("\0\r\n"), validate=True)
    except (UnicodeDecodeError, binascii.Error, ValueError):
        yield "is no blob of an offline join"
        return
    names = blob.lower()
    for name, what in ((membership.computer_name, "computer"), (membership.domain, "domain")):
        if name.lower().encode("utf-16-le") not in names:
            yield f"is a blob for another {what}"
