"""All regular expressions that the product gives to Python's own matcher, found in its syntax trees.

A place that cannot be resolved to the text of a pattern is a problem, not a gap: the test lists each pattern that is
built at run time, with samples of its text.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.repository import ROOT

ROOTS = ("sdk/python", "bootstrapper", "provisioners", "services")
_AT_THE_BEGINNING = frozenset({"match", "fullmatch"})
_METHODS = _AT_THE_BEGINNING | {"search", "sub", "subn", "split", "findall", "finditer"}
_IMPORT = re.compile(r"\b(?:from|import)\b.*\bre\b")
_ATTRIBUTES = _METHODS | {"pattern", "groups", "flags", "groupindex"}


@dataclass(frozen=True)
class Place:
    """A regular expression in a file."""

    path: str
    line: int
    source: str
    """The expression that gives the pattern, as it is written."""
    pattern: str | None
    """None: it is built at run time."""
    flags: int
    searched: bool
    """Whether it is tried at other places than the beginning of a text."""
    whole: bool
    """Whether it is to match a text to its end."""

    @property
    def key(self) -> str:
        """The file and the expression, which stay when lines move."""
        return f"{self.path}: {self.source}"


def files_with_patterns(root: Path = ROOT) -> list[str]:
    """Give the files of the product that may have a regular expression, without a look at their syntax."""
    return [path for path, text in _texts(root).items() if _may_have_patterns(text)]


def places(root: Path = ROOT) -> list[Place]:
    """Give every regular expression of the product."""
    texts = _texts(root)
    # Most files neither have a pattern nor use one by its name; to parse all takes seconds.
    trees = {path: list(ast.walk(ast.parse(text))) for path, text in texts.items() if _may_have_patterns(text)}
    calls = {path: list(_calls(nodes)) for path, nodes in trees.items()}
    shared = {name for made in calls.values() for _, _, name in made if name and not name.startswith("_")}
    methods = {
        path: _methods(trees.get(path) or list(ast.walk(ast.parse(text))))
        for path, text in texts.items()
        if path in trees or any(name in text for name in shared)
    }
    public: dict[str, set[str]] = {}
    for used in methods.values():
        for name, names in used.items():
            public.setdefault(name, set()).update(names)
    result: list[Place] = []
    for path, nodes in trees.items():
        direct = {id(node.value): {node.attr} for node in nodes if isinstance(node, ast.Attribute)}
        for call, function, name in calls[path]:
            used = methods[path] if name.startswith("_") else public
            methods_used = direct.get(id(call)) or used.get(name, {"search"})
            result.append(_place(path, call, function, methods_used if function == "compile" else {function}))
    return result


def _texts(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_text(encoding="utf-8")
        for folder in ROOTS
        for path in sorted((root / folder).rglob("*.py"))
        if "v1alpha1" not in path.parts
    }


def _may_have_patterns(text: str) -> bool:
    return "import re\n" in text


def unknown_imports(root: Path = ROOT) -> list[str]:
    """Give the files that import `re` in another way than alone and by its name, where no call would be seen."""
    return [
        path
        for path, text in _texts(root).items()
        if _IMPORT.search(text)
        for node in ast.walk(ast.parse(text))
        if (isinstance(node, ast.ImportFrom) and node.module == "re")
        or (isinstance(node, ast.Import) and _imports_re(node.names) and (len(node.names) > 1 or node.names[0].asname))
    ]


def _imports_re(names: list[ast.alias]) -> bool:
    return any(alias.name == "re" for alias in names)


def _body(nodes: list[ast.AST]) -> list[ast.stmt]:
    """Give the statements of a module, which is the first of its nodes."""
    return nodes[0].body if isinstance(nodes[0], ast.Module) else []


def _calls(nodes: list[ast.AST]) -> Iterator[tuple[ast.Call, str, str]]:
    """Give each call of `re`, the function that is called, and the module's name for its result, if it has one."""
    names = {
        id(node.value): node.targets[0].id
        for node in _body(nodes)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in _METHODS | {"compile"}
        ):
            yield node, node.func.attr, names.get(id(node), "")


def _methods(nodes: list[ast.AST]) -> dict[str, set[str]]:
    """Give how each name is used; a name that is handed on, or matched from a place inside, may be searched."""
    used: dict[str, set[str]] = {}
    known: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in _ATTRIBUTES:
            known.add(id(node.value))
            used.setdefault(node.value.id, set()).add(node.attr)
        if (
            isinstance(node, ast.Call)
            and len(node.args) > 1
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.attr in _AT_THE_BEGINNING
        ):
            used.setdefault(node.func.value.id, set()).add("search")
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in known:
            used.setdefault(node.id, set()).add("search")
    return used


def _place(path: str, call: ast.Call, function: str, used: set[str]) -> Place:
    pattern, flags = _evaluate(path, call.args[0]), _flags(path, call, function)
    if isinstance(pattern, bytes):
        pattern, flags = pattern.decode("latin-1"), flags | re.ASCII
    return Place(
        path,
        call.lineno,
        ast.unparse(call.args[0]),
        pattern if isinstance(pattern, str) else None,
        flags,
        searched=bool(used & (_METHODS - _AT_THE_BEGINNING)),
        whole="fullmatch" in used,
    )


def _flags(path: str, call: ast.Call, method: str) -> int:
    values = [keyword.value for keyword in call.keywords if keyword.arg == "flags"]
    at = {"compile": 1, "match": 2, "fullmatch": 2, "search": 2, "findall": 2, "finditer": 2, "split": 3}.get(method, 4)
    for node in values + call.args[at : at + 1]:
        value = _evaluate(path, node)
        return value if isinstance(value, int) else 0
    return 0


def _evaluate(path: str, node: ast.expr) -> object:
    """Evaluate an expression with the names of its module; None where it has others."""
    if not any(isinstance(part, ast.Name) for part in ast.walk(node)):
        return eval(compile(ast.Expression(node), path, "eval"), {})  # noqa: S307 (the project's own source)
    parts = Path(path).with_suffix("").parts
    name = ".".join(parts[parts.index("slipway") :]).removesuffix(".__init__")
    try:
        return eval(compile(ast.Expression(node), path, "eval"), vars(importlib.import_module(name)))  # noqa: S307  # source of this project
    except NameError:
        return None
