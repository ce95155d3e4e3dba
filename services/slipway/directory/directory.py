"""What the management of computer accounts needs of a domain: a port, for the real one and for tests."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Computer:
    """A computer object; times are None where nothing has happened yet.

    Attributes:
        name: the account's, without "$".
        guid: what it is known by, whatever its name or place.
        place: its distinguished name.
        description: where its mark is, if it has one.
        created: when it was made.
        password_set: when its password was last changed.
        last_login: when it was last seen; the domain writes that down every two weeks only.
    """

    name: str
    guid: str
    place: str
    description: str
    created: datetime
    password_set: datetime | None = None
    last_login: datetime | None = None


class Directory(Protocol):
    """A connection to a domain, as the delegated account. Every call raises DirectoryError."""

    @property
    def domain(self) -> str:
        """Its DNS name."""

    def own_groups(self) -> list[str]:
        """Give the identifiers of the account and of all groups that it is in, through others, too."""

    def protected_names(self) -> list[str]:
        """Give the names among those whose adminCount is set: the domain protects them as administrators'."""

    def is_root(self, place: str) -> bool:
        """Say whether a place is the whole domain."""

    def is_within(self, place: str, base: str) -> bool:
        """Say whether an object exists at a place that is the base or below it."""

    def computer(self, name: str) -> Computer | None:
        """Give what has the account name in the whole domain, computer or not."""

    def computers(self, base: str, prefix: str) -> list[Computer]:
        """Give the computers below a base whose description begins so."""

    def create(self, name: str, unit: str, description: str, password: str) -> None:
        """Make a computer object, with a password, in one request."""

    def set_password(self, guid: str, password: str) -> None:
        """Give a computer another password."""

    def delete(self, guid: str) -> None:
        """Remove a computer object, unless it has objects below it."""
