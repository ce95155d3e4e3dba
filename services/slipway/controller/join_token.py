"""The token of one machine in its workload cluster: what its engine says has to be there is read and written here."""

import base64
from dataclasses import dataclass
from datetime import datetime, timedelta

from slipway.bootstrapper.engines.join_tokens import JoinTokens, Maker, TokenRequest, TokenTakenError, Upkeep, Values
from slipway.controller.halt import Halt
from slipway.controller.reasons import Reason
from slipway.controller.secret_reader import decoded
from slipway.kubernetes_api.failures import AlreadyExists, NotFound
from slipway.kubernetes_api.objects import Objects
from slipway.kubernetes_api.resources import SECRETS, Json


@dataclass(frozen=True, slots=True)
class JoinToken:
    """A machine's token, and the mechanism of its engine."""

    tokens: JoinTokens
    request: TokenRequest

    @property
    def is_made_here(self) -> bool:
        """Whether the controller makes and refreshes it; else the cluster has it, and it is only read."""
        return self.tokens.made_by is Maker.CONTROLLER

    @property
    def secret(self) -> str:
        """Name of the secret in which the machine has it."""
        return self.tokens.secret(self.request.role)

    @property
    def where(self) -> str:
        """The Secret in the workload cluster, for people."""
        place = self.tokens.place(self.request)
        return f"the Secret {place.namespace}/{place.name} of the workload cluster"

    async def read_text(self, objects: Objects) -> str:
        """Give the token that the cluster has made, "" until a usable token exists."""
        secret = await self._find(objects)
        return self.tokens.text(self.request, _values(secret) if secret else None)

    async def read_expiry(self, objects: Objects) -> datetime | None:
        """Give until when the cluster accepts it, None where it does not at all."""
        secret = await self._find(objects)
        return self.tokens.expiry(self.request, _values(secret) if secret else None)

    async def ensure(self, objects: Objects, *, ttl: timedelta, now: datetime, expected: bool) -> datetime:
        """See to it that the cluster accepts it for `ttl` from now on, and give until when it does.

        Raises:
            Halt: its Secret holds another token.
        """
        secret = await self._find(objects) if expected else None
        if secret is None:
            upkeep, place = self._upkeep(None, ttl=ttl, now=now), self.tokens.place(self.request)
            try:
                await objects.create(SECRETS, place.namespace, _object(place.namespace, place.name, upkeep))
            except AlreadyExists:
                secret = await self._find(objects)
            else:
                return upkeep.until
        if secret is None:
            # The token cleaner was between us: the next look creates it.
            return now
        upkeep = self._upkeep(_values(secret), ttl=ttl, now=now)
        if upkeep.values:
            patch = {"metadata": {"uid": secret["metadata"]["uid"]}, "data": _encoded(upkeep.values)}
            place = self.tokens.place(self.request)
            await objects.merge(SECRETS, place.namespace, place.name, patch)
        return upkeep.until

    def _upkeep(self, there: Values | None, *, ttl: timedelta, now: datetime) -> Upkeep:
        try:
            return self.tokens.upkeep(self.request, there, now=now, ttl=ttl)
        except TokenTakenError:
            raise Halt(Reason.TOKEN_TAKEN, f"{self.where} holds another token of that id") from None

    async def _find(self, objects: Objects) -> Json | None:
        place = self.tokens.place(self.request)
        try:
            return await objects.get(SECRETS, place.namespace, place.name)
        except NotFound:
            return None


def _object(namespace: str, name: str, upkeep: Upkeep) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": upkeep.type,
        "metadata": {"name": name, "namespace": namespace},
        "data": _encoded(upkeep.values),
    }


def _encoded(values: Values) -> dict[str, str]:
    return {key: base64.b64encode(value).decode() for key, value in values.items()}


def _values(secret: Json) -> Values:
    """Give what a Secret of a foreign cluster holds, whatever its shape."""
    data = secret.get("data")
    return decoded({key: text for key, text in data.items() if isinstance(text, str)}) if isinstance(data, dict) else {}
