"""The metadata services of clouds, for a test: ``python -m tests.node.metadata``; each machine is told its name."""

import http.server
import sys

from tools.node.site import Site

ADDRESS, PORT = "169.254.169.254", 80
_TOKEN = "a-token"
_AWS = ("X-aws-ec2-metadata-token", _TOKEN)
_WANTED = {
    "/latest/meta-data/local-hostname": _AWS,
    "/latest/meta-data/hostname": _AWS,
    "/metadata/instance/compute/osProfile/computerName": ("Metadata", "true"),
}


def name_of(address: str) -> str:
    """The name of the machine that has an address."""
    return f"ip-{address.replace('.', '-')}"


def serve(place: Site) -> None:
    """Have the machines of a site reach them."""
    place.serve("sh", "-c", f"ip address add {ADDRESS}/32 dev br0 && exec {sys.executable} -m {__name__}")


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers as both clouds do, to who asks as they want it."""

    def do_PUT(self) -> None:
        """Give a token, as AWS does."""
        self._answer(200 if self.path == "/latest/api/token" else 404, _TOKEN)

    def do_GET(self) -> None:
        """Give the name of who asks."""
        wanted = _WANTED.get(self.path.partition("?")[0])
        status = 404 if wanted is None else 200 if self.headers[wanted[0]] == wanted[1] else 401
        self._answer(status, name_of(self.client_address[0]))

    def _answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


if __name__ == "__main__":
    http.server.ThreadingHTTPServer((ADDRESS, PORT), Handler).serve_forever()
