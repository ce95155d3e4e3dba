"""Keeps the event loop free for health checks and other callers: what is large is worked on in a thread."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LARGE = 8 * 1024
"""What has more bytes than this is worked on in a thread: its items may be many, and the work with them."""


async def beside(size: int, work: Callable[[], T]) -> T:
    """Do work on something of so many bytes; much of it beside the event loop, which answers others meanwhile."""
    return await asyncio.to_thread(work) if size > LARGE else work()
