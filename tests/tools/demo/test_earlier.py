"""The demo runs again and again in a folder that a person may use too."""

import json
from pathlib import Path

import pytest

from tools.demo.earlier import take_away


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
