"""The files of the working tree, and what a shard's result depends on as one digest of their contents."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from tools import repository
from tools.shards.shard_map import FILE, Shard, is_test, within

LOCK = "tests/shards.lock"
# The map changes a digest by what it lets in, so that a new shard affects no other one.
_LEFT_OUT = {FILE, LOCK}


def files(root: Path) -> dict[str, str]:
    """Give the digest of each file of the project by its path, as it is on the disk now."""
    return {path: _digest(root / path) for path in repository.files(root) if path not in _LEFT_OUT}


def inputs(shard: Shard, digests: Mapping[str, str], tests: Iterable[str]) -> str:
    """Give one digest of everything that can affect the shard.

    Args:
        shard: whose `without` is left out.
        digests: all files of the tree.
        tests: the test files that it runs or imports; other test files cannot affect it.
    """
    own = set(tests)
    whole = hashlib.sha256()
    for path, digest in sorted(digests.items()):
        if path in own or not (is_test(path) or within(path, shard.without)):
            whole.update(f"{path}\0{digest}\n".encode())
    return whole.hexdigest()


def _digest(path: Path) -> str:
    content = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
    kind = b"link" if path.is_symlink() else b"program" if path.stat().st_mode & 0o100 else b"file"
    return hashlib.sha256(kind + b"\0" + content).hexdigest()
