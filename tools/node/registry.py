"""A private registry over an archive: ``python -m tools.node.registry ADDRESS PORT ARCHIVE CERTIFICATE KEY``.

It serves reading only, by TLS. Blobs stay where they are in the archive. Each request is a line on standard output.
"""

from __future__ import annotations

import http.server
import json
import re
import ssl
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

_BLOBS = "blobs/sha256/"
_REQUEST = re.compile(r"/v2/(?P<name>.+)/(?P<kind>manifests|blobs)/(?P<reference>[^/?]+)(\?.*)?")
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_OK, _NOT_FOUND = 200, 404
Blobs = Mapping[str, tuple[int, int]]


def read(archive: Path) -> tuple[Blobs, Mapping[tuple[str, str], str]]:
    """Where each blob stands in the archive, and the digest of each (name, tag)."""
    with tarfile.open(archive) as opened:
        members = {member.name: member for member in opened}
        index = opened.extractfile(members["index.json"])
        manifests = json.load(index)["manifests"] if index else []
    blobs = {
        f"sha256:{name.removeprefix(_BLOBS)}": (member.offset_data, member.size)
        for name, member in members.items()
        if name.startswith(_BLOBS)
    }
    tags = {}
    for manifest in manifests:
        name, _, tag = manifest["annotations"]["io.containerd.image.name"].partition("/")[2].rpartition(":")
        tags[name, tag] = manifest["digest"]
    return blobs, tags


def serve(address: tuple[str, int], archive: Path, *, certificate: Path, key: Path) -> None:
    """Answers until it is killed."""
    blobs, tags = read(archive)

    class Handler(http.server.BaseHTTPRequestHandler):
        """One request."""

        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(body=True)

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 the name is http.server's
            print(format % arguments, flush=True)

        def _answer(self, *, body: bool) -> None:
            if self.path == "/v2/":
                self._send(_OK, b"{}", "application/json", "", body=body)
                return
            request = _REQUEST.fullmatch(self.path)
            reference = request["reference"] if request else ""
            digest = (
                reference if reference in blobs else tags.get((request["name"], reference) if request else ("", ""))
            )
            if not request or digest is None:
                self._send(_NOT_FOUND, b"{}", "application/json", "", body=body)
                return
            offset, size = blobs[digest]
            with archive.open("rb") as handle:
                handle.seek(offset)
                content = handle.read(size)
            kind = _MANIFEST if request["kind"] == "manifests" else "application/octet-stream"
            self._send(_OK, content, kind, digest, body=body)

        def _send(self, status: int, content: bytes, kind: str, digest: str, *, body: bool) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            if digest:
                self.send_header("Docker-Content-Digest", digest)
            self.end_headers()
            if body:
                self.wfile.write(content)

    server = http.server.ThreadingHTTPServer(address, Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()


if __name__ == "__main__":
    host, port, images, chain, private = sys.argv[1:]
    serve((host, int(port)), Path(images), certificate=Path(chain), key=Path(private))
