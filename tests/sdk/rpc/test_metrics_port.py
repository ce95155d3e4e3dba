"""The metrics' port answers, whoever else is connected to it."""

import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest
from prometheus_client import CollectorRegistry, Gauge

from slipway.rpc.metrics_port import MAX_CONNECTIONS_OF_HOST, MetricsPort


@pytest.fixture
def registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    Gauge("slipway_try", "One.", registry=registry).set(1)
    return registry


@pytest.fixture
def port(registry: CollectorRegistry) -> Iterator[MetricsPort]:
    served = MetricsPort(registry, host="127.0.0.1", port=0)
    yield served
    served.close()


def _fetch(port: MetricsPort, path: str = "/metrics") -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port.port}{path}", timeout=10) as answer:
        return str(answer.read(), "utf-8")


def _is_closed(line: socket.socket) -> bool:
    """Whether the other side has ended, or ends now."""
    try:
        return line.recv(1) == b""
    except ConnectionError:
        return True


def test_idle_connections_pin_no_thread(port: MetricsPort) -> None:
    """Connections that send nothing, or half of a header, take neither a thread nor the answer of others."""
    threads = threading.active_count()
    with ExitStack() as held:
        for index in range(MAX_CONNECTIONS_OF_HOST - 1):
            line = held.enter_context(socket.create_connection(("127.0.0.1", port.port)))
            line.sendall(b"GET /metrics HTTP/1.1\r\nX: "[: index * 3])
        assert "slipway_try 1.0" in _fetch(port)
        assert threading.active_count() <= threads


def test_connections_of_one_host_are_bounded(port: MetricsPort) -> None:
    """One more than allowed is closed at once, and each that ends makes room."""
    with ExitStack() as held:
        lines = [
            held.enter_context(socket.create_connection(("127.0.0.1", port.port)))
            for _ in range(MAX_CONNECTIONS_OF_HOST)
        ]
        with socket.create_connection(("127.0.0.1", port.port), timeout=10) as surplus:
            assert _is_closed(surplus)
        lines[0].sendall(b"POST / HTTP/1.1\r\n\r\n")
        assert lines[0].recv(100).startswith(b"HTTP/1.1 405 ")
        while lines[0].recv(100):
            pass
        assert "slipway_try 1.0" in _fetch(port)


def test_a_slow_connection_is_ended(registry: CollectorRegistry) -> None:
    """What has sent no whole header in its time is closed by the server."""
    served = MetricsPort(registry, host="127.0.0.1", port=0, seconds=0.05)
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as line:
        line.sendall(b"GET /metrics HTTP/1.1\r\n")
        assert _is_closed(line)
    served.close()


def test_a_header_without_an_end_is_not_held(port: MetricsPort) -> None:
    """More than a header may have ends the connection."""
    with socket.create_connection(("127.0.0.1", port.port), timeout=20) as line:
        with suppress(ConnectionError):
            line.sendall(b"x" * 100_000)
        assert _is_closed(line)


@pytest.mark.parametrize(("path", "reason"), [("/metrics", "as always"), ("/", "as before"), ("/metrics?name[]=x", "")])
def test_paths_that_scrapers_ask(port: MetricsPort, path: str, reason: str) -> None:
    """The text is at the usual path."""
    assert "slipway_try 1.0" in _fetch(port, path), reason


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has one family of addresses only")
def test_every_address_of_either_family(registry: CollectorRegistry) -> None:
    """Pods have addresses of one family or the other, and their manifests say "::"."""
    served = MetricsPort(registry, host="::", port=0)
    for address in ("127.0.0.1", "[::1]"):
        with urllib.request.urlopen(f"http://{address}:{served.port}/metrics", timeout=10) as answer:
            assert b"slipway_try 1.0" in answer.read()
    served.close()


def test_nothing_is_left_after_the_end(registry: CollectorRegistry) -> None:
    """The port is free again, also with a connection that was open."""
    served = MetricsPort(registry, host="127.0.0.1", port=0)
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as line:
        line.sendall(b"GET ")
        served.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", served.port), timeout=10)
