"""How fast each peer may take: a leaky bucket for each, in constant memory a peer (the generic cell rate algorithm)."""

import asyncio
import ipaddress
from collections import OrderedDict
from collections.abc import Callable

_MOST_PEERS = 65_536
_BURST_SECONDS = 1.0


class Rates:
    """Lets each peer take so many units a second, and what one second allows at once."""

    def __init__(self, per_second: float, clock: Callable[[], float]) -> None:
        """Limit to units a second; 0 for no limit. The clock gives seconds."""
        self._per_second = per_second
        self._clock = clock
        self._due: OrderedDict[str, float] = OrderedDict()

    def reserve(self, peer: str, units: float) -> float:
        """Reserve units for a peer; give the seconds after which it may take them."""
        if not self._per_second:
            return 0.0
        now = self._clock()
        due = max(self._due.pop(peer, now), now)
        self._due[peer] = due + units / self._per_second
        self._forget(now)
        return max(0.0, due - now - _BURST_SECONDS)

    async def take(self, peer: str, units: float) -> None:
        """Take units of a peer, when it may."""
        seconds = self.reserve(peer, units)
        if seconds:
            await asyncio.sleep(seconds)

    def is_exceeded(self, peer: str, units: float, *, patience: float) -> bool:
        """Whether a peer would have to wait longer than `patience`; else the units are reserved."""
        if not self._per_second or self._due.get(peer, 0.0) - self._clock() - _BURST_SECONDS > patience:
            return bool(self._per_second)
        self.reserve(peer, units)
        return False

    def _forget(self, now: float) -> None:
        """Forget peers that owe nothing, from the one that came longest ago; beyond the limit the oldest as well."""
        while self._due:
            peer, due = next(iter(self._due.items()))
            if due > now and len(self._due) <= _MOST_PEERS:
                return
            del self._due[peer]


def peer_of(address: str | None) -> str:
    """Give the peer of an address: an IPv4 address, or the /64 network of an IPv6 address, which one host owns."""
    try:
        parsed = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        return ""
    if isinstance(parsed, ipaddress.IPv6Address):
        mapped = parsed.ipv4_mapped
        return str(mapped) if mapped else str(ipaddress.ip_network((parsed.packed[:8] + bytes(8), 64)))
    return str(parsed)
