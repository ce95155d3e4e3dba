"""What was asked and answered during a check, for whoever looks for the cause of a finding.

It holds nothing but what the suite itself has made up, its secrets included.
"""

import json
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from google.protobuf.json_format import MessageToDict, MessageToJson

from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

if TYPE_CHECKING:
    from slipway.conformance.answer import Answer

_MOST = 64
"""Renders of a check that are remembered: the last ones."""

Exchange = tuple[provisionerpb.RenderRequest, "Answer"]


class Exchanges:
    """The last renders since `begin`."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._last: deque[Exchange] = deque(maxlen=_MOST)

    def begin(self) -> None:
        """Forget what there was: another check begins."""
        self._last.clear()

    def add(self, request: provisionerpb.RenderRequest, answer: "Answer") -> None:
        """Remember a render."""
        self._last.append((request, answer))

    def write(self, folder: Path, *, more: Iterable[Exchange] = ()) -> None:
        """Write each render to files of a folder: the request, the answer, and the user data as they came."""
        folder.mkdir(parents=True, exist_ok=True)
        for number, (request, answer) in enumerate([*more, *self._last], 1):
            stem = f"{number:03}"
            (folder / f"{stem}-request.json").write_text(MessageToJson(request) + "\n", encoding="utf-8")
            (folder / f"{stem}-answer.json").write_text(_answer(answer), encoding="utf-8")
            if answer.ok:
                (folder / f"{stem}-user-data").write_bytes(answer.response.user_data)


def _answer(answer: "Answer") -> str:
    rest = {}
    if answer.ok:
        response = provisionerpb.RenderResponse()
        response.CopyFrom(answer.response)
        response.ClearField("user_data")
        rest = {"response": MessageToDict(response)}
    elif answer.status is not None:
        rest = {"status": MessageToDict(answer.status)}
    plain = {"code": answer.code, "message": answer.message, "seconds": round(answer.seconds, 3), **rest}
    return json.dumps(plain, indent=2) + "\n"
