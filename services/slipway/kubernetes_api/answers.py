"""What an API server answers: plain trees, events of a watch, or failures; never the words of the server."""

import json
from collections.abc import Callable
from typing import Any

import aiohttp

from slipway.kubernetes_api.failures import ApiFailure, failure
from slipway.kubernetes_api.resources import Json


def without_redirects() -> aiohttp.TraceConfig:
    """Return a trace that ends a request which is redirected: its credentials would go to an unchecked address."""

    async def refuse(_: aiohttp.ClientSession, __: object, redirect: aiohttp.TraceRequestRedirectParams) -> None:
        redirect.response.close()
        raise aiohttp.ClientError("a redirect")

    tracing = aiohttp.TraceConfig()
    tracing.on_request_redirect.append(refuse)
    return tracing


Read = Callable[[bytes], Any]
"""How JSON is read: ValueError when it is invalid, or has more values than a server of its kind may answer."""


def tree(status: int, data: bytes, read: Read = json.loads) -> Json:
    """Read an answer; ValueError when it is no JSON object, or another kind of answer than a success."""
    answer = read(data)
    if not isinstance(answer, dict) or status >= 300:  # noqa: PLR2004  # a code of HTTP
        raise ValueError("no JSON object")
    return answer


def event(line: Json) -> Json:
    """Check the shape of an event of a watch; ValueError when it has another one."""
    item = line.get("object")
    metadata = item.get("metadata") if isinstance(item, dict) else None
    version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    if line.get("type") != "ERROR" and not isinstance(version, str):
        raise ValueError("no event")
    return {"type": "", **line}


def drop(response: aiohttp.ClientResponse) -> None:
    """End a watch at once: a farewell by TLS would wait for a server that may be busy, or gone."""
    if response.connection is not None and response.connection.transport is not None:
        response.connection.transport.abort()
    response.close()


def failure_of(  # noqa: PLR0913  # what an answer is known by
    status: int, data: bytes, read: Read = json.loads, *, verb: str, kind: str, name: str
) -> ApiFailure:
    """Return the failure that a status means, with the reason and the fields that the server names."""
    try:
        answer = read(data)
        reason = str(answer.get("reason", ""))
        causes = (answer.get("details") or {}).get("causes") or ()
        fields = ", ".join(sorted({str(cause.get("field", "")) for cause in causes if cause.get("field")}))
    except (ValueError, AttributeError, TypeError, RecursionError):
        reason, fields = "", ""
    return failure(status, reason, verb=verb, kind=kind, name=name, fields=fields)
