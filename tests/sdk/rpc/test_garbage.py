"""The collector of cyclic garbage leaves alone what was imported, and comes rarely."""

import subprocess
import sys

PROGRAM = """
import gc
from slipway.rpc.lifecycle import YOUNG_OBJECTS, settle_garbage_collection
settle_garbage_collection()
assert gc.isenabled() and gc.get_threshold()[0] == YOUNG_OBJECTS > 700, gc.get_threshold()
assert gc.get_freeze_count() > 1000, gc.get_freeze_count()
"""


def test_collections_are_rare() -> None:
    """In a process of its own, since tests share this one: what is there is frozen, cycles are still freed."""
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=60)
