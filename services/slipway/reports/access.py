"""Who may read reports and bring consoles: those on the operator's lists, and whom RBAC lets do that with Machines."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from slipway.bootstrapper.callers import ALL, namespaces_by_caller
from slipway.contract.errors import PermissionDenied, Unauthenticated
from slipway.kubernetes_api.access_reviews import Access, AccessReviews
from slipway.kubernetes_api.resources import MACHINES
from slipway.rpc.identity import Identity

_AUTHENTICATED = "system:authenticated"
"""The group of each user whom an API server has authenticated."""


class Right(Enum):
    """What a call needs, as a verb and a subresource of Machines."""

    GET = ("get", "")
    LIST = ("list", "")
    WATCH = ("watch", "")
    GET_LOGS = ("get", "log")
    INGEST = ("update", "status")


@dataclass(frozen=True, slots=True)
class User:
    """A user of the management cluster, whom a reverse proxy has authenticated.

    Attributes:
        name: of the user.
        groups: of the user, as the proxy has them.
    """

    name: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

    Attributes:
        identity: by its certificate; None without TLS, where only this machine calls.
        authorization: the header of that name.
        user: for whom it calls; then nothing but the rights of that user counts.
    """

    identity: Identity | None
    authorization: str
    user: User | None = None


class ReportAccess:
    """Decides about each call."""

    def __init__(self, reviews: AccessReviews | None, *, readers: Iterable[str], consoles: Iterable[str]) -> None:
        """Decide by lists, and by the management cluster where there is one.

        Args:
            reviews: the management cluster.
            readers: who may read (see namespaces_by_caller).
            consoles: who may bring the text of consoles.

        Raises:
            ValueError: an entry of a list cannot be read.
        """
        self._reviews = reviews
        self._readers = namespaces_by_caller(readers)
        self._consoles = namespaces_by_caller(consoles)

    async def check(self, caller: Caller, right: Right, *, namespace: str, machine: str = "") -> None:
        """Return when the caller has a right to a Machine, or to all of a namespace.

        Raises:
            Unauthenticated: it is on no list and shows no token that the cluster accepts.
            PermissionDenied: the lists, or RBAC, do not give it that right.
        """
        if caller.user is not None:
            await self._check_user(caller.user, _access(right, namespace, machine))
            return
        listed = self._consoles if right is Right.INGEST else self._readers
        identity = caller.identity
        if identity is not None and any(
            {ALL, namespace} & listed.get(spiffe_id, frozenset()) for spiffe_id in identity.spiffe_ids
        ):
            return
        if self._reviews is None:
            self._check_without_cluster(identity)
            return
        access = _access(right, namespace, machine)
        if not await self._reviews.is_allowed(caller.authorization, access):
            raise _denied(access)

    async def _check_user(self, user: User, access: Access) -> None:
        if self._reviews is None:
            raise PermissionDenied("without the management cluster no user has a right")
        groups = sorted({*user.groups, _AUTHENTICATED})
        if not await self._reviews.is_allowed_to({"username": user.name, "groups": groups}, access):
            raise _denied(access)

    @staticmethod
    def _check_without_cluster(identity: Identity | None) -> None:
        if identity is None:
            return
        if not identity.spiffe_ids:
            raise Unauthenticated(
                "the caller's certificate has no SPIFFE id: it needs one URI, spiffe://..., and no other"
            )
        raise PermissionDenied("this identity is not on the operator's list (--report-readers, --console-callers)")


def _access(right: Right, namespace: str, machine: str) -> Access:
    verb, subresource = right.value
    return Access(
        verb, MACHINES.group, MACHINES.version, MACHINES.plural, subresource, namespace=namespace, name=machine
    )


def _denied(access: Access) -> PermissionDenied:
    resource = f"{access.resource}/{access.subresource}" if access.subresource else access.resource
    return PermissionDenied(f"the management cluster does not let this user {access.verb} {resource} there")
