"""A server that takes the reports of a machine, and fails in the ways in which one can."""

import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Sink:
    """A server that takes what is put.

    Attributes:
        status: its answer.
        hangs: it answers nothing until it is closed.
        objects: the last body by path.
        requests: how many there were.
    """

    status: int = 200
    hangs: bool = False
    objects: dict[str, bytes] = field(default_factory=dict)
    requests: int = 0
    closed: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        sink = self

        class Handler(BaseHTTPRequestHandler):
            def do_PUT(self) -> None:
                sink.requests += 1
                if sink.hangs:
                    sink.closed.wait(30)
                    return
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if sink.status < 300:
                    sink.objects[self.path] = body
                self.send_response(sink.status)
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name in the base class
                del format, args

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self) -> None:
        """End it."""
        self.closed.set()
        self.server.shutdown()
        self.server.server_close()
