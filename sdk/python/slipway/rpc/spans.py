"""Spans of the work within a process, below that of the call that asks for it, and as calls carry them to others.

They cost nothing where no traces are exported. Their attributes are a closed list of names and ids, never a value of a
spec or a secret, and a failure is recorded without its text. Who reads the current span loads no exporter.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Literal

Attribute = Literal["bundle_id", "engine", "format", "kind", "machine", "namespace", "pass", "provisioner"]
Attributes = Mapping[Attribute, str]
Starter = Callable[[str, Attributes], AbstractContextManager[None]]
"""Starts a span; it ends with the block."""

trace_headers: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("trace_headers", default=())
"""Metadata that carries the current span to the servers that this call calls."""

_PARENT = "traceparent"
"""Key of W3C's Trace Context: version, trace id, span id and flags, with dashes between."""

_NONE: Attributes = {}
_starters: list[Starter] = []


def export_spans(starter: Starter) -> None:
    """Have spans started by a recorder from now on."""
    _starters.append(starter)


def end_spans(starter: Starter) -> None:
    """Have a recorder start no more spans; nothing happens where it starts none."""
    if starter in _starters:
        _starters.remove(starter)


@contextmanager
def span(name: str, attributes: Attributes = _NONE) -> Iterator[None]:
    """Measure a block of work as a span below the current one, in each trace that is exported."""
    if not _starters:
        yield
        return
    with _starters[-1](name, attributes):
        yield


def trace_id() -> str:
    """Return the id of the current trace, 32 hexadecimal digits; "" where no traces are exported."""
    parent = dict(trace_headers.get()).get(_PARENT, "")
    return parent.split("-")[1] if parent else ""
