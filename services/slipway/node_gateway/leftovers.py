"""Payloads that were not deleted: a management cluster that is gone deletes none, so a bucket needs a rule.

Object stores differ in how a rule is read, and the gateway's credential need not have the right. What a rule would have
deleted is seen in a list: it is looked for once, at the start.
"""

import time
from collections.abc import Callable

import structlog

from slipway.node_gateway.store import Store, StoreUnavailable

DAYS = 2.0
"""After so many days a rule deletes payloads (docs/how-to/fetch-user-data.md); the controller does so after one."""

MOST = 10_000
"""Objects that are looked at."""

_FOLDER = "payload"
_log = structlog.get_logger("slipway.node_gateway")


async def warn_of_leftovers(store: Store, clock: Callable[[], float] = time.time) -> int:
    """Warn where the store has payloads that a rule would have deleted; give their number.

    A store that fails, or does not list, is left alone: nothing rests on the answer.
    """
    before = clock() - DAYS * 86_400
    try:
        ages = await store.modified(_FOLDER, most=MOST)
    except StoreUnavailable as error:
        _log.info("payloads not listed", error=str(error))
        return 0
    count = sum(modified < before for modified in ages)
    if count:
        _log.warning("store has old payloads, its lifecycle rule is missing or does not delete them", count=count)
    return count
