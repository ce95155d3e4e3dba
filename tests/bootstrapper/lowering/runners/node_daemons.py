"""What listens on a machine of the runner's tests: ``node_daemons.py ROOT [STATUS] [SOCKET] -- PROGRAM...``.

Run by itself, in the machine's own network. STATUS is the answer on the kubelet's healthz port, "hang" for none; SOCKET
is the path of a Unix socket below ROOT. What listens ends with the program, whose process id is that of this one.
"""

import ctypes
import os
import signal
import socket
import struct
import sys
import threading
from fcntl import ioctl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_SIOCSIFFLAGS, _IFF_UP, _PR_SET_PDEATHSIG = 0x8914, 1, 1


def main() -> None:
    """Listen in a child, then become the program."""
    at = sys.argv.index("--")
    root, *daemons = sys.argv[1:at]
    program = sys.argv[at + 1 :]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as anything:
        ioctl(anything, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
    ready, started = os.pipe()
    parent = os.getpid()
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        _listen(root, daemons)
        os.write(started, b"x")
        for stream in range(3):
            os.close(stream)
        if os.getppid() == parent:
            signal.pause()
        return
    os.read(ready, 1)
    os.execvp(program[0], program)


def _listen(root: str, daemons: list[str]) -> None:
    for daemon in daemons:
        if daemon.startswith("/"):
            place = Path(root + daemon)
            place.parent.mkdir(parents=True, exist_ok=True)
            # The path of a socket has a hundred bytes at most.
            os.chdir(place.parent.parent)
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(f"{place.parent.name}/{place.name}")
            listener.listen()
            _KEPT.append(listener)
        else:
            server = ThreadingHTTPServer(("127.0.0.1", 10248), _handler(daemon))
            threading.Thread(target=server.serve_forever, daemon=True).start()


_KEPT: list[socket.socket] = []


def _handler(status: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if status == "hang":
                signal.pause()
            self.send_response(int(status) if self.path == "/healthz" else 404)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name in the base class
            del format, args

    return Handler


if __name__ == "__main__":
    main()
