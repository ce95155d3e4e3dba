"""The stage that bounds how many calls one caller has open, before anything of a call is read.

A call that is open costs a place at the server even when its request never arrives. Without a bound for each caller,
one of them takes all places by calls that it never finishes, and health can no longer be asked.
"""

from collections import Counter

from slipway.contract.errors import Overloaded
from slipway.rpc import ServicerContext
from slipway.rpc.call import Call, Proceed
from slipway.rpc.identity import identity_of

RETRY_AFTER = 1.0
"""Seconds that a refused caller is asked to wait."""


class Presence:
    """Lets every caller have at most ``limit`` calls open, of whatever kind."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._open: Counter[str] = Counter()

    async def __call__(self, call: Call, context: ServicerContext, proceed: Proceed) -> object:
        """Run a call, or refuse it.

        Raises:
            Overloaded: the caller has as many open as allowed.
        """
        del call
        caller = caller_of(context)
        if self._open[caller] >= self._limit:
            raise Overloaded(
                "the caller has as many calls open as the server allows each; end some, or retry with back-off",
                metadata={"limit": str(self._limit)},
                retry_after=RETRY_AFTER,
            )
        self._open[caller] += 1
        try:
            return await proceed()
        finally:
            self._open[caller] -= 1
            if not self._open[caller]:
                del self._open[caller]


def caller_of(context: ServicerContext) -> str:
    """Give what stands for a caller in limits: the SPIFFE id that it proved, else its host."""
    identity = identity_of(context)
    if identity is not None and identity.spiffe_ids:
        return str(identity)
    kind, _, address = str(context.peer()).partition(":")
    return address.rpartition(":")[0] if kind in ("ipv4", "ipv6") else kind
