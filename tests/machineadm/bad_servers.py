"""HTTP servers that do what servers should not: they hang, cut short, lie, and lead elsewhere."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

Answer = Callable[["Server"], bytes]


@dataclass
class Server:
    """A server on this machine that says the same to each client.

    Attributes:
        address: where it is, without a path.
        answer: what it sends, at once.
        hangs: it sends no more then, and keeps the connection; otherwise it closes it.
        requests: what it was asked, headers and all.
    """

    address: str
    answer: bytes
    hangs: bool = False
    requests: list[str] = field(default_factory=list)
    open: list[socket.socket] = field(default_factory=list)

    def serve(self, listener: socket.socket, context: ssl.SSLContext | None) -> None:
        """Answer until the listener is shut down."""
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with suppress(OSError):
                self._converse(connection, context)

    def _converse(self, connection: socket.socket, context: ssl.SSLContext | None) -> None:
        secured = context.wrap_socket(connection, server_side=True) if context else connection
        request = b""
        while b"\r\n\r\n" not in request:
            received = secured.recv(65536)
            if not received:
                return
            request += received
        self.requests.append(request.decode())
        secured.sendall(self.answer)
        if self.hangs:
            self.open.append(secured)
        else:
            secured.close()


def answer(body: bytes, *, length: int | None = None) -> bytes:
    """Give an answer whose header promises a length, that of the body by default."""
    promised = len(body) if length is None else length
    return f"HTTP/1.1 200 OK\r\nContent-Length: {promised}\r\nConnection: close\r\n\r\n".encode() + body


def redirect(url: str) -> bytes:
    """Give an answer that leads elsewhere."""
    return f"HTTP/1.1 302 Found\r\nLocation: {url}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()


@contextmanager
def serving(
    text: bytes, *, hangs: bool = False, address: str = "127.0.0.1", certificate: Path | None = None
) -> Iterator[Server]:
    """Run a server; over HTTPS with a file that has its certificate and its key."""
    context = None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
    with socket.create_server((address, 0)) as listener:
        scheme = "https" if certificate else "http"
        server = Server(f"{scheme}://{address}:{listener.getsockname()[1]}", text, hangs)
        thread = threading.Thread(target=server.serve, args=(listener, context))
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in server.open:
                connection.close()
