"""The files of the working tree, and what a shard's result depends on as one digest of their contents."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath

from tools import repository
from tools.shards.shard_map import FILE, Shard, ShardMap, within

LOCK = "tests/shards.lock"
# The map changes a digest by what it lets in, so that a new shard affects no other one.
_LEFT_OUT = {FILE, LOCK}


def files(root: Path) -> dict[str, str]:
    """Give the digest of each file of the project by its path, as it is on the disk now."""
    return {path: _digest(root / path) for path in repository.files(root) if path not in _LEFT_OUT}


def inputs(shard: Shard, shard_map: ShardMap, digests: Mapping[str, str], reached: Collection[str]) -> str:
    """Give one digest of everything that can affect the shard.

    Args:
        shard: which leaves out its `without`.
        shard_map: names the documentation.
        digests: all files of the tree.
        reached: what the tests of the shard reach, themselves among it.
    """
    whole = hashlib.sha256()
    for path, digest in sorted(digests.items()):
        if _can_affect(path, shard, shard_map, reached):
            whole.update(f"{path}\0{digest}\n".encode())
    return whole.hexdigest()


def _can_affect(path: str, shard: Shard, shard_map: ShardMap, reached: Collection[str]) -> bool:
    pure = PurePosixPath(path)
    if pure.parts[0] == "tests" and pure.suffix == ".py":
        return any(str(known) in reached for known in (pure, *pure.parents))
    if within(path, shard_map.documentation):
        return within(path, shard.docs)
    return not within(path, shard.without)


def _digest(path: Path) -> str:
    content = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
    kind = b"link" if path.is_symlink() else b"program" if path.stat().st_mode & 0o100 else b"file"
    return hashlib.sha256(kind + b"\0" + content).hexdigest()
