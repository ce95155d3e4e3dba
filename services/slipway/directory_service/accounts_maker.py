"""Makes and removes accounts in the domain: the part of the service that talks to it, and blocks.

One connection at a time, so that a wrong password is tried once and not by every Machine: each try counts for the lock
of the account. A password that the domain has refused is not used again for ten minutes, unless its file changes.
"""

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from slipway.directory.accounts import Account, Accounts, Removal
from slipway.directory.directory import Directory
from slipway.directory.failures import ConfigurationInvalid, LoginFailed
from slipway.directory.secret_file import BLOB, COMPUTER_NAME, DOMAIN, PASSWORD
from slipway.directory.settings import Settings
from slipway.directory_service.orders import Order

LOGIN_PAUSE = 600.0
"""Seconds: three tries within half an hour lock no account where a person may mistype a password."""

Connect = Callable[[Settings], AbstractContextManager[Directory]]
MakeBlob = Callable[[Settings, str, str], bytes]
"""Gets settings, the computer's name and the domain."""


@dataclass(slots=True)
class AccountsMaker:
    """Works in one domain.

    Attributes:
        domain: its DNS name, in lower case.
        connect: opens a connection.
        make_blob: makes the blob of an offline join for a computer that exists.
        settings: gives the settings for a unit, with the password as it is now.
        unit_of: gives the unit by namespace and Cluster.
        monotonic: a clock, in seconds.
    """

    domain: str
    connect: Connect
    make_blob: MakeBlob
    settings: Callable[[str], Settings]
    unit_of: Callable[[str, str], str]
    monotonic: Callable[[], float] = time.monotonic
    _refused: tuple[bytes, float, str] = field(default=(b"", 0.0, ""), repr=False)

    def make(self, order: Order) -> dict[str, bytes]:
        """Make the account of a Machine, or give the one that it has a new password; return the Secret's values.

        A machine that waits for its user data has no other credential, so renewing it takes nothing from anybody.

        Raises:
            DirectoryError: it cannot be made.
        """
        settings = self.settings(self.unit_of(order.namespace, order.cluster))
        with self._opened(settings) as directory:
            account = self._accounts(directory, settings).preset(order.owner, renew=True)
        key, value = self._credential(settings, account, blob=order.blob)
        return {COMPUTER_NAME: account.computer.encode(), DOMAIN: account.domain.encode(), key: value}

    def remove(self, machine: str) -> list[Removal]:
        """Remove the computer object of a Machine, "namespace/name", that is gone.

        Raises:
            DirectoryError: the domain cannot be used.
        """
        settings = self.settings("")
        with self._opened(settings) as directory:
            return self._accounts(directory, settings).remove([machine], dry_run=False)

    def _credential(self, settings: Settings, account: Account, *, blob: bool) -> tuple[str, bytes]:
        if blob:
            return BLOB, self.make_blob(settings, account.computer, account.domain)
        return PASSWORD, account.password.encode()

    def _accounts(self, directory: Directory, settings: Settings) -> Accounts:
        if directory.domain.casefold() != self.domain:
            raise ConfigurationInvalid("domain: the domain controller is one of another domain")
        accounts = Accounts(directory, settings)
        accounts.verify()
        return accounts

    @contextmanager
    def _opened(self, settings: Settings) -> Iterator[Directory]:
        digest = hashlib.sha256(settings.password.encode()).digest()
        if digest == self._refused[0] and self.monotonic() < self._refused[1]:
            raise LoginFailed(self._refused[2])
        try:
            with self.connect(settings) as directory:
                yield directory
        except LoginFailed as error:
            self._refused = (digest, self.monotonic() + LOGIN_PAUSE, str(error))
            raise
