"""The ways in which an engine itself (not the document given to it) can let its caller down.

::

    EngineError
    ├── EngineMissing     the engine is not on this machine; the message says how to build it
    ├── EngineTimeout     the engine did not end within its time limit and was killed
    └── EngineBroken      the engine ended, but left no result that can be read
"""

from __future__ import annotations


class EngineError(Exception):
    """Base of all failures of an engine as such."""


class EngineMissing(EngineError):  # noqa: N818  # subject and state; the base class is EngineError
    """The engine is not installed. ``name`` is what ``tools.oracles.build`` calls it."""

    def __init__(self, name: str, detail: str = "") -> None:
        self.name = name
        why = f" ({detail})" if detail else ""
        super().__init__(f"engine {name} is missing{why}: run 'python -m tools.oracles.build {name}'")


class EngineTimeout(EngineError):  # noqa: N818  # subject and state; the base class is EngineError
    """The engine was killed because its time was over."""


class EngineBroken(EngineError):  # noqa: N818  # subject and state; the base class is EngineError
    """The engine ran but gave no readable result."""
