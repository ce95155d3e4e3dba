"""Ways to bend what a provisioner says, answers, or refuses."""

import hashlib
from collections.abc import Callable
from typing import Any

from google.protobuf.message import Message
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from tests.services.conformance.bent import Bent, Request, Response
from tests.services.conformance.mutants.mutant import Info


def said(change: Callable[[Info], object]) -> Bent:
    return Bent(info=lambda info, _: change(info) and None)


def setting(**values: Any) -> Callable[[Info], object]:
    def change(info: Info) -> None:
        for name, value in values.items():
            setattr(info, name, value)

    return change


def setting_first(**values: Any) -> Callable[[Info], object]:
    def change(info: Info) -> None:
        for name, value in values.items():
            setattr(info.formats[0], name, value)

    return change


def metadata(key: str, change: Callable[[str], str]) -> Callable[[Request, Status], None]:
    def bend(_request: Request, status: Status) -> None:
        change_info(status, lambda info: info.metadata.update({key: change(info.metadata.get(key, ""))}))

    return bend


def change_info(status: Status, change: Callable[[ErrorInfo], object]) -> None:
    for detail in status.details:
        if detail.Is(ErrorInfo.DESCRIPTOR):
            info = ErrorInfo()
            detail.Unpack(info)
            change(info)
            detail.Pack(info)


def without(*kinds: type[Message]) -> Callable[[Request, Status], None]:
    def bend(_request: Request, status: Status) -> None:
        kept = [detail for detail in status.details if not any(detail.Is(kind.DESCRIPTOR) for kind in kinds)]
        del status.details[:]
        status.details.extend(kept)

    return bend


def answered(change: Callable[[Request, Response], object], *, rehash: bool = True, **more: Any) -> Bent:
    def after(request: Request, response: Response) -> None:
        change(request, response)
        if rehash and response.user_data:
            response.sha256 = hashlib.sha256(response.user_data).digest()

    return Bent(after=after, **more)


def append(text: Callable[[Request], str]) -> Bent:
    """Add a comment to the user data, which changes no meaning."""

    def change(request: Request, response: Response) -> None:
        if response.user_data:
            response.user_data += f"# {text(request)}\n".encode()

    return answered(change)
