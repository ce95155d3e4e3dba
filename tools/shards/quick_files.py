"""Leaves whole files out of a quick run before pytest imports them.

A quick run skips each test that is marked ``engine``, ``boots`` or ``long``. Where ``pytestmark`` gives such a mark to
a whole file, each worker would import and parametrise it for nothing. Only files that a shard owns are left out:
`tools.shards.pytest_plugin` fails a marked test that no shard runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tools.oracles.pytest_plugin import LEFT_OUT, SKIPPED_IN_QUICK
from tools.shards import shard_map

_FILES = pytest.StashKey[set[str]]()
_OUTPUT = "slipway_quick_files"


def pytest_configure(config: pytest.Config) -> None:
    """Begin with no file."""
    config.stash[_FILES] = set()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a file out whose tests are all marked; pytest asks for no file that the command line names."""
    inside = collection_path.is_relative_to(config.rootpath)
    if not config.getoption("quick") or collection_path.suffix != ".py" or not inside:
        return None
    path = collection_path.relative_to(config.rootpath).as_posix()
    if not shard_map.is_test(path) or not _map().owner(path) or not is_marked(collection_path):
        return None
    config.stash[_FILES].add(path)
    return True


def is_marked(file: Path) -> bool:
    """Return whether ``pytestmark`` of the file has a mark that a quick run leaves out."""
    text = file.read_text(encoding="utf-8")
    return "pytestmark" in text and not SKIPPED_IN_QUICK.isdisjoint(_names_in_pytestmark(ast.parse(text)))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the files of a worker to the process that prints the summary."""
    output = getattr(session.config, "workeroutput", None)
    files = session.config.stash[_FILES]
    if output is not None:
        output[_OUTPUT] = sorted(files)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the files of a worker; one that crashed has handed nothing over, and all have the same files."""
    node.config.stash[_FILES].update(getattr(node, "workeroutput", {}).get(_OUTPUT, ()))


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the number of files in one line, behind the reasons of single tests."""
    if count := len(terminalreporter.config.stash[_FILES]):
        terminalreporter.write_line(f"all tests of {count} {'file' if count == 1 else 'files'}: {LEFT_OUT}")


def _names_in_pytestmark(module: ast.Module) -> Iterator[str]:
    """Give the names of the marks without arguments."""
    for statement in module.body:
        if isinstance(statement, ast.Assign) and "pytestmark" in map(ast.unparse, statement.targets):
            value = statement.value
            elements = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
            yield from (element.attr for element in elements if isinstance(element, ast.Attribute))


@cache
def _map() -> shard_map.ShardMap:
    return shard_map.read()
