"""A small client of an API server for tools and tests: objects as they are written, nothing cached.

It stands apart from the controller's client on purpose: what checks the controller must not share its faults.
"""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from tools.cluster.access import Access
from tools.cluster.failures import Refused
from tools.oracles.failures import EngineTimeout

Object = dict[str, Any]

OWNER = "slipway-tools"
_TIMEOUT = 60.0
_INTERVAL = 0.2
_CLOSED = (ConnectionError, ssl.SSLEOFError, ssl.SSLZeroReturnError)  # By a server that is idle or new.
_JSON = "application/json"
_MERGE = "application/merge-patch+json"
_APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of objects with its place in the API: ``Kind("v1", "Secret", "secrets")``."""

    api_version: str
    name: str
    plural: str
    namespaced: bool = True

    def path(self, *, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The path of one object, or of all of them."""
        root = "/apis/" if "/" in self.api_version else "/api/"
        inside = ("namespaces", namespace) if self.namespaced and namespace else ()
        parts = (*inside, self.plural, *filter(None, (name, subresource)))
        return root + self.api_version + "".join("/" + quote(part) for part in parts)


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    path: str
    body: Object | None
    query: Mapping[str, str]
    content_type: str = _JSON


class _Connection(http.client.HTTPSConnection):
    """One that closes with its last user: a client is thrown away without ceremony."""

    def __del__(self) -> None:
        self.close()


