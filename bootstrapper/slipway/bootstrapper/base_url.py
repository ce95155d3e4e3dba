"""Addresses of servers that an operator sets once and every machine uses: a mistake is found at the start."""

import ipaddress
import re
from collections.abc import Collection
from urllib.parse import urlsplit

_IN_BRACKETS = re.compile(r"\[[0-9A-Fa-f:.]+\](:[0-9]+)?")
_HOST = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-._")


def is_base_url(text: str, schemes: Collection[str]) -> bool:
    """Whether a text is SCHEME://HOST[:PORT][/PATH] in ASCII: no user, no query, no fragment, no quotes.

    Host names are in ASCII (RFC 3492), and IPv6 addresses in brackets.
    """
    if not all("!" <= char <= "~" and char not in "\"'\\`<>{}|^" for char in text):
        return False
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    rest = {"@", "?", "#"} & set(text)
    return parts.scheme in schemes and not rest and port != 0 and _is_host(parts.netloc, parts.hostname or "")


def _is_host(netloc: str, host: str) -> bool:
    if netloc.endswith(":"):
        return False
    if not netloc.startswith("["):
        return set(host) <= _HOST and all(host.removesuffix(".").split("."))
    if not _IN_BRACKETS.fullmatch(netloc):
        return False
    try:
        ipaddress.IPv6Address(host)
    except ValueError:
        return False
    return True
