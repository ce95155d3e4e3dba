"""The rules of accounts: password hashes that are none, and a name that means no account.

What such a hash locks a person out of, or gives away, shows on the machine alone. First-boot systems write the text
into /etc/shadow as it is (useradd and usermod -p, Ignition's passwordHash). A password in plain text there is not its
hash, so no login is possible, and each reader of the spec knows it.
"""

import re
from collections.abc import Iterator

from slipway.contract.errors import Violation
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb

IMAGES_OWN_USER = "default"
"""Name by which a first-boot system may mean the user that the image has."""

_HASH = re.compile(r"!?\$(?:1|2[abxy]|3|5|6|7|gy|md5[^$:\s]*|sha1|y)\$[^:\s]+|[!*][^:\s]*")
"""A prefix of crypt(5), as libxcrypt has them, with what it hashes, locked or not; or no password at all."""


def is_hash(value: bytes) -> bool:
    """Return whether a value is a hash of crypt(3), or stands for no password."""
    return _HASH.fullmatch(value.decode(errors="replace")) is not None


def _password_violations(os: ospb.OperatingSystem, path: str) -> Iterator[Violation]:
    """Give every password hash, written in place, that is not one of crypt(3)."""
    for index, user in enumerate(os.users):
        value = user.password_hash.value
        if value and not is_hash(value.encode()):
            yield Violation(
                f"{path}.users[{index}].password_hash",
                'must be a hash of crypt(3), such as "$6$...", or "!" for no password; mkpasswd makes one',
            )


def account_violations(spec: specpb.MachineBootstrapSpec, os: ospb.OperatingSystem, path: str) -> Iterator[Violation]:
    """Find hashes that are none, and the name that cloud-init takes for the image's own user, whom it lets use sudo.

    An imported config means that by it. Source: cloud-init, cloudinit/distros/ug_util.py (normalize_users_groups).
    """
    if not spec.imported.HasField("kind"):
        # Today's provider passes any text on as a hash, and the machine starts.
        yield from _password_violations(os, path)
    for index, user in enumerate(os.users):
        if user.name == IMAGES_OWN_USER and not spec.imported.HasField("kind"):
            yield Violation(
                f"{path}.users[{index}].name",
                "is not the name of an account: it may mean the image's own user, which may use sudo",
                remedy="choose another name, or set defaultUser",
            )
