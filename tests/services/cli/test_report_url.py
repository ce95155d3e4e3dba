"""`slipway report-url` makes addresses that the gateway takes."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

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


def test_the_addresses_of_a_bucket_are_presigned(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are for PUT, of the objects that the gateway's inbox reads, until the hours are over; without a gateway."""
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "not-printed"), ("AWS_REGION", "us-east-1"),
        ("AWS_ENDPOINT", "https://objects.example.com"), ("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", "false"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    arguments = ["report-url", KEY.machine, f"--cluster={KEY.cluster}", f"--bundle-id={KEY.bundle_id}"]
    result = CliRunner().invoke(cli, [*arguments, "--bucket=s3://inbox/team", "--hours=2", "--output=json"])
    assert result.exit_code == 0, result.stderr
    tree = json.loads(result.stdout)
    for kind in Kind:
        parts = urlsplit(tree[kind])
        assert (parts.scheme, parts.netloc) == ("https", "objects.example.com")
        assert parts.path.startswith("/inbox/team/reports/")
        assert Target.of_object(parts.path.removeprefix("/inbox/team/")) == Target(KEY, kind)
        query = parse_qs(parts.query)
        assert query["X-Amz-Expires"] == ["7200"]
        assert "X-Amz-Signature" in query
    assert "not-printed" not in result.output


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        ([], "--bucket"), (["--gateway=https://x"], "--key-file"), (["--bucket=file:///x"], "must be s3://"),
        (["--bucket=s3://x", "--gateway=https://x"], "or --bucket"),
        (["--bucket=s3://x", "--hours=169"], "at most 168"),
    ],
)  # fmt: skip
def test_either_a_gateway_or_a_bucket_signs(flags: list[str], text: str) -> None:
    """Both, none and half of one are wrong usage, and so is a time for which no bucket signs."""
    arguments = ["report-url", KEY.machine, f"--cluster={KEY.cluster}", f"--bundle-id={KEY.bundle_id}"]
    result = CliRunner().invoke(cli, [*arguments, *flags])
    assert (result.exit_code, text in result.stderr) == (2, True), result.stderr


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
