"""The demo ends with the result of each act, and runs again and again in a folder that a person may use too."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from tools.demo.findings import Findings, show_summary, take_away

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


def put(path: Path, text: str = "x") -> Path:
    """Write a file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_what_a_person_put_there_stays(tmp_path: Path) -> None:
    """Machines of the demo's own account, its logs and the account go; other folders and files are not touched."""
    gone = [put(tmp_path / "m" / "cloud-init.yaml"), put(tmp_path / "logs" / "registry.log")]
    gone.append(put(tmp_path / "demo.json", json.dumps({"entries": [{"machine": "m"}]})))
    kept = [put(tmp_path / "mine" / "cloud-init.yaml"), put(tmp_path / "notes.txt")]
    take_away(tmp_path)
    assert [path for path in [*gone, *kept] if path.exists()] == kept


ACCOUNTS = [
    (None, "no demo ran here"),
    ("{", "one was stopped while it wrote"),
    ("[]", "the file is somebody else's"),
    ('{"entries": [{"machine": "../mine"}, {"machine": ""}, {"machine": ".."}]}', "a name that leads elsewhere"),
]


@pytest.mark.parametrize(("account", "reason"), ACCOUNTS)
def test_an_account_that_is_none_takes_nothing_along(tmp_path: Path, account: str | None, reason: str) -> None:
    """Without a sound account nothing but the logs is known to be the demo's."""
    out = tmp_path / "out"
    kept = [put(out / "harbour-worker" / "talos.yaml"), put(tmp_path / "mine" / "key.pem")]
    if account is not None:
        put(out / "demo.json", account)
    take_away(out)
    assert all(path.exists() for path in kept), reason
