"""Who may read reports and bring consoles: those on the operator's lists, and whom RBAC lets do that with Machines."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from slipway.bootstrapper.callers import ALL, namespaces_by_caller
from slipway.contract.errors import PermissionDenied, Unauthenticated
from slipway.kubernetes_api.access_reviews import Access, AccessReviews
from slipway.kubernetes_api.resources import MACHINES
from slipway.rpc.identity import Identity


class Right(Enum):
    """What a call needs, as a verb and a subresource of Machines."""

    GET = ("get", "")
    LIST = ("list", "")
    WATCH = ("watch", "")
    GET_LOGS = ("get", "log")
    INGEST = ("update", "status")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

    Attributes:
        identity: by its certificate; None without TLS, where only this machine calls.
        authorization: the header of that name.
    """

    identity: Identity | None
    authorization: str


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
        listed = self._consoles if right is Right.INGEST else self._readers
        identity = caller.identity
        if identity is not None and any(
            {ALL, namespace} & listed.get(spiffe_id, frozenset()) for spiffe_id in identity.spiffe_ids
        ):
            return
        if self._reviews is None:
            self._check_without_cluster(identity)
            return
        verb, subresource = right.value
        access = Access(
            verb, MACHINES.group, MACHINES.version, MACHINES.plural, subresource, namespace=namespace, name=machine
        )
        if not await self._reviews.is_allowed(caller.authorization, access):
            resource = f"{MACHINES.plural}/{subresource}" if subresource else MACHINES.plural
            raise PermissionDenied(f"the management cluster does not let this user {verb} {resource} there")

    @staticmethod
    def _check_without_cluster(identity: Identity | None) -> None:
        if identity is None:
            return
        if not identity.spiffe_ids:
            raise Unauthenticated("the caller's certificate has no SPIFFE id: it needs a URI spiffe://...")
        raise PermissionDenied("this identity is not on the operator's list (--report-readers, --console-callers)")
