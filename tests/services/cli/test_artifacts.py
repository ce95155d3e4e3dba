"""`slipway artifacts` verifies, adds and lists releases without a network."""

import json
from pathlib import Path

from tests.bootstrapper.artifacts.releases import DIGEST, key, public_file, release_folder
from tests.services.cli.conftest import Slipway

KEY, FOREIGN = key(), key()


def test_a_release_is_verified_added_and_listed(slipway: Slipway, tmp_path: Path) -> None:
    """A release goes from its folder to a gateway's, and is shown there with its digest."""
    release_folder(tmp_path / "release", KEY)
    keys = f"--keys={public_file(tmp_path / 'a.pub', KEY)}"
    assert "verified" in slipway("artifacts", "verify", tmp_path / "release", keys).stdout
    assert "added" in slipway("artifacts", "add", tmp_path / "release", tmp_path / "store", keys).stdout
    rows = json.loads(slipway("artifacts", "list", tmp_path / "store", keys, "-o", "json").stdout)
    assert [(row["platform"], row["sha256"], row["state"]) for row in rows] == [
        ("linux/amd64", DIGEST, "trusted"),
        ("linux/arm64", DIGEST, "trusted"),
    ]


def test_a_release_of_a_foreign_key_is_refused(slipway: Slipway, tmp_path: Path) -> None:
    """Each command says why, and nothing is copied."""
    release_folder(tmp_path / "release", FOREIGN)
    keys = f"--keys={public_file(tmp_path / 'a.pub', KEY)}"
    for arguments in (("verify", tmp_path / "release"), ("add", tmp_path / "release", tmp_path / "store")):
        result = slipway("artifacts", *arguments, keys)
        assert (result.exit_code, "unknown-key" in result.stderr) == (1, True)
    assert not (tmp_path / "store").exists()
    assert "refused unknown-key" in slipway("artifacts", "list", tmp_path / "release", keys).stdout


def test_a_key_that_cannot_be_read_is_wrong_usage(slipway: Slipway, tmp_path: Path) -> None:
    """A file that holds no key is named; an empty folder is no release."""
    (tmp_path / "a.pub").write_text("no key", encoding="utf-8")
    result = slipway("artifacts", "verify", tmp_path, f"--keys={tmp_path / 'a.pub'}")
    assert (result.exit_code, "a.pub" in result.stderr) == (2, True)
    keys = f"--keys={public_file(tmp_path / 'a.pub', KEY)}"
    result = slipway("artifacts", "verify", tmp_path, keys)
    assert (result.exit_code, "has no manifests" in result.stderr) == (1, True)
