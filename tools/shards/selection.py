"""Which shards a gate runs: those that always run, those that are affected, and one more in rotation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tools.shards.lock import Record
from tools.shards.shard_map import ShardMap


def affected(digests: Mapping[str, str], records: Mapping[str, Record]) -> list[str]:
    """Name the shards that no record shows to have passed on these inputs."""
    return [name for name, digest in digests.items() if name not in records or records[name].inputs != digest]


def due(shard_map: ShardMap, digests: Mapping[str, str], records: Mapping[str, Record], commit: str) -> dict[str, str]:
    """Give the shards of a gate, each with the reason.

    The commit's own name decides whose turn it is, so that the same commit always has the same gate, and a clone needs
    neither a history nor a memory.
    """
    reasons = {name: "always" for name, shard in shard_map.shards.items() if shard.always}
    reasons |= dict.fromkeys(affected(digests, records), "affected")
    rest = [name for name in shard_map.shards if name not in reasons]
    if rest:
        reasons[turn(rest, commit)] = "in rotation"
    return reasons


def turn(names: Sequence[str], commit: str) -> str:
    """Name the one whose turn it is at a commit."""
    return names[int(commit, 16) % len(names)]
