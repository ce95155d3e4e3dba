"""The demo ends with the result of each act."""

import io

import pytest
from rich.console import Console

from tools.demo.findings import Findings
from tools.demo.summary import show_summary

OBSERVED = {
    "entries": [
        {"machine": "a", "status": "rendered"},
        {"machine": "a", "status": "refused"},
        {"machine": "b", "status": "rendered"},
    ],
    "explain_verdicts": ["lowered", "native"],
    "refusal": {"reason": "UNSUPPORTED_FEATURE", "fields": ["spec.os.users[0]"]},
    "failover": {"answered_before": 2, "by_instance": [2, 3], "failed": []},
    "bundle_lines": 80,
    "read": {"cloud-init": {"given": 2, "taken": 1}, "Talos": {"given": 1, "taken": 1}},
}
LINES = """\
machines 2, with 2 user data; refused by field: 1
dry run fields are lowered, native
refusal UNSUPPORTED_FEATURE at spec.os.users[0]
failover 5 requests answered, 0 failed
bundle 80 lines, without its secrets
read 2 of 3 user data, by the programs of the machines
"""


@pytest.mark.parametrize("acts", [6, 3, 0])
def test_summary(acts: int) -> None:
    """Each act that came to its end has a line; a demo that was stopped has those until then."""
    screen = Console(file=io.StringIO(), width=100)
    show_summary(screen, Findings(dict(list(OBSERVED.items())[:acts])))
    text = screen.file.getvalue()  # type: ignore[attr-defined]
    assert [" ".join(line.split()) for line in text.splitlines() if line.strip()] == LINES.splitlines()[:acts]
