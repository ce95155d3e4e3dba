"""What the page of all machines shows: counts, and a part of the table, by cluster."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from slipway.node_gateway.web.query import Filter
from slipway.reports.presentation import STATES, Row
from slipway.v1alpha1 import report_service_pb2 as reportspb

PAGE = 200
"""Machines of a page."""
_MOST_CLUSTERS = 200
_MOST_REASONS = 50


@dataclass(frozen=True, slots=True)
class Fleet:
    """The page.

    Attributes:
        filter: which machines are shown.
        total: machines that the filter takes.
        states: how many machines have each state, of those that the rest of the filter takes.
        reasons: the same of each reason, the most frequent first.
        clusters: how many machines of each cluster have each state.
        groups: the rows of the page by cluster.
        pages: number of pages.
    """

    filter: Filter
    total: int
    states: dict[str, int]
    reasons: list[tuple[str, int]]
    clusters: list[tuple[str, dict[str, int]]]
    groups: list[tuple[str, list[Row]]]
    pages: int

    @classmethod
    def of(cls, reports: Iterable[reportspb.Report], chosen: Filter) -> "Fleet":
        """Make the page of the reports of a namespace, or of a cluster, in the order of cluster and machine."""
        every = [Row.of(report) for report in reports]
        named = [row for row in every if chosen.machine in row.machine]
        states = Counter(row.state for row in named if chosen.reason in ("", row.reason))
        reasons = Counter(row.reason for row in named if row.reason and chosen.state in ("", row.state))
        rows = [row for row in named if chosen.takes(row)]
        page = rows[(chosen.page - 1) * PAGE : chosen.page * PAGE]
        return cls(
            filter=chosen,
            total=len(rows),
            states={state: states[state] for state in STATES},
            reasons=reasons.most_common(_MOST_REASONS),
            clusters=_by_cluster(rows)[:_MOST_CLUSTERS],
            groups=[(cluster, list(group)) for cluster, group in groupby(page, key=lambda row: row.cluster)],
            pages=max(-(-len(rows) // PAGE), 1),
        )


def _by_cluster(rows: Sequence[Row]) -> list[tuple[str, dict[str, int]]]:
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        counts.setdefault(row.cluster, Counter())[row.state] += 1
    return [(cluster, {state: count[state] for state in STATES}) for cluster, count in sorted(counts.items())]
