"""Handing KubeadmConfigs back to the kubeadm provider that Slipway has not made the data of.

The order matters, since the controller may be at work: the mark first, at which it lets go (a status that it writes
meanwhile is for an older version and does not count); then a data Secret whose status was never written, over which the
kubeadm provider may not write; then the pause, at whose end that provider begins.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from slipway.controller import ownership
from slipway.controller.data_secret import Record, controller_of
from slipway.kubernetes_api.failures import Conflict, NotFound
from slipway.kubernetes_api.objects import Objects
from slipway.kubernetes_api.resources import KUBEADM_CONFIGS, SECRETS, Json

_TRIES = 5


class Outcome(StrEnum):
    """The result for an object."""

    RELEASED = "released"
    RENDERED = "rendered"
    NOT_OURS = "not-opted-in"
    GONE = "gone"


MEANINGS = {
    Outcome.RELEASED: "the kubeadm provider goes on with it",
    Outcome.RENDERED: "its machine's data is there already: nothing is left to hand back",
    Outcome.NOT_OURS: "it was never Slipway's",
    Outcome.GONE: "there is no such object",
}


@dataclass(frozen=True, slots=True)
class Releaser:
    """Hands objects back."""

    objects: Objects
    clock: Callable[[], datetime]

    async def release(self, namespace: str, name: str) -> Outcome:
        """Hand an object back; harmless when it was handed back before, of which it does what is left.

        Raises:
            ApiFailure: a call failed; do it again.
        """
        for _ in range(_TRIES):
            try:
                config = await self.objects.get(KUBEADM_CONFIGS, namespace, name)
            except NotFound:
                return Outcome.GONE
            try:
                return await self._release(config)
            except NotFound:
                return Outcome.GONE
            except Conflict:
                continue
        raise Conflict("PATCH", KUBEADM_CONFIGS.kind, name)

    async def _release(self, config: Json) -> Outcome:
        if (config["metadata"].get("labels") or {}).get(ownership.OWNER) != ownership.SLIPWAY:
            return Outcome.NOT_OURS
        created = ((config.get("status") or {}).get("initialization") or {}).get("dataSecretCreated")
        if created or not (ownership.held(config) or ownership.released(config)):
            if ownership.held(config):
                # Only the end of the pause was not written any more.
                await self._mark(config)
                await self._let_go(config)
            return Outcome.RENDERED
        if ownership.held(config):
            await self._mark(config)
        await self._forget_data(config)
        await self._let_go(config)
        # What the controller was about to create when the object was released.
        await self._forget_data(config)
        return Outcome.RELEASED

    async def _mark(self, config: Json) -> None:
        metadata = config["metadata"]
        now = self.clock().strftime("%Y-%m-%dT%H:%M:%SZ")
        identity = {key: metadata[key] for key in ("uid", "resourceVersion")}
        await self._patch(config, {**identity, "annotations": {ownership.RELEASED: now}})

    async def _let_go(self, config: Json) -> None:
        if ownership.annotation(config, ownership.PAUSED) == ownership.SLIPWAY:
            await self._patch(config, {"uid": config["metadata"]["uid"], "annotations": {ownership.PAUSED: None}})

    async def _patch(self, config: Json, metadata: Json) -> None:
        namespace, name = config["metadata"]["namespace"], config["metadata"]["name"]
        await self.objects.merge(KUBEADM_CONFIGS, namespace, name, {"metadata": metadata})

    async def _forget_data(self, config: Json) -> None:
        """Delete a data Secret that Slipway made for the object, and no other."""
        namespace, name = config["metadata"]["namespace"], config["metadata"]["name"]
        try:
            secret = await self.objects.get(SECRETS, namespace, name)
            controller = controller_of(secret) or {}
            if Record.of_secret(secret) is not None and controller.get("uid") == config["metadata"]["uid"]:
                precondition = {"uid": secret["metadata"]["uid"]}
                await self.objects.delete(SECRETS, namespace, name, preconditions=precondition)
        except NotFound:
            return
