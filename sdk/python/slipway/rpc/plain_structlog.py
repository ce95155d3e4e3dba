"""Imports structlog without rich.

structlog imports rich, and pygments with it, wherever they are installed, to draw tracebacks on a terminal. Slipway
logs none, but every one of its processes would hold 4 MiB for them: the command line needs rich for its tables, so that
it is installed beside the services.
"""

import sys


def import_structlog() -> None:
    """Import structlog as if rich were not installed; nothing is done where either is imported already."""
    if "structlog" in sys.modules or "rich" in sys.modules:
        return
    # None in sys.modules has an import fail (Python's language reference, 5.3.1, "The module cache").
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        import structlog  # noqa: F401, PLC0415  # imported for its effect, while rich is hidden
    finally:
        del sys.modules["rich"]
