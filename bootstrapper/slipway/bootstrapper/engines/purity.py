"""What a function asks of the machine that it runs on: files, processes, the network; a pure one asks nothing."""

import functools
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_ASKS = ("open", "os.", "socket.", "subprocess.", "shutil.", "tempfile.", "urllib.")
"""Beginnings of Python's audit events; see its table of them."""

_watched: dict[int, list[str]] = {}
"""By thread that is watched."""


@contextmanager
def watched() -> Iterator[list[str]]:
    """Give the list of what this thread asks of the machine, which grows until the end of the block.

    A clock and a random number leave no trace.
    """
    _install()
    events: list[str] = []
    _watched[threading.get_ident()] = events
    try:
        yield events
    finally:
        del _watched[threading.get_ident()]


@functools.cache
def _install() -> None:
    """Install the hook once: Python has no way to take it away."""
    sys.addaudithook(_hear)


def _hear(event: str, _: tuple[object, ...]) -> None:
    events = _watched.get(threading.get_ident())
    if events is not None and event.startswith(_ASKS):
        events.append(event)
