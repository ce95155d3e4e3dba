"""What the service needs of the management cluster: a seam, behind which tests put an API of their own."""

from typing import Protocol

from slipway.kubernetes_api.objects import Objects
from slipway.kubernetes_api.resources import Json, Resource


class AccountApi(Objects, Protocol):
    """Creates objects. Every verb raises the kinds of ApiFailure; see api.py."""

    async def create_dry(self, resource: Resource, namespace: str, body: Json) -> None: ...
