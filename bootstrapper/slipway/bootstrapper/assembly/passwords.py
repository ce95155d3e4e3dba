"""Password hashes that are none: what they lock a person out of, or give away, shows on the machine alone.

First-boot systems write the text into /etc/shadow as it is (useradd and usermod -p, Ignition's passwordHash). A
password in plain text there is not its hash, so no login is possible, and each reader of the spec knows it.
"""

import re
from collections.abc import Iterator

from slipway.contract.errors import Violation
from slipway.v1alpha1 import os_pb2 as ospb

_HASH = re.compile(r"!?\$(?:1|2[abxy]|3|5|6|7|gy|md5[^$:\s]*|sha1|y)\$[^:\s]+|[!*][^:\s]*")
"""A prefix of crypt(5), as libxcrypt has them, with what it hashes, locked or not; or no password at all."""


def is_hash(value: bytes) -> bool:
    """Return whether a value is a hash of crypt(3), or stands for no password."""
    return _HASH.fullmatch(value.decode(errors="replace")) is not None


def password_violations(os: ospb.OperatingSystem, path: str) -> Iterator[Violation]:
    """Give every password hash, written in place, that is not one of crypt(3)."""
    for index, user in enumerate(os.users):
        value = user.password_hash.value
        if value and not is_hash(value.encode()):
            yield Violation(
                f"{path}.users[{index}].password_hash",
                'must be a hash of crypt(3), such as "$6$...", or "!" for no password; mkpasswd makes one',
            )
