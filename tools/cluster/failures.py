"""The ways in which a cluster on loopback can let its user down, beside those of the engines it is made of.

::

    EngineError                  of tools.oracles.failures
    ├── EngineMissing            a program was not built; the message says how to build it
    ├── EngineTimeout            something did not become ready, or true, in its time
    ├── EngineBroken
    │   └── ProcessEnded         a program ended that had to run; the message ends with its last lines
    └── Refused                  the API server answered with an error: status, reason, message
"""

from __future__ import annotations

from tools.oracles.failures import EngineBroken, EngineError


class ProcessEnded(EngineBroken):
    """A program of the cluster is not running any more."""


class Refused(EngineError):  # noqa: N818  # the state of a request; the base class is EngineError
    """The API server answered with an error.

    ``status`` is the HTTP status, ``reason`` Kubernetes' word for it (``NotFound``, ``Forbidden``, ``Invalid``).
    """

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason
        self.message = message
