"""Measures how slow this machine is just now, so that no provisioner breaks a time limit of the contract because of it.

A heartbeat sees that the suite itself is late. On a slow processor, or beside busy neighbours, nothing is late and
everything takes longer, the provisioner too. So what took too long is judged by what a piece of work takes here.
"""

import hashlib
import time
from collections.abc import Callable

from slipway.conformance.outcome import Broken, Unjudged, all_hold

_ROUNDS = 20_000
_USUAL_SECONDS = 0.012
"""What the work takes on a processor of 2020; source: measured on an idle machine of the project."""

_SAMPLES = 7
SLOW = 1.5
"""From this factor on the order of what happens within milliseconds is left to chance."""


def slowness() -> float:
    """Give how many times as long as usual a piece of work takes here, now; at least 1. It blocks for 0.1 seconds."""
    times = []
    for _ in range(_SAMPLES):
        began = time.perf_counter()
        _work()
        times.append(time.perf_counter() - began)
    return max(1.0, sum(times) / _SAMPLES / _USUAL_SECONDS)


def judge(text: str, seconds: float, most: float, *, slow: Callable[[], float]) -> None:
    """Hold a time against a limit.

    Args:
        text: what is wrong if it was too long.
        seconds: the time.
        most: the limit.
        slow: gives how slow the machine is; asked only where the limit is passed.

    Raises:
        Broken: it was too long.
        Unjudged: it was too long, and would not be on a machine as usual.
    """
    if seconds <= most:
        return
    factor = slow()
    if seconds <= most * factor:
        raise Unjudged(f"{text}, on a machine that is {factor:.1f} times slower than usual: not judged")
    raise Broken(text)


def judge_as_usual(problems: list[str], *, slow: Callable[[], float]) -> None:
    """Hold against a provisioner what can also come of a slow machine, which has no limit to compare with.

    Args:
        problems: what is wrong, if anything.
        slow: gives how slow the machine is; asked only where something is wrong.

    Raises:
        Broken: something is wrong, on a machine as usual.
        Unjudged: something is wrong, on a slow machine.
    """
    if not problems:
        return
    factor = slow()
    if factor >= SLOW:
        raise Unjudged(*problems, f"this machine is {factor:.1f} times slower than usual: not judged")
    all_hold(problems)


def _work() -> None:
    digest = b""
    for _ in range(_ROUNDS):
        digest = hashlib.sha256(digest).digest()
