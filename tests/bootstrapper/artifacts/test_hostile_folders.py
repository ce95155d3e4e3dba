"""A release folder comes from a mirror or a stick: nothing in it stops a reader, and only what was verified counts."""

import tracemalloc
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from slipway.bootstrapper.artifacts import dsse
from slipway.bootstrapper.artifacts.catalogue import Catalogue
from slipway.bootstrapper.artifacts.distribution import FOLDER, DistributionFolder
from slipway.bootstrapper.artifacts.folder import ReleaseFolder
from slipway.bootstrapper.artifacts.refusal import ArtifactReason, ArtifactRefused
from slipway.bootstrapper.artifacts.trust import Trust
from tests.bootstrapper.artifacts.releases import NOW, PROGRAM, key, release_folder, trust
from tests.counted_work import lines_run

KEY = key()


def sparse(path: Path, size: int) -> None:
    """Write a file that takes no room on the disk."""
    with path.open("wb") as file:
        file.truncate(size)


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (lambda path: path.symlink_to("/dev/null"), "a device"),
        (lambda path: path.symlink_to("nowhere"), "a link to nothing"),
        (lambda path: path.mkdir(), "a folder"),
    ],
)
def test_only_a_regular_file_is_read_as_an_envelope(
    tmp_path: Path, place: Callable[[Path], object], reason: str
) -> None:
    """A device or a pipe never ends; a folder of that name hides no release beside it."""
    release_folder(tmp_path, KEY)
    place(tmp_path / "manifests" / "a.json")
    (tmp_path / FOLDER).mkdir()
    place(tmp_path / FOLDER / "a.intoto.json")
    (first, *_) = ReleaseFolder(tmp_path).manifests()
    (envelope,) = DistributionFolder(tmp_path / FOLDER).envelopes()
    for read in (
        lambda: ReleaseFolder(tmp_path).verify(first, trust(KEY)),
        lambda: DistributionFolder(tmp_path / FOLDER).verify(envelope, trust(KEY)),
    ):
        with pytest.raises(ArtifactRefused, match="must be a regular file") as caught:
            read()
        assert caught.value.reason == ArtifactReason.MALFORMED, reason
    catalogue = Catalogue(tmp_path / "manifests", trust(KEY))
    assert catalogue.find("machineadm", "1.2.0").version == "1.2.0", reason


def test_a_large_file_takes_no_memory(tmp_path: Path) -> None:
    """A bootstrapper reads every manifest at each use: of one of 256 MiB it reads as much as an envelope may have."""
    _, manifest = release_folder(tmp_path, KEY)
    sparse(manifest.with_name("large.json"), 256 << 20)
    tracemalloc.start()
    try:
        refusals = [listed.refusal for listed in Catalogue(manifest.parent, trust(KEY)).list()]
        assert tracemalloc.get_traced_memory()[1] < 16 * dsse.MAX_BYTES
    finally:
        tracemalloc.stop()
    assert [refusal.reason for refusal in refusals if refusal] == [ArtifactReason.MALFORMED]


def test_a_file_is_read_no_further_than_it_was_signed(tmp_path: Path) -> None:
    """A file in the place of a program is refused by its size, be it ever so large."""
    release, manifest = release_folder(tmp_path, KEY)

    def refuse(size: int) -> None:
        sparse(tmp_path / release.binaries[0].path, size)
        with pytest.raises(ArtifactRefused) as caught:
            ReleaseFolder(tmp_path).verify(manifest, trust(KEY))
        assert caught.value.reason == ArtifactReason.FILE_DIFFERS

    refuse(1 << 20)
    assert lines_run(lambda: refuse(512 << 20)) <= lines_run(lambda: refuse(2 << 20)) + 20


class Swap:
    """A clock, by which a folder changes as soon as its second manifest is read."""

    def __init__(self, change: Callable[[], object]) -> None:
        """Make the change then."""
        self._change = change
        self._readings = 0

    def __call__(self) -> datetime:
        """Return the time."""
        self._readings += 1
        if self._readings == 2:
            self._change()
        return NOW


def test_a_program_that_changes_after_it_was_verified_is_not_taken(tmp_path: Path) -> None:
    """Nothing is written under the digest of other bytes, and no manifest that names it."""
    release, _ = release_folder(tmp_path / "release", KEY)
    release_folder(tmp_path / "release", KEY, version="1.3.0", program=b"another")
    program = release.binaries[0].path
    clock = Swap(lambda: (tmp_path / "release" / program).write_bytes(PROGRAM.swapcase()))
    with pytest.raises(ArtifactRefused) as caught:
        ReleaseFolder(tmp_path / "store").add(
            ReleaseFolder(tmp_path / "release"), Trust((KEY.public_key(),), None, clock)
        )
    assert caught.value.reason == ArtifactReason.FILE_DIFFERS
    assert [path for path in (tmp_path / "store").rglob("*") if path.is_file()] == []


def test_the_manifest_that_was_verified_is_the_one_that_is_written(tmp_path: Path) -> None:
    """Another manifest in its place, by whomever, is not copied unread."""
    release, manifest = release_folder(tmp_path / "release", KEY)
    release_folder(tmp_path / "release", KEY, version="1.3.0", program=b"another")
    before = manifest.read_bytes()
    clock = Swap(lambda: manifest.write_bytes(b"{}"))
    store = ReleaseFolder(tmp_path / "store")
    store.add(ReleaseFolder(tmp_path / "release"), Trust((KEY.public_key(),), None, clock))
    assert (store.root / release.manifest_path).read_bytes() == before
