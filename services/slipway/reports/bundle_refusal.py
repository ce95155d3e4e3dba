"""How a program that reads a log bundle ends: within its bounds, and with a reason where it refuses the bundle."""

import resource
import sys
from collections.abc import Callable

REFUSED = 3
"""Exit code for a bundle that is refused; standard error then says why."""

_MEMORY = 768 * 2**20
_PROCESSOR_SECONDS = 120


class BundleRefused(ValueError):  # noqa: N818  # an answer, not a fault
    """A log bundle is damaged, too large, or has what no log bundle has; the text holds nothing of it."""


def run_bounded(work: Callable[[], None]) -> int:
    """Do the work of a program within bounds of memory and time; give the exit code."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_PROCESSOR_SECONDS, _PROCESSOR_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        work()
        sys.stdout.buffer.flush()
    except BundleRefused as error:
        sys.stderr.write(str(error))
        return REFUSED
    return 0
