"""How long the controller waits, and keeps things."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts and intervals.

    Attributes:
        token_ttl: how long a bootstrap token is accepted after it was last refreshed.
        give_up: age of a data Secret at which its token is refreshed no longer.
        quiet_seconds: how long the controller waits before the status reports it.
        payload_grace: how long a payload is kept after the node of its machine appeared.
    """

    token_ttl: timedelta = timedelta(minutes=15)
    give_up: timedelta = timedelta(hours=24)
    quiet_seconds: float = 5.0
    payload_grace: timedelta = timedelta(minutes=30)

    @property
    def requeue_after(self) -> float:
        """Seconds after which a config is requeued whose token is in use."""
        return self.token_ttl.total_seconds() / 3
