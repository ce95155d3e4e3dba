"""The controller as it is, which also writes on SIGUSR1 what its tasks are: none can be seen from outside.

::

    python observed_controller.py FILE [OPTION]...
"""

import asyncio
import json
import signal
import sys
from collections import Counter
from pathlib import Path
from types import FrameType

from slipway.controller.__main__ import main


def observe(file: Path) -> None:
    """Write the number of tasks of each coroutine to a file, at each signal; the file is always whole."""

    def write(_number: int, _frame: FrameType | None) -> None:
        tasks = Counter(getattr(task.get_coro(), "__qualname__", "?") for task in asyncio.all_tasks())
        part = file.with_suffix(".part")
        part.write_text(json.dumps(tasks), encoding="utf-8")
        part.replace(file)

    signal.signal(signal.SIGUSR1, write)


if __name__ == "__main__":
    observe(Path(sys.argv.pop(1)))
    main()
