"""The name of a machine's computer account: known before the machine exists, and made in this one place.

A computer account has a NetBIOS name of at most 15 characters, and "$" after it in sAMAccountName. Microsoft's naming
conventions for Active Directory exclude names of digits alone and some words; a period would begin another domain.
"""

import base64
import hashlib
import re

LONGEST = 15
_HASH = 8  # characters of base32, 40 bits: among 10,000 machines two are equal with a probability of 1 in 20,000
_READABLE = LONGEST - _HASH - 1
_LONGEST_MACHINE = 253
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_RESERVED = frozenset(
    {
        "anonymous", "batch", "builtin", "dialup", "domain", "enterprise", "gateway", "gw", "interactive", "internet",
        "local", "localhost", "network", "null", "proxy", "restricted", "self", "server", "service", "system", "tac",
        "users", "world",
    }
)  # fmt: skip


def computer_name(machine: str) -> str:
    """Give the name of the computer account of a Machine, in capitals, without "$".

    It is the Machine's name where that can be a computer's, else the beginning of it, "-" and a hash of the whole.

    Raises:
        ValueError: no Machine can have that name; it takes a DNS subdomain (RFC 1123).
    """
    labels = machine.split(".")
    if len(machine) > _LONGEST_MACHINE or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError("the name of a Machine has lower case letters, digits, '-' and '.', as RFC 1123 says")
    usable = len(labels) == 1 and len(machine) <= LONGEST and not machine.isdigit() and machine not in _RESERVED
    if usable:
        return machine.upper()
    digest = base64.b32encode(hashlib.sha256(machine.encode()).digest()).decode()
    readable = machine.replace(".", "-")[:_READABLE].rstrip("-")
    return f"{readable}-{digest[:_HASH]}".upper()