class Client:
    """Speaks with one API server as one user."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self._host = urlsplit(access.server).netloc
        self._tls = access.tls()
        self._local = threading.local()  # One connection a thread; a TLS handshake costs more than a request.
        self._kinds: dict[tuple[str, str], Kind] = {}

    def kind(self, api_version: str, name: str) -> Kind:
        """Find a kind by discovery.

        Raises:
            Refused: 404 when the server does not know it (yet).
        """
        if (api_version, name) not in self._kinds:
            root = "/apis/" if "/" in api_version else "/api/"
            for resource in self.request("GET", root + api_version)["resources"]:
                if "/" not in resource["name"]:
                    kind = Kind(api_version, resource["kind"], resource["name"], resource["namespaced"])
                    self._kinds[api_version, resource["kind"]] = kind
        if (api_version, name) not in self._kinds:
            raise Refused(404, "NotFound", f"the server has no kind {name} in {api_version}")
        return self._kinds[api_version, name]

    def get(self, api_version: str, kind: str, name: str, *, namespace: str = "default") -> Object:
        """Read an object; ``Refused`` with 404 if it does not exist."""
        return self.request("GET", self.kind(api_version, kind).path(namespace=namespace, name=name))

    def find(self, api_version: str, kind: str, name: str, *, namespace: str = "default") -> Object | None:
        """Read an object, or give None if it does not exist."""
        try:
            return self.get(api_version, kind, name, namespace=namespace)
        except Refused as refused:
            if refused.status == http.HTTPStatus.NOT_FOUND:
                return None
            raise

    def list(self, api_version: str, kind: str, *, namespace: str = "", selector: str = "") -> list[Object]:
        """Read all objects of a kind, of one namespace when it is named, of one label selector when it is given."""
        query = {"labelSelector": selector} if selector else {}
        answer = self.request("GET", self.kind(api_version, kind).path(namespace=namespace), query=query)
        return [{"apiVersion": api_version, "kind": kind, **item} for item in answer["items"]]

    def create(self, document: Object) -> Object:
        """Create an object; ``Refused`` with 409 when it is there."""
        return self.request("POST", self._path(document, collection=True), document)

    def apply(self, document: Object, *, owner: str = OWNER, dry_run: bool = False) -> Object:
        """Apply an object on the server's side, taking over fields that others own."""
        query = {"fieldManager": owner, "force": "true", **({"dryRun": "All"} if dry_run else {})}
        return self.request("PATCH", self._path(document), document, query=query, content_type=_APPLY)

    def patch(self, document: Object, change: Object, *, subresource: str = "") -> Object:
        """Change an object by a merge patch; of ``document`` only kind and name are read."""
        path = self._path(document, subresource=subresource)
        return self.request("PATCH", path, change, content_type=_MERGE)

    def delete(self, document: Object, *, propagation: str = "Background") -> None:
        """Delete an object; content when it is gone already."""
        try:
            self.request("DELETE", self._path(document), {"propagationPolicy": propagation})
        except Refused as refused:
            if refused.status != http.HTTPStatus.NOT_FOUND:
                raise

    def watch(
        self, api_version: str, kind: str, *, namespace: str = "", name: str = "", seconds: float = _TIMEOUT
    ) -> Iterator[tuple[str, Object]]:
        """Give (type, object) of what is there (as ADDED) and of every change, until ``seconds`` are over."""
        path = self.kind(api_version, kind).path(namespace=namespace)
        query = {"watch": "true", "timeoutSeconds": str(max(1, round(seconds)))}
        if name:
            query["fieldSelector"] = f"metadata.name={name}"
        connection = self._connection(seconds + 5)
        try:
            for line in self._send(connection, _Request("GET", path, None, query)):
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise _refused(event["object"]["code"], json.dumps(event["object"]).encode())
                yield event["type"], event["object"]
        finally:
            connection.close()

    def until(  # noqa: PLR0913 what is waited for needs all of its coordinates
        self, api_version: str, kind: str, name: str, true: Callable[[Object], object], *, namespace: str = "default",
        seconds: float = _TIMEOUT,
    ) -> Object:  # fmt: skip
        """Wait, by watch, until something is true of an object that may not exist yet; give it as it was then.

        Raises:
            EngineTimeout: it did not become true; the message ends with the object as it was last.
        """
        end, last = time.monotonic() + seconds, None
        while (remaining := end - time.monotonic()) > 0:
            try:
                for event, seen in self.watch(api_version, kind, namespace=namespace, name=name, seconds=remaining):
                    last = seen
                    if event != "DELETED" and true(seen):
                        return seen
            except (OSError, http.client.HTTPException, Refused):
                # The server is being started again, or lost its cache.
                time.sleep(_INTERVAL)
        raise EngineTimeout(f"{kind} {name} was not so after {seconds:.0f} s: {json.dumps(last)}")

    def wait_gone(
        self, api_version: str, kind: str, name: str, *, namespace: str = "default", seconds: float = _TIMEOUT
    ) -> None:
        """Wait until there is no such object.

        Raises:
            EngineTimeout: there still is; the message ends with it.
        """
        end = time.monotonic() + seconds
        while (body := self.find(api_version, kind, name, namespace=namespace)) is not None:
            if time.monotonic() > end:
                raise EngineTimeout(f"{kind} {name} is still there after {seconds:.0f} s: {json.dumps(body)}")
            time.sleep(_INTERVAL)

    def request(
        self, method: str, path: str, body: Object | None = None, *, query: Mapping[str, str] | None = None,
        content_type: str = _JSON,
    ) -> Object:  # fmt: skip
        """Send one request.

        Raises:
            Refused: the server's answer is an error.
            OSError: there is no server.
        """
        request = _Request(method, path, body, query or {}, content_type)
        reused = self._kept().sock is not None
        try:
            answer = self._send(self._kept(), request).read()
        except (OSError, http.client.HTTPException) as failure:
            self._kept().close()
            if not reused or not isinstance(failure, _CLOSED):
                raise
            answer = self._send(self._kept(), request).read()
        parsed: Object = json.loads(answer) if answer[:1] == b"{" else {"text": answer.decode()}
        return parsed

    def _path(self, document: Object, *, collection: bool = False, subresource: str = "") -> str:
        metadata = document["metadata"]
        namespace = metadata.get("namespace", "default")
        kind = self.kind(document["apiVersion"], document["kind"])
        return kind.path(namespace=namespace, name="" if collection else metadata["name"], subresource=subresource)

    def _kept(self) -> _Connection:
        if not hasattr(self._local, "connection"):
            self._local.connection = self._connection(_TIMEOUT)
        kept: _Connection = self._local.connection
        return kept

    def _connection(self, timeout: float) -> _Connection:
        return _Connection(self._host, timeout=timeout, context=self._tls)

    def _send(self, connection: _Connection, request: _Request) -> http.client.HTTPResponse:
        headers = {"Accept": _JSON, "Content-Type": request.content_type, "User-Agent": OWNER}
        if self.access.token:
            headers["Authorization"] = f"Bearer {self.access.token}"
        target = f"{request.path}?{urlencode(request.query)}" if request.query else request.path
        body = None if request.body is None else json.dumps(request.body).encode()
        connection.request(request.method, target, body=body, headers=headers)
        response = connection.getresponse()
        if response.status >= http.HTTPStatus.BAD_REQUEST:
            raise _refused(response.status, response.read())
        return response


def _refused(status: int, body: bytes) -> Refused:
    try:
        answer = json.loads(body)
    except ValueError:
        answer = {}
    return Refused(status, answer.get("reason", ""), answer.get("message", body.decode(errors="replace")[:500]))


def ready(access: Access) -> bool:
    """Whether the API server says that it is ready."""
    try:
        return Client(access).request("GET", "/readyz") == {"text": "ok"}
    except (OSError, http.client.HTTPException, Refused):
        return False
