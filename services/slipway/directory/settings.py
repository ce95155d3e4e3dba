"""Where the domain is, as whom, and how far the account's work may reach."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from slipway.directory.failures import ConfigurationInvalid
from slipway.directory.ownership import Mark

_PORT = 636
_LONGEST_PASSWORD = 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """All that a connection and its work need, checked.

    Attributes:
        server: the domain controller, ldaps://HOST or ldaps://HOST:PORT; its certificate has to carry the name.
        user: the delegated account: name@domain, or its distinguished name.
        password: its password.
        base: the distinguished name of the unit below which everything has to be.
        owner: the id in the mark of our objects.
        unit: where new objects go; the base where "".
        authority: a file with the certificates that are trusted; those of the system where None.

    Raises:
        ConfigurationInvalid: something cannot be used; the message names it.
    """

    server: str
    user: str
    password: str = field(repr=False)
    base: str
    owner: str
    unit: str = ""
    authority: Path | None = None

    def __post_init__(self) -> None:
        _parse_server(self.server)
        if not self.user or self.user.strip() != self.user:
            raise ConfigurationInvalid("user: give the account as NAME@DOMAIN or by its distinguished name")
        if not self.password or set(self.password) & set("\r\n\0"):
            # LDAP takes a name with an empty password for no name at all, and lets it in (RFC 4513, 5.1.2).
            raise ConfigurationInvalid("password file: must hold one line that is not empty")
        if not self.base:
            raise ConfigurationInvalid("base: give the distinguished name of an organisational unit")
        try:
            Mark(self.owner, "a/b")
        except ValueError as error:
            raise ConfigurationInvalid(f"owner: {error}") from None

    @property
    def host(self) -> str:
        """The domain controller's name."""
        return _parse_server(self.server)[0]

    @property
    def port(self) -> int:
        """Its port of LDAP over TLS."""
        return _parse_server(self.server)[1]

    @property
    def place(self) -> str:
        """The distinguished name of the unit where new objects go."""
        return self.unit or self.base


def _parse_server(server: str) -> tuple[str, int]:
    try:
        address = urlsplit(server)
        host, port = address.hostname, address.port or _PORT
    except ValueError:
        raise ConfigurationInvalid("server: must be ldaps://HOST or ldaps://HOST:PORT") from None
    if address.scheme == "ldap":
        raise ConfigurationInvalid("server: LDAP without TLS is refused; use ldaps://")
    if address.scheme != "ldaps" or not host or address.username is not None or address.path.strip("/"):
        raise ConfigurationInvalid("server: must be ldaps://HOST or ldaps://HOST:PORT")
    return host, port


def read_password(path: Path, *, group: bool = False) -> str:
    """Give the password that a file holds, without the line's end; `group` lets the file's group read it as well.

    Raises:
        ConfigurationInvalid: other users can read the file, or it holds no password.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_mode & (0o037 if group else 0o077):
            raise ConfigurationInvalid("password file: other users can read it; set its mode to 0600")
        content = file.read(_LONGEST_PASSWORD + 1)
    if len(content) > _LONGEST_PASSWORD:
        raise ConfigurationInvalid("password file: is too long for a password")
    try:
        return content.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise ConfigurationInvalid("password file: must be UTF-8 text") from None
