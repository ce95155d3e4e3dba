"""The user data of a Machine, as they are stored: for infrastructure providers that ask in place of reading Secrets.

It is never a new render: what is asked for here is what the machine has got, or gets, from its data Secret.
"""

import hashlib
from collections.abc import Mapping

from slipway.contract.errors import MachineNotFound, UserDataNotReady
from slipway.controller.data_secret import Record, controller_of, decoded_value
from slipway.controller.owner import Owner
from slipway.kubernetes_api.failures import ApiFailure, NotFound
from slipway.kubernetes_api.objects import Lookup, Objects
from slipway.kubernetes_api.resources import GROUP, SECRETS, Json
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb


class MachineData:
    """Reads data Secrets by the Machines that use them."""

    def __init__(self, objects: Objects, *, machines: Lookup, configs: Mapping[str, Lookup]) -> None:
        """Use an API, and the local copies of Machines and, by API group, of configs."""
        self._objects = objects
        self._machines = machines
        self._configs = configs

    def secret_name(self, namespace: str, machine: str) -> str:
        """Give the name of the Secret that holds, or will hold, a Machine's user data.

        Raises:
            MachineNotFound: the Machine is not there, or Slipway does not bootstrap it.
        """
        machine_object = self._machines.get(namespace, machine)
        for group, configs in self._configs.items():
            name = "" if machine_object is None else Owner(machine_object).config_name_in(group)
            # Of KubeadmConfigs only those that opted in are followed, and nothing is reported of others.
            if name and (group == GROUP or configs.get(namespace, name) is not None):
                return name
        raise MachineNotFound("there is no such Machine that Slipway bootstraps")

    async def user_data(self, namespace: str, name: str) -> bootstrappb.GetUserDataResponse:
        """Give what a data Secret holds.

        Raises:
            UserDataNotReady: it is not there; the message is that of the config's condition.
        """
        try:
            secret = await self._objects.get(SECRETS, namespace, name)
        except NotFound:
            raise UserDataNotReady(f"the user data is not stored yet{self._why(namespace, name)}") from None
        except ApiFailure:
            raise UserDataNotReady("the management cluster does not answer") from None
        record = Record.of_secret(secret)
        if record is None or not self._is_of_config(secret, namespace, name):
            raise UserDataNotReady("the Secret of that name is not one of Slipway's")
        return _answer(secret, record)

    def _is_of_config(self, secret: Json, namespace: str, name: str) -> bool:
        controller = controller_of(secret) or {}
        return any(controller.get("uid") == config["metadata"]["uid"] for config in self._named(namespace, name))

    def _named(self, namespace: str, name: str) -> list[Json]:
        """Give the configs of a name, of whichever kind."""
        configs = (config.get(namespace, name) for config in self._configs.values())
        return [config for config in configs if config is not None]

    def _why(self, namespace: str, name: str) -> str:
        statuses = [config.get("status") or {} for config in self._named(namespace, name)]
        conditions = [condition for status in statuses for condition in status.get("conditions") or ()]
        ready = next((condition for condition in conditions if condition["type"] == "Ready"), None)
        return f": {ready['reason']}: {ready['message']}" if ready else ""


def _answer(secret: Json, record: Record) -> bootstrappb.GetUserDataResponse:
    data = decoded_value(secret, "value")
    answer = bootstrappb.GetUserDataResponse(
        user_data=data,
        encoding="identity",
        format=record.format,
        secret_format=decoded_value(secret, "format").decode(errors="replace"),
        sha256=hashlib.sha256(data).digest(),
        bundle_id=record.bundle_id,
    )
    answer.provisioner.name = record.provisioner
    answer.provisioner.version = record.version
    answer.size.raw_bytes = len(data)
    return answer
