"""An expression in an action of a Go template: a pipeline of constants, fields, variables and calls."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from slipway.bootstrapper.importers.go_template_dialect import NOBODY_KNOWS, UNKNOWN, Dialect, GoTemplateError
from slipway.bootstrapper.importers.go_template_functions import FUNCTIONS

_TOKEN = re.compile(
    r"(?P<space>\s*)(?:(?P<field>(?:\.[A-Za-z_][A-Za-z0-9_]*)++)|(?P<word>[A-Za-z_][A-Za-z0-9_]*)|(?P<number>-?[0-9]+)"
    r"|(?P<variable>\$[A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*+)"
    r"|(?P<text>\"(?:\\.|[^\"\\])*+\")|(?P<raw>`[^`]*`)|(?P<mark>[()|]))"
)
DEEPEST = 50
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "r": "\r", "'": "'"}


class Expression:
    """A pipeline: recursive descent over the tokens of one action."""

    def __init__(self, text: str, dialect: Dialect, variables: Mapping[str, Any], *, evaluated: bool) -> None:
        self.tokens = list(_tokens(text))
        self.dialect = dialect
        self.variables = variables
        self.evaluated = evaluated
        self.position = 0
        self.depth = 0

    def value(self) -> Any:
        value = self.pipeline()
        if self.position < len(self.tokens):
            raise GoTemplateError("an expression that is not understood")
        return value

    def pipeline(self) -> Any:
        self.depth += 1
        if self.depth > DEEPEST:
            raise GoTemplateError(f"nested deeper than {DEEPEST} levels")
        value = self.command([])
        while self.take("mark", "|"):
            value = self.command([value])
        self.depth -= 1
        return value

    def command(self, piped: list[Any]) -> Any:
        kind, text = self.peek()
        if kind == "word" and text not in _CONSTANTS:
            self.position += 1
            return self.call(text, [*self.operands(), *piped])
        operands = list(self.operands())
        if len(operands) != 1 or piped:
            raise GoTemplateError("an expression that is not understood")
        return operands[0]

    def call(self, name: str, arguments: list[Any]) -> Any:
        function = self.dialect.functions.get(name) or FUNCTIONS.get(name)
        if function is None:
            raise GoTemplateError("a function or statement that is not understood here")
        if not self.evaluated:
            return None
        try:
            return function(*arguments)
        except GoTemplateError:
            raise
        except (AttributeError, TypeError, IndexError, ValueError, KeyError, OverflowError):
            raise GoTemplateError("a function with arguments that do not fit it") from None

    def operands(self) -> Iterator[Any]:
        while True:
            kind, text = self.peek()
            if kind == "" or (kind == "mark" and text != "("):
                return
            self.position += 1
            if kind == "mark":
                value = self.pipeline()
                if not self.take("mark", ")"):
                    raise GoTemplateError("a ( without its )")
                kind, text = self.peek()
                if kind == "access":
                    self.position += 1
                    value = self.walk(value, text.split(".")[1:])
                yield value
            else:
                yield self.operand(kind, text)

    def operand(self, kind: str, text: str) -> Any:
        match kind:
            case "field":
                return self.field(text)
            case "variable":
                return self.variable(text)
            case "number":
                return int(text)
            case "text":
                return re.sub(r"\\(.)", _unescaped, text[1:-1])
            case "raw":
                return text[1:-1]
            case "word" if text in _CONSTANTS:
                return _CONSTANTS[text]
        raise GoTemplateError("an expression that is not understood")

    def field(self, path: str) -> Any:
        names = path.split(".")[1:]
        known = self.dialect.fields
        if known is not None and tuple(names) not in known:
            raise GoTemplateError("only .controlPlane.version can be used")
        return self.walk(self.dialect.data, names)

    def variable(self, path: str) -> Any:
        name, *names = path[1:].split(".")
        if self.dialect.fields is not None or name not in self.variables:
            raise GoTemplateError("an expression that is not understood")
        return self.walk(self.variables[name], names)

    def walk(self, value: Any, names: list[str]) -> Any:
        """Give a field of a field: none of what is not there, as Go does for maps."""
        if not self.evaluated:
            return None
        for name in names:
            if value is not None and not isinstance(value, Mapping):
                raise GoTemplateError("a field of a value that has no fields")
            value = value.get(name) if value else None
            if value is UNKNOWN:
                raise GoTemplateError(NOBODY_KNOWS)
        return value

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.position] if self.position < len(self.tokens) else ("", "")

    def take(self, kind: str, text: str) -> bool:
        is_next = self.peek() == (kind, text)
        self.position += is_next
        return is_next


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    position, before = 0, ""
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise GoTemplateError("an expression that is not understood")
        close = match.lastgroup == "field" and before == ")" and not match["space"]
        before = match[match.lastgroup]
        yield "access" if close else match.lastgroup, before
        position = match.end()


def _unescaped(match: re.Match[str]) -> str:
    if match[1] not in _ESCAPES:
        raise GoTemplateError("an escape in a text that is not understood")
    return _ESCAPES[match[1]]


_CONSTANTS = {"true": True, "false": False}
