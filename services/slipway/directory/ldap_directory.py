"""A domain over LDAPS: the only module that knows ldap3, so that another library could take its place.

The certificate and the name in it are verified by Python's own TLS, before the password is sent: ldap3's verification
is from before Python had one.
"""

import importlib
import ssl
import uuid
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any

from slipway.directory.directory import Computer
from slipway.directory.failures import (
    ComputerRefused,
    ConfigurationInvalid,
    LoginFailed,
    PermissionMissing,
    RequestFailed,
    ServerUnavailable,
)
from slipway.directory.ownership import ATTRIBUTE
from slipway.directory.privileges import decode_sid
from slipway.directory.settings import Settings

_CLASSES = ["top", "person", "organizationalPerson", "user", "computer"]
_SECONDS = 15
_PAGE = 500
_WORKSTATION = 0x1000
"""userAccountControl of a computer (MS-ADTS 2.2.16)."""
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_ATTRIBUTES = [
    "sAMAccountName", "objectGUID", ATTRIBUTE, "whenCreated", "pwdLastSet", "lastLogonTimestamp", "distinguishedName",
]  # fmt: skip


def _ldap3() -> ModuleType:
    try:
        with warnings.catch_warnings():
            # It asks pyasn1 for names that have newer ones.
            warnings.simplefilter("ignore", DeprecationWarning)
            for module in ("core.exceptions", "utils.conv", "utils.dn"):
                importlib.import_module(f"ldap3.{module}")
            return importlib.import_module("ldap3")
    except ImportError:
        raise ConfigurationInvalid("ldap3 is not installed: pip install 'slipway-bootstrap[directory]'") from None


@contextmanager
def connected(settings: Settings) -> Iterator["LdapDirectory"]:
    """Give a connection to the domain controller, logged in; it ends with the block.

    Raises:
        ServerUnavailable: there is no connection that can be trusted.
        LoginFailed: the domain refuses the account.
        ConfigurationInvalid: ldap3, or the file of certificates, is not there.
    """
    ldap3 = _ldap3()
    server = ldap3.Server(
        settings.host, port=settings.port, use_ssl=True, get_info=ldap3.NONE, connect_timeout=_SECONDS,
        tls=_verifying_tls(ldap3, settings),
    )  # fmt: skip
    connection = ldap3.Connection(
        server, user=settings.user, password=settings.password, authentication=ldap3.SIMPLE, raise_exceptions=True,
        receive_timeout=_SECONDS, auto_referrals=False, auto_encode=False, check_names=False,
        return_empty_attributes=False,
    )  # fmt: skip
    try:
        with _translated(ldap3):
            connection.open(read_server_info=False)
            connection.bind(read_server_info=False)
        yield LdapDirectory(ldap3, connection)
    finally:
        opened = connection.socket
        with suppress(ldap3.core.exceptions.LDAPException):
            connection.unbind()
        # It leaves sockets of failed connections open.
        if opened is not None:
            opened.close()


