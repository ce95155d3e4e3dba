"""Who may read a Machine's user data by gRPC: those on the operator's list, and whoever may read its Secret anyway.

A caller that is not on the list shows a token of the management cluster (`authorization: Bearer ...`). The cluster
itself tells whose it is (TokenReview) and whether that one may get the very Secret (SubjectAccessReview): the call
opens no door that Kubernetes' own RBAC keeps closed.
"""

from collections.abc import Iterable

from slipway.bootstrapper.callers import ALL, namespaces_by_caller
from slipway.contract.errors import PermissionDenied, Unauthenticated
from slipway.controller.kubernetes.failures import ApiFailure
from slipway.controller.objects import Objects
from slipway.controller.resources import ACCESS_REVIEWS, TOKEN_REVIEWS, Json
from slipway.rpc.identity import Identity

_BEARER = "bearer "

AUDIENCE = "slipway"
"""For which tokens of callers are issued, unless the operator says otherwise."""


class Readers:
    """Decides who may read."""

    def __init__(self, objects: Objects, allowed: Iterable[str], audiences: Iterable[str] = (AUDIENCE,)) -> None:
        """Ask the management cluster, unless the list has the caller's SPIFFE id for the namespace.

        Args:
            objects: the management cluster.
            allowed: the list.
            audiences: for one of these a token must have been issued: one that is meant for the API server could be
                shown to it by whoever got it here.

        Raises:
            ValueError: an entry of the list cannot be read (see namespaces_by_caller).
        """
        self._objects = objects
        self._allowed = namespaces_by_caller(allowed)
        self._audiences = sorted(audiences)

    async def check(self, identity: Identity | None, authorization: str, *, namespace: str, secret: str) -> None:
        """Return when the caller may read that Secret.

        Raises:
            Unauthenticated: it is not on the list and shows no token, or none that the cluster accepts.
            PermissionDenied: RBAC does not let it get the Secret.
        """
        if identity is not None and any(
            {ALL, namespace} & self._allowed.get(one, frozenset()) for one in identity.spiffe_ids
        ):
            return
        if not authorization.lower().startswith(_BEARER):
            raise Unauthenticated(
                "show a token of the management cluster for the audience "
                f"{' or '.join(self._audiences)}: authorization: Bearer TOKEN"
            )
        user = await self._user(authorization[len(_BEARER) :].strip())
        if not await self._may_get(user, namespace=namespace, secret=secret):
            raise PermissionDenied("the management cluster does not let this user get the data Secret")

    async def _user(self, token: str) -> Json:
        body = {
            "apiVersion": TOKEN_REVIEWS.api_version,
            "kind": TOKEN_REVIEWS.kind,
            "spec": {"token": token, "audiences": self._audiences},
        }
        status = await self._review(body, token_review=True)
        # An authenticator that knows nothing of audiences names none, and its token is the API server's own.
        if not status.get("authenticated") or not {*self._audiences} & {*(status.get("audiences") or ())}:
            raise Unauthenticated(
                f"the management cluster does not accept the token for the audience {' or '.join(self._audiences)}"
            )
        user: Json = status.get("user") or {}
        return user

    async def _may_get(self, user: Json, *, namespace: str, secret: str) -> bool:
        spec = {
            "user": user.get("username") or "",
            "uid": user.get("uid") or "",
            "groups": user.get("groups") or [],
            "extra": user.get("extra") or {},
            "resourceAttributes": {
                "namespace": namespace,
                "verb": "get",
                "group": "",
                "version": "v1",
                "resource": "secrets",
                "name": secret,
            },
        }
        body = {"apiVersion": ACCESS_REVIEWS.api_version, "kind": ACCESS_REVIEWS.kind, "spec": spec}
        status = await self._review(body, token_review=False)
        return bool(status.get("allowed")) and not status.get("denied")

    async def _review(self, body: Json, *, token_review: bool) -> Json:
        resource = TOKEN_REVIEWS if token_review else ACCESS_REVIEWS
        try:
            answer = await self._objects.create(resource, "", body)
        except ApiFailure:
            raise PermissionDenied("the management cluster could not be asked who the caller is") from None
        status: Json = answer.get("status") or {}
        return status
