"""Work that is counted and not timed: the count is the same on every machine."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_run(action: Callable[[], object]) -> int:
    """Give how many lines of Python an action runs in this thread."""
    count = 0

    def watch(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


def calls_made(action: Callable[[], object], function: Any, seen: Callable[[dict[str, Any]], int] = lambda _: 1) -> int:
    """Give how often an action calls a function of Python in this thread.

    With `seen` it gives the sum of what that says of the arguments of each call.
    """
    total = 0

    def watch(frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal total
        if event == "call" and frame.f_code is function.__code__:
            total += seen(frame.f_locals)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        action()
    finally:
        sys.setprofile(before)
    return total
