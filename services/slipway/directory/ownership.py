"""The mark by which a computer object is known as ours: the owner's id and the machine, in its description.

The description, since an account that creates a computer may write that of its own, without another right.
"""

import re
from dataclasses import dataclass
from typing import Self

ATTRIBUTE = "description"
_PREFIX = "slipway"
_OWNER = re.compile(r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?")
_LABEL = re.compile(r"[a-z0-9.-]{1,253}")


@dataclass(frozen=True, slots=True)
class Mark:
    """Who has made an object, and for which Machine ("namespace/name").

    Raises:
        ValueError: a part of it could not be read back.
    """

    owner: str
    machine: str

    def __post_init__(self) -> None:
        namespace, _, name = self.machine.partition("/")
        if not _OWNER.fullmatch(self.owner):
            raise ValueError("an owner's id has at most 63 lower case letters, digits, '-' and '.'")
        if not _LABEL.fullmatch(namespace) or not _LABEL.fullmatch(name):
            raise ValueError("a machine is named by NAMESPACE/NAME")

    @property
    def text(self) -> str:
        """What stands in the object."""
        return f"{prefix(self.owner)}{self.machine}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Give the mark that a description is, or None for any other text."""
        match text.split(" "):
            case [first, owner, machine] if first == _PREFIX and owner[:6] == "owner=" and machine[:8] == "machine=":
                try:
                    return cls(owner[6:], machine[8:])
                except ValueError:
                    return None
        return None


def prefix(owner: str) -> str:
    """Give what the descriptions of all objects of an owner begin with."""
    return f"{_PREFIX} owner={owner} machine="
