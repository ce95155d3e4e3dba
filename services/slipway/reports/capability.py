"""Addresses to which one machine may write one object, and nothing else: as pre-signed URLs of an object store are.

The path names the object, the query says until when and has an HMAC-SHA256 of both. A client that has the address
may write that object; it can neither read with it, nor make another one of it. The keys are the operator's, in a file.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Self
from urllib.parse import quote, urlencode

from slipway.reports.names import ROOT, BundleKey, NameInvalid

_DOMAIN = b"slipway-report-v1"
_SHORTEST = 32
_MOST_KEYS = 4
_LARGEST_FILE = 4096
_DIGITS = 12
_HEX = 64


class KeyFileInvalid(ValueError):  # noqa: N818  # subject and state, as the contract names its errors
    """The file of keys cannot be used; the text says why, and nothing of the keys."""


class Refused(ValueError):  # noqa: N818  # an answer, not a fault
    """An address is not valid, or no longer."""


class Kind(StrEnum):
    """What a machine writes."""

    EVENTS = "events"
    LOGS = "logs"


@dataclass(frozen=True, slots=True)
class Target:
    """The object that an address is for."""

    key: BundleKey
    kind: Kind

    @property
    def path(self) -> str:
        """The path of its address. The quoted parts have no slash, whatever they are."""
        key = self.key
        parts = (key.namespace, key.cluster, key.machine, key.bundle_id, self.kind.value)
        return "/reports/" + "/".join(quote(part, safe="") for part in parts)

    @property
    def object_name(self) -> str:
        """The name of the object where it is written into a bucket, and not to the gateway."""
        return f"{self.key.folder}/{self.kind.value}"

    @classmethod
    def of_object(cls, name: str) -> "Target | None":
        """Read the name of an object; None for one of another kind."""
        root, *parts = name.split("/")
        try:
            *names, kind = parts
            target = cls(BundleKey(*names), Kind(kind))
        except (NameInvalid, TypeError, ValueError):
            return None
        return target if root == ROOT else None


@dataclass(frozen=True)
class Capabilities:
    """Makes and checks addresses.

    Attributes:
        keys: the first one signs, each one is accepted.
    """

    keys: Sequence[bytes] = field(repr=False)

    @classmethod
    def of_file(cls, path: Path) -> Self:
        """Read the keys: one a line, at most four, of 32 characters or more each; empty lines do not count.

        Raises:
            KeyFileInvalid: the file cannot be read, or has no such keys.
        """
        try:
            with path.open("rb") as stream:
                content = stream.read(_LARGEST_FILE + 1)
        except OSError as error:
            raise KeyFileInvalid(f"{path}: {error.strerror or type(error).__name__}") from None
        keys = [line.strip() for line in content.splitlines() if line.strip()]
        if len(content) > _LARGEST_FILE or not 1 <= len(keys) <= _MOST_KEYS:
            raise KeyFileInvalid(f"{path}: must have 1 to {_MOST_KEYS} keys, one a line")
        if any(len(key) < _SHORTEST for key in keys):
            raise KeyFileInvalid(f"{path}: a key must have {_SHORTEST} characters or more: openssl rand -hex 32")
        return cls(keys)

    def address(self, target: Target, *, expires: int) -> str:
        """Give path and query of an address that is valid until a time, in seconds since 1970 (UTC)."""
        query = {"expires": str(expires), "signature": self._signature(self.keys[0], target, expires)}
        return f"{target.path}?{urlencode(query)}"

    def check(self, parts: Sequence[str], query: Mapping[str, str], *, now: float) -> Target:
        """Give the object that an address is for: the decoded parts of its path, and its query.

        Raises:
            Refused: it is for another object, or expired, or was never made by one of the keys.
        """
        try:
            *names, kind = parts
            target = Target(BundleKey(*names), Kind(kind))
        except (NameInvalid, TypeError, ValueError):
            raise Refused("not a name of a report") from None
        expires, signature = query.get("expires", ""), query.get("signature", "")
        if not (expires.isascii() and expires.isdigit() and len(expires) <= _DIGITS) or expires.startswith("0"):
            raise Refused("no valid time")
        if len(signature) != _HEX or not signature.isascii():
            raise Refused("no signature")
        # All of them, so that the time does not say which one it was.
        valid = [hmac.compare_digest(self._signature(key, target, int(expires)), signature) for key in self.keys]
        if not any(valid):
            raise Refused("the signature is of another object, time or key")
        if now >= int(expires):
            raise Refused("expired")
        return target

    @staticmethod
    def _signature(key: bytes, target: Target, expires: int) -> str:
        # None of the parts has a zero byte: what is signed says the same in one way only.
        content = b"\0".join([_DOMAIN, target.path.encode(), str(expires).encode()])
        return hmac.new(key, content, hashlib.sha256).hexdigest()
