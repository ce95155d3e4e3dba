"""How quick a provisioner was, for people: measured in passing, judged by nobody, and in no report.

A report says the same of the same version wherever it is made; these figures are of one machine and one moment.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Load:
    """Renders that were measured together.

    Attributes:
        what: what was rendered, and how, e.g. "cloud-config, one after the other".
        times: seconds that each took.
        seconds: seconds that all of them took.
    """

    what: str
    times: Sequence[float] = field(repr=False)
    seconds: float

    @property
    def rate(self) -> float:
        """Renders in a second."""
        return len(self.times) / self.seconds if self.seconds else 0.0

    def quantile(self, share: float) -> float:
        """Seconds within which a share of them ended, e.g. 0.99."""
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0

    def __str__(self) -> str:
        """Give the figures in a line."""
        middle, late = self.quantile(0.5) * 1000, self.quantile(0.99) * 1000
        return (
            f"{self.what}: {len(self.times)} renders, {self.rate:.0f} a second, p50 {middle:.1f} ms, p99 {late:.1f} ms"
        )


@dataclass(slots=True)
class Figures:
    """What was measured in a run."""

    loads: list[Load] = field(default_factory=list)

    def __iter__(self) -> Iterator[Load]:
        return iter(self.loads)

    def add(self, what: str, times: Sequence[float], seconds: float) -> None:
        """Take in a measurement."""
        self.loads.append(Load(what, tuple(times), seconds))