def _verifying_tls(ldap3: ModuleType, settings: Settings) -> Any:
    try:
        context = ssl.create_default_context(cafile=settings.authority)
    except (OSError, ssl.SSLError):
        raise ConfigurationInvalid("CA file: does not exist, or holds no certificate") from None

    class VerifyingTls(ldap3.Tls):  # type: ignore[misc,name-defined]  # a class of a module that is imported late
        def wrap_socket(self, connection: Any, do_handshake: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002  # the signature of the class above
            connection.socket = context.wrap_socket(connection.socket, server_hostname=settings.host)

    return VerifyingTls(validate=ssl.CERT_REQUIRED)


@contextmanager
def _translated(ldap3: ModuleType) -> Iterator[None]:
    """Replace the library's errors: their texts may hold what was sent."""
    errors = ldap3.core.exceptions
    try:
        yield
    except errors.LDAPInvalidCredentialsResult:
        raise LoginFailed("the domain refuses the account: name, password, or the account is locked") from None
    except errors.LDAPInsufficientAccessRightsResult:
        raise PermissionMissing("the account lacks a right in the organisational unit") from None
    except errors.LDAPEntryAlreadyExistsResult:
        raise ComputerRefused("an object of that name exists, and the account cannot see whose it is") from None
    except errors.LDAPOperationResult as error:
        raise RequestFailed(f"the domain controller answers {error.description}") from None
    except errors.LDAPSocketOpenError as error:
        raise ServerUnavailable(_connection_problem(error)) from None
    except errors.LDAPException as error:
        raise ServerUnavailable(f"the connection to the domain controller failed: {type(error).__name__}") from None


def _connection_problem(error: Exception) -> str:
    text = repr(error)
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return "the domain controller's certificate is not trusted for this name; check the server's name and the CA"
    if "SSL" in text:
        return "the domain controller does not speak TLS on this port"
    return "the domain controller does not answer: check its name, its port and the network"


class LdapDirectory:
    """The port over one connection."""

    def __init__(self, ldap3: ModuleType, connection: Any) -> None:
        self._ldap3 = ldap3
        self._connection = connection
        root = self._read("", ["defaultNamingContext", "tokenGroups"])
        self._root = _text(root, "defaultNamingContext")
        self._sids = [decode_sid(value) for value in root.get("tokenGroups", [])]

    @property
    def domain(self) -> str:
        parts = self._ldap3.utils.dn.parse_dn(self._root)
        return ".".join(value for name, value, _ in parts if name.upper() == "DC")

    def own_groups(self) -> list[str]:
        return list(self._sids)

    def protected_names(self) -> list[str]:
        own = "".join(f"(objectSid={sid})" for sid in self._sids)
        entries = self._search(self._root, f"(&(adminCount>=1)(|{own}))", ["sAMAccountName"])
        return sorted(_text(values, "sAMAccountName") for values in entries)

    def is_root(self, place: str) -> bool:
        return self._guid(place) == self._guid(self._root)

    def is_within(self, place: str, base: str) -> bool:
        if self._guid(base) is None:
            return False
        return bool(self._search(base, f"(distinguishedName={self._escaped(place)})", ["objectGUID"]))

    def computer(self, name: str) -> Computer | None:
        entries = self._search(self._root, f"(sAMAccountName={self._escaped(name)}$)", _ATTRIBUTES)
        return _computer(entries[0]) if entries else None

    def computers(self, base: str, prefix: str) -> list[Computer]:
        condition = f"(&(objectCategory=computer)({ATTRIBUTE}={self._escaped(prefix)}*))"
        return [_computer(values) for values in self._search(base, condition, _ATTRIBUTES)]

    def create(self, name: str, unit: str, description: str, password: str) -> None:
        attributes = {
            "sAMAccountName": f"{name}$",
            "userAccountControl": str(_WORKSTATION),
            "unicodePwd": _encoded(password),
            ATTRIBUTE: description,
        }
        with _translated(self._ldap3):
            self._connection.add(f"CN={name},{unit}", _CLASSES, attributes)

    def set_password(self, guid: str, password: str) -> None:
        change = {"unicodePwd": [(self._ldap3.MODIFY_REPLACE, [_encoded(password)])]}
        with _translated(self._ldap3):
            self._connection.modify(f"<GUID={guid}>", change)

    def delete(self, guid: str) -> None:
        with _translated(self._ldap3):
            self._connection.delete(f"<GUID={guid}>")

    def _guid(self, place: str) -> bytes | None:
        values = self._read(place, ["objectGUID"])
        return values["objectGUID"][0] if "objectGUID" in values else None

    def _read(self, place: str, attributes: list[str]) -> dict[str, list[bytes]]:
        """Give one object's values, {} where it does not exist or is not shown."""
        errors = self._ldap3.core.exceptions
        with _translated(self._ldap3):
            try:
                self._connection.search(place, "(objectClass=*)", self._ldap3.BASE, attributes=attributes)
            except (errors.LDAPNoSuchObjectResult, errors.LDAPInvalidDNSyntaxResult, errors.LDAPInvalidDnError):
                return {}
        return next(iter(_entries(self._connection.response)), {})

    def _search(self, base: str, condition: str, attributes: list[str]) -> list[dict[str, list[bytes]]]:
        with _translated(self._ldap3):
            response = self._connection.extend.standard.paged_search(
                base, condition, self._ldap3.SUBTREE, attributes=attributes, paged_size=_PAGE, generator=False
            )
        return _entries(response)

    def _escaped(self, text: str) -> str:
        return str(self._ldap3.utils.conv.escape_filter_chars(text))


def _entries(response: Sequence[dict[str, Any]]) -> list[dict[str, list[bytes]]]:
    return [dict(entry["raw_attributes"]) for entry in response if entry["type"] == "searchResEntry"]


def _encoded(password: str) -> bytes:
    """Give a password as unicodePwd takes it (MS-ADTS 3.1.1.3.1.5)."""
    return f'"{password}"'.encode("utf-16-le")


def _text(values: dict[str, list[bytes]], name: str) -> str:
    return values[name][0].decode(errors="replace") if values.get(name) else ""


def _computer(values: dict[str, list[bytes]]) -> Computer:
    return Computer(
        name=_text(values, "sAMAccountName").removesuffix("$"),
        guid=str(uuid.UUID(bytes_le=values["objectGUID"][0])),
        place=_text(values, "distinguishedName"),
        description=_text(values, ATTRIBUTE),
        created=datetime.strptime(_text(values, "whenCreated")[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC),
        password_set=_time(_text(values, "pwdLastSet")),
        last_login=_time(_text(values, "lastLogonTimestamp")),
    )


def _time(text: str) -> datetime | None:
    """Give the time that a number of 100 ns since 1601 is (MS-DTYP 2.3.3), None for 0 and for nothing."""
    ticks = int(text or 0)
    return _EPOCH + timedelta(microseconds=ticks // 10) if ticks > 0 else None
