"""`slipway report-url` makes addresses that the gateway takes."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from slipway.cli.command_line import cli
from slipway.reports.capability import Capabilities, Kind, Target
from tests.services.reports.made import KEY
from tests.services.reports.test_capability import NOW, split

GATEWAY = "https://gateway.example.com"


def run(tmp_path: Path, **more: str) -> Any:
    """Run the command with a good key."""
    keys = tmp_path / "keys"
    keys.write_text("k" * 32)
    flags = {"gateway": GATEWAY + "/", "key-file": str(keys), "cluster": KEY.cluster, "bundle-id": KEY.bundle_id} | more
    machine = flags.pop("machine", KEY.machine)
    return CliRunner().invoke(cli, ["report-url", machine, *(f"--{name}={value}" for name, value in flags.items())])


def test_the_addresses_are_those_of_the_machine(tmp_path: Path) -> None:
    """One for events and one for logs, of the gateway that was named, until the hours are over."""
    result = run(tmp_path, hours="1", output="json")
    assert result.exit_code == 0
    tree = json.loads(result.stdout)
    for kind in Kind:
        assert tree[kind].startswith(f"{GATEWAY}/reports/default/harbour/worker-1/")
        parts, query = split(tree[kind])
        assert Capabilities([b"k" * 32]).check(parts, query, now=tree["expires"] - 1) == Target(KEY, kind)
    assert tree["expires"] != NOW
    assert run(tmp_path).stdout.count(f"{GATEWAY}/reports/") == 2


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"machine": "../x"}, "machine must be"), ({"bundle-id": "a/b"}, "bundle_id must be"),
        ({"key-file": "nowhere"}, "nowhere"), ({"gateway": "gateway.example.com"}, "--gateway"),
        ({"gateway": "https://x/?a=b"}, "--gateway"), ({"hours": "0"}, "--hours"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(tmp_path: Path, more: dict[str, str], text: str) -> None:
    """It is wrong usage, and names the flag or the part."""
    result = run(tmp_path, **more)
    assert (result.exit_code, text in result.stderr) == (2, True), result.stderr
