"""The reference page of machineadm says what its sources say."""

import json
import re
from pathlib import Path

from tools.oracles.machineadm import SOURCE

_ROOT = Path(__file__).resolve().parents[2]
_PAGE = (_ROOT / "docs/reference/machineadm.md").read_text(encoding="utf-8")


def _rows(heading: str) -> list[list[str]]:
    """Give the cells of the rows of a section's tables."""
    section = _PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("|")]


def test_every_clause_is_on_the_page() -> None:
    """The table of clauses is that which image-check goes by."""
    clauses = json.loads((SOURCE / "internal/image/clauses.json").read_text(encoding="utf-8"))
    assert _rows("Clauses")[2:] == [[f"`{clause['id']}`", clause["text"]] for clause in clauses]


def test_every_clause_of_the_agent_has_its_tests() -> None:
    """They are numbered, and the files with their tests are there."""
    rows = _rows("Clauses of the agent")[2:]
    assert [row[0] for row in rows] == [f"`MA-A{number:02}`" for number in range(1, len(rows) + 1)]
    assert [row[2] for row in rows if not (_ROOT / row[2].strip("`")).is_file()] == []


def test_every_reason_is_on_the_page() -> None:
    """The reasons of the checks are those in the sources."""
    source = (SOURCE / "internal/preflight/preflight.go").read_text(encoding="utf-8")
    reasons = set(re.findall(r'Reason = "([a-z-]+)"$', source, re.MULTILINE))
    assert {reason for row in _rows("preflight")[2:] for reason in re.findall(r"`([a-z-]+)`", row[1])} == reasons


def test_every_command_and_flag_is_on_the_page() -> None:
    """The tables name each command that a person starts, and each flag."""
    text = "".join(path.read_text(encoding="utf-8") for path in SOURCE.glob("*.go"))
    flags = set(re.findall(r'set\.\w+\((?:&[\w.]+, )?"([a-z-]+)"', text))
    rows = _rows("Commands")
    assert {flag for row in rows for flag in re.findall(r"`--([a-z-]+)`", row[0])} == flags
    commands = set(re.findall(r'^\t\t"([a-z-]+)": +\w+,$', text, re.MULTILINE))
    assert {row[0].strip("`") for row in rows if re.fullmatch(r"`[a-z][a-z-]*`", row[0])} == commands
