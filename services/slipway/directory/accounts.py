"""The rules by which computer accounts are made, renewed and removed; everything else is behind the port."""

import secrets
import string
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from slipway.bootstrapper.assembly.computer_name import computer_name
from slipway.directory.directory import Computer, Directory
from slipway.directory.failures import (
    AdministratorRefused,
    ComputerExists,
    ComputerRefused,
    ConfigurationInvalid,
    DirectoryError,
)
from slipway.directory.ownership import Mark, prefix
from slipway.directory.privileges import administrator_groups
from slipway.directory.settings import Settings

IN_USE = timedelta(days=45)
"""A computer that has logged in is not stale before this: its password changes every 30 days, and the domain writes
a login down up to 14 days late (Microsoft's documentation of lastLogonTimestamp)."""

PASSWORD_LENGTH = 40  # of 62 characters: 238 bits
_CLASSES = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
_ALPHABET = "".join(_CLASSES)


@dataclass(frozen=True, slots=True)
class Account:
    """A computer account that a machine can take over."""

    computer: str
    domain: str
    machine: str
    password: str = field(repr=False)
    created: str = ""
    """The new object's guid; "" where it was there already."""


@dataclass(frozen=True, slots=True)
class Removal:
    """What a cleanup does to one object: `result` is "stale" in a dry run, else "removed", "kept" or "failed"."""

    computer: str
    machine: str
    result: str
    detail: str


class Accounts:
    """The computer accounts of one owner, below one base."""

    def __init__(self, directory: Directory, settings: Settings) -> None:
        self._directory = directory
        self._settings = settings

    def verify(self) -> None:
        """Check that the account has no more rights than it needs, and that base and unit can be used.

        Raises:
            AdministratorRefused: it has, or it cannot be seen that it has not.
            ConfigurationInvalid: the base is the whole domain or does not exist, or the unit is outside.
        """
        sids = self._directory.own_groups()
        if not sids:
            raise AdministratorRefused("the domain does not show the groups of the account")
        groups = administrator_groups(sids)
        if groups:
            raise AdministratorRefused(
                f"the account is in {', '.join(groups)}; delegate the creation of computers in one unit to another one"
            )
        protected = self._directory.protected_names()
        if protected:
            raise AdministratorRefused(
                f"adminCount is set for {', '.join(protected)}: the account is, or was, an administrator's; use another"
            )
        base, unit = self._settings.base, self._settings.place
        if self._directory.is_root(base):
            raise ConfigurationInvalid("base: is the whole domain; give an organisational unit")
        if not self._directory.is_within(base, base):
            raise ConfigurationInvalid("base: does not exist, or the account cannot see it")
        if not self._directory.is_within(unit, base):
            raise ConfigurationInvalid("unit: does not exist, or is not below the base")

    def preset(self, machine: str, *, renew: bool = False) -> Account:
        """Make the computer object of a Machine ("namespace/name"), with a new password for one use.

        Args:
            machine: the Machine.
            renew: give the object a new password where the machine has one already; its present owner can no longer
                log in.

        Raises:
            ComputerRefused: something else has the name.
            ComputerExists: the machine has its object, and `renew` is not set.
            DirectoryError: it cannot be made.
        """
        try:
            mark = Mark(self._settings.owner, machine)
            name = computer_name(machine.partition("/")[2])
        except ValueError as error:
            raise ConfigurationInvalid(f"machine: {error}") from None
        password = one_time_password()
        present = self._directory.computer(name)
        if present is None:
            self._directory.create(name, self._settings.place, mark.text, password)
            present = self._directory.computer(name)
            return Account(name, self._directory.domain, machine, password, present.guid if present else "")
        self._refuse_foreign(present, mark)
        if not renew:
            raise ComputerExists(f"{name}: the machine has its computer object; renew it to have a new password")
        self._directory.set_password(present.guid, password)
        return Account(name, self._directory.domain, machine, password)

    def withdraw(self, account: Account) -> None:
        """Remove the object of a preset whose result did not reach the machine; one that was there before stays."""
        if account.created:
            self._directory.delete(account.created)

    def _refuse_foreign(self, present: Computer, wanted: Mark) -> None:
        mark = Mark.parse(present.description)
        if mark is None or mark.owner != wanted.owner:
            raise ComputerRefused(f"{present.name}: exists, and is not marked as made by this owner")
        if mark.machine != wanted.machine:
            raise ComputerRefused(f"{present.name}: belongs to the machine {mark.machine}")
        if not self._directory.is_within(present.place, self._settings.base):
            raise ComputerRefused(f"{present.name}: exists outside the base")

    def remove(self, machines: Iterable[str], *, dry_run: bool) -> list[Removal]:
        """Remove the objects of the Machines that are named ("namespace/name"), whatever their age."""
        wanted = list(machines)
        own = {mark.machine: computer for computer, mark in self._own()}
        removals = [self._remove(own[name], name, "named", dry_run=dry_run) for name in wanted if name in own]
        absent = [Removal("", name, "kept", "no object of ours belongs to it") for name in wanted if name not in own]
        return removals + absent

    def remove_unused(self, age: timedelta, now: Callable[[], datetime], *, dry_run: bool) -> list[Removal]:
        """Remove objects without any use for `age`; one that has logged in is kept for 45 days at least."""
        removals = []
        for computer, mark in self._own():
            idle = now() - max(filter(None, (computer.created, computer.password_set, computer.last_login)))
            limit = max(age, IN_USE) if computer.last_login else age
            if idle < limit:
                removals.append(Removal(computer.name, mark.machine, "kept", f"unused for {idle.days} days"))
            else:
                detail = f"unused for {idle.days} days"
                removals.append(self._remove(computer, mark.machine, detail, dry_run=dry_run))
        return removals

    def _own(self) -> list[tuple[Computer, Mark]]:
        computers = self._directory.computers(self._settings.base, prefix(self._settings.owner))
        marked = [(computer, Mark.parse(computer.description)) for computer in computers]
        return [(computer, mark) for computer, mark in marked if mark and mark.owner == self._settings.owner]

    def _remove(self, computer: Computer, machine: str, detail: str, *, dry_run: bool) -> Removal:
        if dry_run:
            return Removal(computer.name, machine, "stale", detail)
        try:
            self._directory.delete(computer.guid)
        except DirectoryError as error:
            return Removal(computer.name, machine, "failed", f"{error.reason}: {error}")
        return Removal(computer.name, machine, "removed", detail)


def one_time_password() -> str:
    """Give a new password with characters of three classes, as the usual policy of a domain asks for.

    It is random, and such that any shell, file or program hands it on.
    """
    while True:
        password = "".join(secrets.choice(_ALPHABET) for _ in range(PASSWORD_LENGTH))
        if all(set(password) & set(members) for members in _CLASSES):
            return password
