"""What the page says of very many machines follows from the figures."""

from typing import Any

import pytest

from tools.bench.cluster.many import section

_RUN = {"machines": 1000, "machines_per_second": 50.0, "provider_cpu": 8.0, "api_server_cpu": 12.0}


@pytest.mark.parametrize(
    ("run", "restart", "line", "reason"),
    [
        ({}, {}, "| <= 30 s, no writes | 9.0 s, 0 writes | met |", "steady"),
        ({}, {"seconds": 31.0}, "| <= 30 s, no writes | 31.0 s, 0 writes | not met |", "too late"),
        ({}, {"writes": 1}, "| <= 30 s, no writes | 9.0 s, 1 writes | not met |", "it wrote"),
        ({"rss_mib": 300.0}, {}, "| memory after the run | < 300 MiB | 300.0 MiB | not met |", "too large"),
        ({}, {"rss_mib": 299.9}, "| memory after the restart | < 300 MiB | 299.9 MiB | met |", "just small enough"),
        ({}, {}, "| CPU of the provider per machine |  | 8.0 ms |  |", "of one machine"),
        ({}, {}, "| CPU of the API server per machine |  | 12.0 ms |  |", "of one machine"),
    ],
)
def test_aims_are_judged(run: dict[str, Any], restart: dict[str, Any], line: str, reason: str) -> None:
    """Each figure stands beside its aim, with what follows from both."""
    result = {
        "machine": "a machine",
        "run": {**_RUN, "rss_mib": 200.0, **run},
        "restart": {"machines": 1000, "seconds": 9.0, "writes": 0, "rss_mib": 200.0, **restart},
    }
    text = section(result)
    assert line in text, reason
    assert text.startswith("## Many machines, and a restart\n\n")
    assert "on a machine: 1000 machines" in text
