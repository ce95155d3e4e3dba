"""What the benchmark's page says follows from the figures, whoever wins."""

from dataclasses import asdict
from typing import Any

import pytest

from tools.bench.cluster.contender import DEFAULT, EQUAL, KUBEADM, UNTHROTTLED
from tools.bench.cluster.report import section
from tools.bench.cluster.run import Figures
from tools.bench.cluster.slipway import SLIPWAY


def _figures(provider: str, limits: str, clusters: int, machines: int, **more: float) -> dict[str, Any]:
    usual = dict.fromkeys(("p50", "p99", "calls", "writes", "writes_before", "workload_writes", "rss_mib"), 1.0)
    times = {
        "seconds": 10.0,
        "machines_per_second": 200.0,
        "provider_cpu": 5.0,
        "api_server_cpu": 5.0,
        "others_cpu": 3.0,
    }
    return asdict(Figures(provider, limits, clusters, machines, **{**usual, **times, **more}))


def _result(**theirs: float) -> dict[str, Any]:
    scenes = [(DEFAULT, 1, 1)]
    scenes += [(limits, clusters, 100) for limits in (DEFAULT, EQUAL, UNTHROTTLED) for clusters in (1, 10)]
    rows = []
    for limits, clusters, machines in scenes:
        rows.append(_figures(KUBEADM.name, limits.name, clusters, machines, **theirs))
        rows.append(_figures(SLIPWAY.name, limits.name, clusters, machines, p50=0.2))
    return {"machine": "a machine", "cores": 2, "runs": 3, "rows": rows}


@pytest.mark.parametrize(
    ("theirs", "line", "reason"),
    [
        ({"machines_per_second": 50.0}, "| 2 times the other's | 4.0 times | met |", "faster"),
        ({"machines_per_second": 150.0}, "| 2 times the other's | 1.3 times | not met |", "hardly faster"),
        ({"machines_per_second": 50.0}, "was better in nothing", "better in all"),
        ({"rss_mib": 0.5}, "* unthrottled, 10 x 10: MiB.", "larger"),
        ({"machines_per_second": 300.0}, "* default flags, 1 x 100: machines per second.", "slower"),
    ],
)
def test_aims_and_defeats_are_told(theirs: dict[str, float], line: str, reason: str) -> None:
    """An aim that is missed and a figure in which the other one is better stand there by themselves."""
    text = section(_result(**theirs))
    assert line in text, reason
    assert "| >= 100 | 200.0 (at most 25) | met |" in text, "two cores, eight seconds for a hundred machines"
    assert "| a machine by itself | < 300 ms | 200 ms | met |" in text
    assert text.startswith("## In a management cluster\n\n")
