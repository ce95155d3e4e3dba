"""Mutants that trust what their language does by itself: its JSON, its nothings, its numbers."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from slipway.conformance.contents import json_string
from slipway.v1alpha1 import content_pb2 as contentpb
from tests.services.conformance.bent import Bent, Request, Response, Servicer, abort
from tests.services.conformance.mutants.mutant import Mutant

_JSON = contentpb.SPLICE_ENCODING_JSON_STRING


def mutants() -> Iterator[Mutant]:
    """Give them."""
    escapes = ("RND-016.json-escapes",)
    yield Mutant(
        "JSON that is no YAML", escapes, Bent(before=_spliced(lambda text: json.dumps(text, ensure_ascii=False)))
    )
    yield Mutant("JSON for web pages", escapes, Bent(before=_spliced(_for_web_pages)))
    yield Mutant("JSON with long escapes only", escapes, Bent(before=_spliced(_at_length)))
    yield Mutant("a mode of 0 is none", ("RND-018.core-items",), Bent(before=_usual_mode), ("EXE",))
    yield Mutant("numbers with a sign", ("LIM-004.generous-limit",), Bent(call=_signed))


def _spliced(write: Callable[[str], str]) -> Callable[[Request, Any], Any]:
    """Write JSON strings in another way."""

    async def bend(request: Request, _context: Any) -> None:
        values = {(one.name, one.key): one.value for one in request.bundle.secrets.secrets}
        for file in request.bundle.os.files:
            for segment in file.content.segments:
                value = values.get((segment.secret_ref.name, segment.secret_ref.key))
                if segment.encoding == _JSON and value is not None:
                    segment.data = write(value.decode()).encode()
                    segment.ClearField("encoding")

    return bend


def _for_web_pages(text: str) -> str:
    return "".join(f"\\u{ord(char):04x}" if char in "<>&" else char for char in json_string(text))


def _at_length(text: str) -> str:
    return json_string(text).replace("\\b", "\\u0008").replace("\\f", "\\u000c")


async def _usual_mode(request: Request, _context: Any) -> None:
    for file in request.bundle.os.files:
        file.mode = file.mode or 0o644


async def _signed(servicer: Servicer, request: Request, context: Any) -> Response:
    if request.max_user_data_bytes >= 1 << 63:
        status = Status(code=9, message="the user data is larger than allowed")
        status.details.add().Pack(ErrorInfo(reason="USER_DATA_TOO_LARGE", domain="slipway.dev"))
        await abort(context, status)
    return await servicer.rendered(request, context)
