"""The parts of a file that hold words: prose, string literals, comments, names."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

PROSE, STRINGS, COMMENTS, NAMES = KINDS = ("prose", "strings", "comments", "names")

# A string of Go or a comment; what comes first decides, so that neither is looked for within the other.
_GO = re.compile(r'(?P<strings>"(?:[^"\\\n]|\\.)*"|`[^`]*`)|(?P<comments>//[^\n]*|/\*.*?\*/)', re.DOTALL)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Fragment:
    """A text of one kind, and the line where it begins."""

    kind: str
    line: int
    text: str


def fragments(path: str, content: str) -> Iterator[Fragment]:
    """Yield what a file says; nothing of one whose kind of file is not known."""
    read = _READERS.get(PurePath(path).suffix)
    if read is not None:
        yield from read(content)


def _prose(content: str) -> Iterator[Fragment]:
    yield Fragment(PROSE, 1, content)


def _go(content: str) -> Iterator[Fragment]:
    for match in _GO.finditer(content):
        yield Fragment(str(match.lastgroup), content.count("\n", 0, match.start()) + 1, match.group())


def _python(content: str) -> Iterator[Fragment]:
    tree = ast.parse(content)
    docstrings = {id(text) for text in _docstrings(tree)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)):
                yield Fragment(COMMENTS if id(node) in docstrings else STRINGS, node.lineno, text)
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield Fragment(NAMES, node.lineno, name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield Fragment(NAMES, node.lineno, name)
            case _:
                pass
    for token in tokenize.generate_tokens(io.StringIO(content).readline):
        if token.type == tokenize.COMMENT:
            yield Fragment(COMMENTS, token.start[0], token.string)


def _docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            statement = node.body[0]
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                yield statement.value


_READERS: dict[str, Callable[[str], Iterator[Fragment]]] = {
    ".go": _go, ".md": _prose, ".proto": _prose, ".py": _python, ".toml": _prose, ".yaml": _prose,
}  # fmt: skip
