"""What `make check` asks of the map: it names every test file, names nothing that is gone, and claims nothing false."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tools.oracles.availability import GROUPS
from tools.oracles.build import BUILDERS
from tools.shards import reach, tree
from tools.shards.shard_map import FILE, Shard, ShardMap, is_test, within

_ENGINES = BUILDERS.keys() | GROUPS.keys()


def reached_by(shard: Shard, shard_map: ShardMap, graph: reach.Graph, paths: Iterable[str]) -> Mapping[str, str]:
    """Give what the tests of a shard reach, each with the file that names it."""
    return graph.reached(shard_map.tests_of(shard.name, paths))


def digests_by_shard(shard_map: ShardMap, root: Path) -> dict[str, str]:
    """Give for each shard the digest of everything that can affect it."""
    digests = tree.files(root)
    graph = reach.graph(root, digests, shard_map.documentation, shard_map.commands)
    return {
        shard.name: tree.inputs(shard, shard_map, digests, reached_by(shard, shard_map, graph, digests))
        for shard in shard_map.shards.values()
    }


def problems(shard_map: ShardMap, root: Path) -> Iterator[str]:
    """Say everything that is wrong with the map."""
    paths = tree.files(root)
    graph = reach.graph(root, paths, shard_map.documentation, shard_map.commands)
    for path in paths:
        if is_test(path) and shard_map.owner(path) is None:
            yield f"{path} is in no shard: add it to {FILE}"
    for name, named in (
        ("quick", shard_map.quick),
        ("documentation", shard_map.documentation),
        ("commands", shard_map.commands.values()),
        *((entry.name, entry.tests) for entry in shard_map.shards.values()),
    ):
        yield from (f"{name}: there is no {path}" for path in named if not _there(path, paths))
    for shard in shard_map.shards.values():
        if not shard_map.tests_of(shard.name, paths):
            yield f"{shard.name}: has no test file"
        yield from (f"{shard.name}: there is no engine {engine}" for engine in shard.engines if engine not in _ENGINES)
        via = reached_by(shard, shard_map, graph, paths)
        yield from _contradictions(shard, via, paths)
        yield from _documentation(shard, shard_map, via)


def _documentation(shard: Shard, shard_map: ShardMap, via: Mapping[str, str]) -> Iterator[str]:
    """Compare the documentation that a shard names with what its tests reach."""
    for path in via:
        if within(path, shard_map.documentation) and not within(path, shard.docs):
            yield f"{shard.name}: docs must have {path}: {reach.chain(via, path)}"
    for path in shard.without:
        if within(path, shard_map.documentation):
            yield f"{shard.name}: without has {path}, which is documentation: it affects those that name it in docs"
    for path in shard.docs:
        if not within(path, shard_map.documentation):
            yield f"{shard.name}: docs has {path}, which is no documentation"
        elif path not in via:
            yield f"{shard.name}: docs has {path}, which no test of it reaches"


def _contradictions(shard: Shard, via: Mapping[str, str], paths: Iterable[str]) -> Iterator[str]:
    for claimed in shard.without:
        if not _there(claimed, paths):
            yield f"{shard.name}: there is no {claimed}"
        contradicting = [path for path in via if not is_test(path) and _overlap(path, claimed)]
        if contradicting:
            how = min((reach.chain(via, path) for path in contradicting), key=len)
            yield f"{shard.name}: cannot be without {claimed}: {how}"


def _there(path: str, paths: Iterable[str]) -> bool:
    return any(within(known, (path,)) for known in paths)


def _overlap(path: str, claimed: str) -> bool:
    """Return whether a file or folder that the tests reach is, holds or lies in what the map leaves out."""
    return within(path, (claimed,)) or within(claimed, (path,))
