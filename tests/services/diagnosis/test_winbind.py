"""What `net ads join` and winbind print when a join fails: each with its reason, and none where a join succeeded."""

from pathlib import Path

import pytest
import yaml

from slipway.diagnosis.diagnosis import diagnose
from slipway.diagnosis.log_files import Log

CASES = yaml.safe_load(Path(__file__).with_name("winbind.yaml").read_text(encoding="utf-8"))
NOT_FOUND = (
    "Failed to join domain: failed to find DC for domain CORP - A domain controller for this domain was not found."
)


def reasons(*lines: str) -> list[str]:
    """Give what is found in a log."""
    return [finding.rule.reason for finding in diagnose([Log("a.log", "\n".join(lines))]).findings]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["reason"])
def test_failed_join(case: dict[str, str | list[str]]) -> None:
    """The reason is the only one, in either order of the lines."""
    assert reasons(*case["log"]) == reasons(*reversed(case["log"])) == [case["reason"]]


def test_failed_join_is_why_winbind_is_not_joined() -> None:
    """A winbind that ends since the machine is no member is no reason beside that of the join."""
    ended = "Could not fetch our SID - did we join?"
    clock = "Failed to join domain: failed to connect to AD: Clock skew too great"
    assert reasons(clock, ended) == ["DirectoryClockSkew"]
    assert reasons("Failed to join domain: Constraint violation", ended) == ["DirectoryJoinFailed"]


def test_later_join_settles_what_failed_before() -> None:
    """A second attempt that succeeds leaves no reason of the first; a failure of something else stays."""
    joined = "Joined 'NODE-1' to dns domain 'corp.example.com'"
    assert reasons(NOT_FOUND, joined) == []
    assert reasons(joined, NOT_FOUND) == ["DirectoryNotFound"]
    assert reasons(NOT_FOUND, "[ERROR Swap]: running with swap on is not supported", joined) == ["SwapOn"]
