"""The warm store belongs to all machines, those of later runs too: none of them can write to it."""

from pathlib import Path

from tools.node.first_disk import copy_store


def test_what_a_machine_writes_stays_in_its_copy(tmp_path: Path) -> None:
    """Blobs, programs of unpacked layers and databases are other files than those of the store, with the same bytes."""
    store, copy = tmp_path / "store", tmp_path / "copy"
    for name in ("content/blobs/sha256/0a", "snapshots/1/fs/bin/pause", "metadata/meta.db"):
        (store / name).parent.mkdir(parents=True)
        (store / name).write_bytes(b"as imported")
    (store / "snapshots/1/fs/bin/pause").chmod(0o4755)
    (store / "snapshots/1/fs/bin/sh").symlink_to("pause")
    copy_store(store, copy)
    assert (copy / "snapshots/1/fs/bin/pause").stat().st_mode & 0o7777 == 0o4755
    assert (copy / "snapshots/1/fs/bin/sh").readlink() == Path("pause")
    for path in (one for one in copy.rglob("*") if one.is_file() and not one.is_symlink()):
        assert path.read_bytes() == b"as imported"
        with path.open("r+b") as handle:
            handle.write(b"overwritten")
        assert (store / path.relative_to(copy)).read_bytes() == b"as imported"
