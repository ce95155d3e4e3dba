"""Who visits the page: a token of the management cluster, or a user whom a reverse proxy names."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from aiohttp import hdrs, web

from slipway.contract.errors import PermissionDenied, Unauthenticated
from slipway.reports.access import Caller, User
from slipway.rpc.addresses import is_loopback
from slipway.rpc.identity import Identity

_SYSTEM = "system:"
_LONGEST_NAME = 256
_MOST_GROUPS = 256


@dataclass(frozen=True, slots=True)
class Proxy:
    """The reverse proxy that names users.

    Attributes:
        user_header: has the user's name.
        groups_header: has the user's groups, with commas between them; empty for none.
        spiffe_ids: of the proxy's certificate; empty where only this machine can connect.
    """

    user_header: str
    groups_header: str = ""
    spiffe_ids: frozenset[str] = frozenset()


class Visitors:
    """Reads from a request who sent it."""

    def __init__(self, proxy: Proxy | None, *, is_open: bool) -> None:
        """Read requests.

        Args:
            proxy: names users, where there is one.
            is_open: who can connect may see all: this machine only.
        """
        self._proxy = proxy
        self._is_open = is_open

    def caller_of(self, request: web.Request) -> Caller:
        """Give who calls.

        Raises:
            Unauthenticated: it shows nothing.
            PermissionDenied: it names a user and is not the proxy, or names one that no proxy may name.
        """
        identity = _identity_of(request)
        authorization = request.headers.get(hdrs.AUTHORIZATION, "")
        if self._is_open:
            _check_host(request)
            return Caller(None, authorization)
        if self._proxy is None:
            return Caller(identity or Identity(()), authorization)
        if not {self._proxy.user_header, self._proxy.groups_header} & _names(request):
            # What the proxy itself may see, a visitor whom it does not name may not.
            return Caller(Identity(()), authorization)
        self._check_proxy(identity)
        return Caller(identity, "", _user(request, self._proxy))

    def _check_proxy(self, identity: Identity | None) -> None:
        ids = self._proxy.spiffe_ids if self._proxy else frozenset()
        if ids and (identity is None or not ids & {*identity.spiffe_ids}):
            raise PermissionDenied("only the reverse proxy may name a user, by its certificate (--web-proxies)")


def _names(request: web.Request) -> set[str]:
    return {name.lower() for name in request.headers}


def _user(request: web.Request, proxy: Proxy) -> User:
    names = request.headers.getall(proxy.user_header, [])
    if len(names) != 1 or not names[0].strip():
        raise Unauthenticated("the reverse proxy must name one user")
    texts = request.headers.getall(proxy.groups_header, []) if proxy.groups_header else []
    groups = tuple(group.strip() for text in texts for group in text.split(",") if group.strip())
    if len(groups) > _MOST_GROUPS:
        raise PermissionDenied(f"the reverse proxy names more than {_MOST_GROUPS} groups")
    _check_names([names[0].strip(), *groups])
    return User(names[0].strip(), groups)


def _check_names(names: Iterable[str]) -> None:
    for name in names:
        if name.startswith(_SYSTEM):
            # The users and groups of Kubernetes itself: no person is one of them.
            raise PermissionDenied(f"the reverse proxy names a user or group {_SYSTEM}..., which no person has")
        if len(name) > _LONGEST_NAME or not name.isprintable():
            raise PermissionDenied(f"a user or group has more than {_LONGEST_NAME} characters, or control characters")


def _check_host(request: web.Request) -> None:
    """Refuse a page of another site that made its own name one of this machine (DNS rebinding)."""
    if not is_loopback(request.host):
        raise PermissionDenied("call it by an address of this machine, as 127.0.0.1 or localhost")


def _identity_of(request: web.Request) -> Identity | None:
    """Give the identity by the certificate that was verified; None where none was shown."""
    certificate: dict[str, Any] | None = None if request.transport is None else request.get_extra_info("peercert")
    if not certificate:
        return None
    names = certificate.get("subjectAltName") or ()
    return Identity.of_uris(value for kind, value in names if kind == "URI")
