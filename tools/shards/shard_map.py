"""The map of the shards: which test file belongs to which suite of real programs, and what cannot affect it.

Sources are named by what they do *not* affect: a folder that nobody has thought about affects every shard. For
documentation and for Python files of tests it is the other way round, since `tools.shards.check` sees what reads them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
FILE = "tests/shards.toml"


class MapError(Exception):
    """The map is wrong; the message says where."""


@dataclass(frozen=True)
class Shard:
    """One suite.

    Attributes:
        name: its name on the command line.
        tests: test files, or folders whose test files belong to it unless another shard names them.
        without: files and folders that cannot affect it.
        docs: the documentation that its tests read.
        engines: names of ``tools.oracles.build``.
        image: whether it needs the container image and docker compose.
        always: whether it runs in each gate.
    """

    name: str
    tests: tuple[str, ...]
    without: tuple[str, ...]
    docs: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    image: bool = False
    always: bool = False


@dataclass(frozen=True)
class ShardMap:
    """All shards.

    Attributes:
        shards: by name.
        quick: the folders and files whose tests need no real program.
        documentation: files and folders that affect a shard only if it names them, or something in them.
        commands: modules of commands by the word that calls them; what they import in a function is reached only by
            tests that have the word.
    """

    shards: Mapping[str, Shard]
    quick: tuple[str, ...]
    documentation: tuple[str, ...] = ()
    commands: Mapping[str, str] = field(default_factory=dict)

    def owner(self, test_file: str) -> str | None:
        """Name the shard of a test file: "" for a quick one, None for one that nobody names; the longest path wins."""
        entries = [(path, shard.name) for shard in self.shards.values() for path in shard.tests]
        entries += [(path, "") for path in self.quick]
        matches = [(len(path), name) for path, name in entries if within(test_file, (path,))]
        return max(matches)[1] if matches else None

    def tests_of(self, name: str, files: Iterable[str]) -> list[str]:
        """Give the test files of a shard."""
        return [path for path in files if is_test(path) and self.owner(path) == name]


def is_test(path: str) -> bool:
    """Return whether pytest looks for tests in the file."""
    pure = PurePosixPath(path)
    return pure.parts[0] == "tests" and pure.name.startswith("test_") and pure.suffix == ".py"


def within(path: str, folders: Iterable[str]) -> bool:
    """Return whether the path is one of these files, or in one of these folders."""
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def read(file: Path = ROOT / FILE) -> ShardMap:
    """Read the map.

    Raises:
        MapError: a key or a group of paths is unknown, or two entries name the same path.
    """
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    _only(document, {"quick", "documentation", "commands", "groups", "shards"}, "the map")
    groups: dict[str, list[str]] = document["groups"]
    shards = {name: _shard(name, entry, groups) for name, entry in document["shards"].items()}
    quick, documentation = _words(document, "quick"), _words(document, "documentation")
    paths = [path for shard in shards.values() for path in shard.tests] + list(quick)
    twice = sorted({path for path in paths if paths.count(path) > 1})
    if twice:
        raise MapError(f"{FILE}: two entries name {', '.join(twice)}")
    return ShardMap(shards, quick, documentation, document.get("commands", {}))


def _shard(name: str, entry: Mapping[str, object], groups: Mapping[str, list[str]]) -> Shard:
    _only(entry, {"tests", "without", "docs", "engines", "image", "always"}, name)
    without: list[str] = []
    for word in _words(entry, "without"):
        if word.startswith("@") and word[1:] not in groups:
            raise MapError(f"{FILE}: {name}: there is no group {word}")
        without += groups[word[1:]] if word.startswith("@") else [word]
    return Shard(
        name=name,
        tests=_words(entry, "tests"),
        without=tuple(without),
        docs=_words(entry, "docs"),
        engines=_words(entry, "engines"),
        image=entry.get("image") is True,
        always=entry.get("always") is True,
    )


def _words(entry: Mapping[str, object], key: str) -> tuple[str, ...]:
    words = entry.get(key, [])
    if not isinstance(words, list):
        raise MapError(f"{FILE}: {key} is no list")
    return tuple(str(word) for word in words)


def _only(entry: Mapping[str, object], known: set[str], place: str) -> None:
    if unknown := sorted(set(entry) - known):
        raise MapError(f"{FILE}: {place}: unknown key {', '.join(unknown)}")
