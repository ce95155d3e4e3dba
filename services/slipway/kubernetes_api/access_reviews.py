"""Asks the management cluster whose token a caller shows (TokenReview), and what that one may (SubjectAccessReview)."""

from collections.abc import Iterable
from dataclasses import dataclass

from slipway.contract.errors import PermissionDenied, Unauthenticated
from slipway.kubernetes_api.failures import ApiFailure
from slipway.kubernetes_api.objects import Objects
from slipway.kubernetes_api.resources import ACCESS_REVIEWS, TOKEN_REVIEWS, Json

AUDIENCE = "slipway"
"""For which tokens of callers are issued, unless the operator says otherwise."""

_BEARER = "bearer "


@dataclass(frozen=True, slots=True)
class Access:
    """What a caller would do in the management cluster, in the words of a SubjectAccessReview; no name: to any."""

    verb: str
    group: str
    version: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""


class AccessReviews:
    """Decides by the management cluster's own RBAC."""

    def __init__(self, objects: Objects, audiences: Iterable[str] = (AUDIENCE,)) -> None:
        """Ask the management cluster.

        Args:
            objects: the management cluster.
            audiences: for one of these a token must have been issued: one that is meant for the API server could be
                shown to it by the process that got it here.
        """
        self._objects = objects
        self._audiences = sorted(audiences)

    async def is_allowed(self, authorization: str, access: Access) -> bool:
        """Whether the caller that sends `authorization: Bearer TOKEN` may do so.

        Raises:
            Unauthenticated: there is no token, or none that the cluster accepts.
            PermissionDenied: the cluster could not be asked.
        """
        if not authorization.lower().startswith(_BEARER):
            raise Unauthenticated(
                "show a token of the management cluster for the audience "
                f"{' or '.join(self._audiences)}: authorization: Bearer TOKEN"
            )
        user = await self._user(authorization[len(_BEARER) :].strip())
        return await self.is_allowed_to(user, access)

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

    async def is_allowed_to(self, user: Json, access: Access) -> bool:
        """Whether a user may do so; `user` is as the status of a TokenReview has it.

        Raises:
            PermissionDenied: the cluster could not be asked.
        """
        attributes = {
            "namespace": access.namespace,
            "verb": access.verb,
            "group": access.group,
            "version": access.version,
            "resource": access.resource,
            "name": access.name,
        } | ({"subresource": access.subresource} if access.subresource else {})
        spec = {
            "user": user.get("username") or "",
            "uid": user.get("uid") or "",
            "groups": user.get("groups") or [],
            "extra": user.get("extra") or {},
            "resourceAttributes": attributes,
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
