"""`slipway artifacts` verifies, adds and lists releases without a network."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from slipway.bootstrapper.artifacts.distribution import FOLDER
from tests.bootstrapper.artifacts.releases import DIGEST, EXPIRES, key, public_file, release_folder
from tests.services.cli.conftest import Slipway
from tools.release import distribution

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


def signed_files(root: Path, *, expires: datetime = EXPIRES, version: str = "1.2.0") -> Path:
    """Write a distribution of an image and a wheel; return its folder."""
    files = []
    for name in ("slipway-image-1.2.0.tar", "slipway_sdk-1.2.0-py3-none-any.whl"):
        path = root / name
        path.write_bytes(name.encode() * 1000)
        files.append(path)
    distribution.write(root / "release", files, [KEY], expires=expires, version=version)
    return root / "release" / FOLDER


def flip_byte(path: Path) -> None:
    """Change one bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("with_agent", [False, True])
def test_image_and_wheels_are_verified(slipway: Slipway, tmp_path: Path, *, with_agent: bool) -> None:
    """A row for every signed file, beside those of machineadm where the folder has a release of it."""
    folder = signed_files(tmp_path)
    if with_agent:
        release_folder(folder.parent, KEY)
    keys = f"--keys={public_file(tmp_path / 'a.pub', KEY)}"
    result = slipway("artifacts", "verify", folder.parent, keys, "-o", "json")
    rows = json.loads(result.stdout)
    assert (result.exit_code, len(rows), {row["state"] for row in rows}) == (0, 4 if with_agent else 2, {"verified"})


@pytest.mark.parametrize(
    ("reason", "change"),
    [
        ("file-differs", lambda folder: flip_byte(folder / "slipway-image-1.2.0.tar")),
        ("file-differs", lambda folder: flip_byte(folder / "slipway_sdk-1.2.0-py3-none-any.whl")),
        ("file-missing", lambda folder: (folder / "slipway-image-1.2.0.tar").unlink()),
        ("unsigned", lambda folder: (folder / "slipway_sdk-1.3.0-py3-none-any.whl").write_text("x")),
        ("unsigned", lambda folder: (folder / "more").mkdir()),
    ],
)
def test_a_changed_distribution_is_refused(
    slipway: Slipway, tmp_path: Path, reason: str, change: Callable[[Path], object]
) -> None:
    """One flipped bit, a missing file and an unsigned file, each by its reason."""
    folder = signed_files(tmp_path)
    change(folder)
    result = slipway("artifacts", "verify", folder.parent, f"--keys={public_file(tmp_path / 'a.pub', KEY)}")
    assert (result.exit_code, f": {reason}: " in result.stderr) == (1, True)


def test_every_flipped_bit_of_the_statement_is_refused(slipway: Slipway, tmp_path: Path) -> None:
    """The statement itself is signed: its digests cannot be changed, nor its signature."""
    (envelope,) = signed_files(tmp_path).glob("*.intoto.json")
    text, keys = envelope.read_text(), f"--keys={public_file(tmp_path / 'a.pub', KEY)}"
    for field in ("payload", "sig"):
        before, mark, rest = text.partition(f'"{field}": "')
        changed = before + mark + rest[:40] + ("B" if rest[40] == "A" else "A") + rest[41:]
        envelope.write_text(changed)
        result = slipway("artifacts", "verify", envelope.parents[1], keys)
        assert (result.exit_code, "wrong-signature" in result.stderr) == (1, True), field


@pytest.mark.parametrize(
    ("arguments", "expires", "signer", "reason"),
    [
        ((), datetime(2020, 1, 1, tzinfo=UTC), KEY, "expired"),
        (("--minimum-version", "1.2.1"), EXPIRES, KEY, "below-minimum"),
        ((), EXPIRES, FOREIGN, "unknown-key"),
    ],
)
def test_an_old_or_foreign_distribution_is_refused(  # noqa: PLR0913, PLR0917  # the parts of a case
    slipway: Slipway, tmp_path: Path, arguments: tuple[str, ...], expires: datetime, signer: object, reason: str
) -> None:
    """What was signed once is not good for ever: it expires, is superseded, and its key may be another's."""
    folder = signed_files(tmp_path, expires=expires)
    trusted = KEY if signer is KEY else FOREIGN
    keys = f"--keys={public_file(tmp_path / 'a.pub', trusted)}"
    result = slipway("artifacts", "verify", folder.parent, keys, *arguments)
    assert (result.exit_code, f": {reason}: " in result.stderr) == (1, True)


def test_an_empty_distribution_is_refused(slipway: Slipway, tmp_path: Path) -> None:
    """A folder whose statement was removed is not one without a distribution."""
    (envelope,) = signed_files(tmp_path).glob("*.intoto.json")
    envelope.unlink()
    result = slipway("artifacts", "verify", tmp_path / "release", f"--keys={public_file(tmp_path / 'a.pub', KEY)}")
    assert (result.exit_code, "has no *.intoto.json" in result.stderr) == (1, True)
