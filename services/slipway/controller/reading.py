"""Who may read a Machine's user data by gRPC: those on the operator's list, and who may read its Secret anyway.

A caller that is not on the list shows a token of the management cluster (`authorization: Bearer ...`). The cluster
itself returns whose it is (TokenReview) and whether that one may get the very Secret (SubjectAccessReview): the call
opens no door that Kubernetes' own RBAC keeps closed.
"""

from collections.abc import Iterable

from slipway.bootstrapper.callers import ALL, namespaces_by_caller
from slipway.contract.errors import PermissionDenied
from slipway.kubernetes_api.access_reviews import AUDIENCE, Access, AccessReviews
from slipway.kubernetes_api.objects import Objects
from slipway.rpc.identity import Identity


class Readers:
    """Decides who may read."""

    def __init__(self, objects: Objects, allowed: Iterable[str], audiences: Iterable[str] = (AUDIENCE,)) -> None:
        """Ask the management cluster, unless the list has the caller's SPIFFE id for the namespace.

        Args:
            objects: the management cluster.
            allowed: the list.
            audiences: for one of these a token must have been issued: one that is meant for the API server could be
                shown to it by the process that got it here.

        Raises:
            ValueError: an entry of the list cannot be read (see namespaces_by_caller).
        """
        self._reviews = AccessReviews(objects, audiences)
        self._allowed = namespaces_by_caller(allowed)

    async def check(self, identity: Identity | None, authorization: str, *, namespace: str, secret: str) -> None:
        """Return when the caller may read that Secret.

        Raises:
            Unauthenticated: it is not on the list and shows no token, or none that the cluster accepts.
            PermissionDenied: RBAC does not let it get the Secret.
        """
        if identity is not None and any(
            {ALL, namespace} & self._allowed.get(identifier, frozenset()) for identifier in identity.spiffe_ids
        ):
            return
        access = Access("get", "", "v1", "secrets", namespace=namespace, name=secret)
        if not await self._reviews.is_allowed(authorization, access):
            raise PermissionDenied("the management cluster does not let this user get the data Secret")
