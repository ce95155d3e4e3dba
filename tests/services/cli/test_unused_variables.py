"""A variable that is set for nothing is most likely a misspelt one: it is told, and its value is not."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.services.cli.conftest import Slipway
from tests.services.cli.test_places import cluster

pytestmark = pytest.mark.long

Write = Callable[..., Path]

NESTED = cluster(version="${VERSION:=${DEFAULT_VERSION:-v1.34.2}}")


@dataclass(frozen=True)
class Case:
    """Variables as they are set, and what is told of them after "warning: "."""

    reason: str
    sets: tuple[str, ...]
    told: tuple[str, ...] = ()


CASES = [
    Case("used", ("VERSION=v1.34.2",)),
    Case("used in a default only", ("DEFAULT_VERSION=v1.34.2",)),
    Case(
        "misspelt",
        ("VERSOIN=canary-7",),
        ("--set VERSOIN has no effect: no file uses this variable; did you mean VERSION?",),
    ),
    Case(
        "of another file",
        ("VERSION=v1.34.2", "ZONE=canary-7"),
        ("--set ZONE has no effect: no file uses this variable",),
    ),
    Case(
        "what is set already was not meant",
        ("VERSION=v1.34.2", "VERSOIN=canary-7"),
        ("--set VERSOIN has no effect: no file uses this variable",),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.reason)
@pytest.mark.parametrize("command", ["validate", "render", "size", "explain", "bundle", "import"])
def test_a_variable_that_no_file_uses_is_told(slipway: Slipway, write: Write, command: str, case: Case) -> None:
    """On standard error, with the one that was meant; the command does what it does without it."""
    options = [word for one in case.sets for word in ("--set", one)]
    result = slipway(command, "-f", write(NESTED), *options)
    assert result.exit_code == 0, result.stderr
    assert [line for line in result.stderr.splitlines() if "--set" in line] == [f"warning: {one}" for one in case.told]
    assert "canary-7" not in result.output


def test_nothing_is_filled_in_without_substitution(slipway: Slipway, write: Write) -> None:
    """Whoever sets a variable then has not meant it."""
    result = slipway("validate", "-f", write(cluster()), "--no-substitution", "--set", "VERSION=canary-7")
    told = "warning: --set VERSION has no effect: with --no-substitution no variable is filled in"
    assert told in result.stderr.splitlines()


def test_a_variable_of_one_side_is_one_of_a_diff(slipway: Slipway, write: Write) -> None:
    """Only what neither file uses is told, and once."""
    files = (write(NESTED, "a.yaml"), write(cluster(), "b.yaml"))
    for sides in (files, files[::-1]):
        result = slipway("diff", *sides, "--set", "VERSION=v1.34.2", "--set", "ZONE=canary-7")
        assert result.stderr.splitlines() == ["warning: --set ZONE has no effect: no file uses this variable"]
        assert result.exit_code == 0
