"""The user data of a Machine, as they are stored: for infrastructure providers that ask in place of reading Secrets.

It is never a new render: what is asked for here is what the machine has got, or gets, from its data Secret.
"""

import hashlib

from services.contract.errors import MachineNotFound, UserDataNotReady
from services.controller.data_secret import Record, controller_of, decoded_value
from services.controller.facts import Owner
from services.controller.kubernetes.failures import ApiFailure, NotFound
from services.controller.objects import Lookup, Objects
from services.controller.resources import SECRETS, Json
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb


class MachineData:
    """Reads data Secrets by the Machines that use them."""

    def __init__(self, objects: Objects, *, machines: Lookup, configs: Lookup) -> None:
        """Use an API, and the local copies of Machines and configs."""
        self._objects = objects
        self._machines = machines
        self._configs = configs

    def secret_name(self, namespace: str, machine: str) -> str:
        """Give the name of the Secret that holds, or will hold, a Machine's user data.

        Raises:
            MachineNotFound: the Machine is not there, or Slipway does not bootstrap it.
        """
        found = self._machines.get(namespace, machine)
        name = Owner(found).config_name if found is not None else ""
        if not name:
            raise MachineNotFound("there is no such Machine with a SlipwayConfig")
        return name

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
        config = self._configs.get(namespace, name)
        controller = controller_of(secret) or {}
        return config is not None and controller.get("uid") == config["metadata"]["uid"]

    def _why(self, namespace: str, name: str) -> str:
        config = self._configs.get(namespace, name) or {}
        conditions = (config.get("status") or {}).get("conditions") or ()
        ready = next((one for one in conditions if one["type"] == "Ready"), None)
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
