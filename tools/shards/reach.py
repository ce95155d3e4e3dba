"""What the tests of a shard reach in the tree: by import, by a module's name in a string, by a path in the code.

For sources this only contradicts the map: what is reached must not be called unaffected. Data that is read in another
way is why the map leaves out as little as it does. Python files of tests affect just the shards that reach them, and
documentation those that name it, which must be all that reach it.
"""

from __future__ import annotations

import ast
import fnmatch
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tools.shards.shard_map import within

_SOURCE_ROOTS = (("sdk", "python"), ("bootstrapper",), ("provisioners",), ("services",))
_MODULE = re.compile(r"\b(?:slipway|tools|tests)(?:\.\w+)+")
_SCRIPT = re.compile(r"(?<![\w.-])slipway-[a-z-]++(?![.\w])")
"""A whole name: `slipway-directory.service` is a file, and `90-slipway-directory` as well."""
_LOGGERS = {"get_logger", "getLogger"}
_LONGEST_COMMAND = 4
"""Words; a longer text that has a program's name in it is a sentence about it."""
_PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)*/?")
_PATTERN = re.compile(r"[*?\[]")
_CALLERS = ("tests/", "tools/")


@dataclass(frozen=True)
class Graph:
    """What each Python file names of the tree: other files, and folders.

    Attributes:
        edges: by file.
        called: what a command reaches only when it is called, by the file of the command.
        callers: the files of tests and tools that have the word of the command, by the same file.
    """

    edges: Mapping[str, frozenset[str]]
    called: Mapping[str, frozenset[str]]
    callers: Mapping[str, frozenset[str]]

    def reached(self, start: Iterable[str]) -> dict[str, str]:
        """Give everything that is reached, each with the file that names it."""
        via: dict[str, str] = {}
        waiting = [(path, "") for path in start]
        remaining = dict(self.called)
        while waiting:
            path, by = waiting.pop()
            if path not in via:
                via[path] = by
                waiting += [(named, path) for named in sorted(self.edges.get(path, ()))]
            if not waiting:
                due = [
                    command
                    for command in remaining
                    if command in via and not via.keys().isdisjoint(self.callers[command])
                ]
                waiting = [(named, command) for command in due for named in sorted(remaining.pop(command))]
        return via


def chain(via: Mapping[str, str], path: str) -> str:
    """Say how a path is reached."""
    steps = [path]
    while via.get(steps[-1]):
        steps.append(via[steps[-1]])
    return " <- ".join(steps)


def graph(root: Path, paths: Iterable[str], documentation: Iterable[str], commands: Mapping[str, str]) -> Graph:
    """Read all Python files of the tree; `commands` are the files of commands by their words.

    The product names documentation for its readers only: no wheel holds any.
    """
    everything = set(paths)
    folders = {str(parent) for path in everything for parent in PurePosixPath(path).parents} - {"."}
    modules = {_module(path): path for path in everything if path.endswith(".py")}
    top = [path for path in everything if "/" not in path]
    scripts = _scripts(root / "pyproject.toml")
    edges: dict[str, frozenset[str]] = {}
    called: dict[str, frozenset[str]] = {}
    callers: dict[str, set[str]] = {path: set() for path in commands.values()}
    for module, path in modules.items():
        text = (root / path).read_text(encoding="utf-8")
        names = _Names(ast.parse(text, path))
        if path.startswith(_CALLERS):
            for word, command in commands.items():
                callers[command] |= {path} if re.search(rf"\b{re.escape(word)}\b", text) else set()
        if path in callers:
            called[path] = frozenset(target for name in names.in_functions for target in _files_of(name, modules))
        else:
            names.modules |= names.in_functions
        named = {target for name in names.modules for target in _files_of(name, modules)}
        programs = {scripts.get(name, "") for name in names.scripts} | {f"{name}.__main__" for name in names.quoted}
        named |= {target for name in programs | names.quoted for target in _files_of(name, modules)}
        named |= names.paths & (everything | folders)
        named |= {target for pattern in names.patterns for target in fnmatch.filter(top, pattern)}
        if module.startswith("slipway."):
            named = {target for target in named if not within(target, documentation)}
        named |= _setting(path, everything) | set(_files_of(module, modules))
        edges[path] = frozenset(named - {path})
    return Graph(edges, called, {command: frozenset(files) for command, files in callers.items()})


class _Names(ast.NodeVisitor):
    """What one file names: modules, programs and paths."""

    def __init__(self, tree: ast.Module) -> None:
        self.modules: set[str] = set()
        self.in_functions: set[str] = set()
        self.quoted: set[str] = set()
        self.scripts: set[str] = set()
        self.paths: set[str] = set()
        self.patterns: set[str] = set()
        self.visit(tree)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outside, self.modules = self.modules, self.in_functions
        self.generic_visit(node)
        self.modules = outside

    def visit_Import(self, node: ast.Import) -> None:
        self.modules.update(alias.name for alias in node.names)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.modules.update(f"{node.module}.{alias.name}" for alias in node.names)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring may speak of anything
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        match node:
            case ast.Call(func=ast.Attribute(attr=attribute)) if attribute in _LOGGERS:
                return  # a logger's name starts nothing
            case ast.Call(func=ast.Attribute(ast.Name("ROOT"), "glob"), args=[ast.Constant(str(pattern))]):
                self.patterns.add(pattern)
        self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if not (isinstance(key, ast.Constant) and key.value == "User-Agent"):  # a name that starts nothing
                self.visit(value)
                if key:
                    self.visit(key)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Take `a / "docs" / "page.md"` for one path."""
        parts: list[str] = []
        whole: ast.expr = node
        while isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.Div) and isinstance(whole.right, ast.Constant):
            parts.insert(0, str(whole.right.value).rstrip("/"))
            whole = whole.left
        if parts:
            self.paths.add("/".join(parts))
            self.visit(whole)
        else:
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.quoted.update(_MODULE.findall(node.value))
            if len(node.value.split()) <= _LONGEST_COMMAND:
                self.scripts.update(_SCRIPT.findall(node.value))
            path = _PATTERN.split(node.value, maxsplit=1)[0]
            if "/" in path and _PATH.fullmatch(path):
                self.paths.add(path.rpartition("/")[0] if path != node.value else path.rstrip("/"))


def _module(path: str) -> str:
    parts = PurePosixPath(path).with_suffix("").parts
    for source_root in _SOURCE_ROOTS:
        if parts[: len(source_root)] == source_root and parts[len(source_root)] == "slipway":
            parts = parts[len(source_root) :]
            break
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _files_of(name: str, modules: Mapping[str, str]) -> Iterator[str]:
    """Give what is loaded for a dotted name: the module, and the packages around it."""
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        if path := modules.get(".".join(parts[:end])):
            yield path


def _setting(path: str, everything: set[str]) -> set[str]:
    """Give the conftest.py files that pytest loads for a test file."""
    if not path.startswith("tests/"):
        return set()
    return {f"{folder}/conftest.py" for folder in PurePosixPath(path).parents} & everything


def _scripts(pyproject: Path) -> dict[str, str]:
    declared = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["scripts"]
    return {name: target.partition(":")[0] for name, target in declared.items()}
