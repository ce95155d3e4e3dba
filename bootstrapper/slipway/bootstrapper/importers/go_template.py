"""Go templates: a file of a KubeadmConfig may be one over the control plane's version, a patch of a ClusterClass too.

Only what these need is understood, and that exactly as Go's text/template does: fields, if/else/end, comments, trim
markers, constants, pipelines, parentheses, the functions below, and variables where any field is known. Everything
else (range, with, define, other functions) is refused, never guessed at.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

LARGEST = 1 << 20
"""Most bytes of a rendered file; Cluster API's own bound."""

_ACTION = re.compile(
    r"\{\{(?P<left>-(?=[ \t\r\n]))?"
    r"(?P<body>(?:\"(?:\\.|[^\"\\\n])*+\"|`[^`]*`|(?!(?:(?<=[ \t\r\n])-)?\}\})[^\"`])*+)(?P<right>(?<=[ \t\r\n])-)?\}\}"
)
_COMMENT = re.compile(r"\{\{(?P<left>-[ \t\r\n]+)?/\*.*?\*/(?P<right>[ \t\r\n]+-)?\}\}", re.DOTALL)
_TOKEN = re.compile(
    r"(?P<space>\s*)(?:(?P<field>(?:\.[A-Za-z_][A-Za-z0-9_]*)++)|(?P<word>[A-Za-z_][A-Za-z0-9_]*)|(?P<number>-?[0-9]+)"
    r"|(?P<variable>\$[A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*+)"
    r"|(?P<text>\"(?:\\.|[^\"\\])*+\")|(?P<raw>`[^`]*`)|(?P<mark>[()|]))"
)
_DECLARATION = re.compile(r"\$(?P<name>[A-Za-z0-9_]+)\s*:=(?P<pipeline>.*)", re.DOTALL)
_SPACE = " \t\r\n"
_SMALLEST, _LARGEST = -4, 6
_DEEPEST = 50
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "r": "\r", "'": "'"}


class GoTemplateError(ValueError):
    """The template is malformed, or uses something that is not understood; the message repeats nothing of it."""


Functions = Mapping[str, Callable[..., Any]]
"""Functions by name; one that raises TypeError, ValueError or IndexError refuses its arguments."""

NOBODY_KNOWS = (
    "a value that only the management cluster knows: import the objects that Cluster API has made of the topology; "
    "for a first look, --set-missing fills in a placeholder"
)
UNKNOWN = object()
"""A value of the data that exists, but is unknown here: a template that uses it is refused."""


@dataclass(frozen=True)
class Dialect:
    """What a kind of templates can use.

    Attributes:
        data: the value that the template is over.
        functions: functions beside those of text/template.
        fields: the only fields that there are, or None if every name may be one.
        missing: message when a value is printed that there is none of; "" prints what Go prints.
    """

    data: Mapping[str, Any] = field(repr=False)
    functions: Functions = field(default_factory=dict, repr=False)
    fields: tuple[tuple[str, ...], ...] | None = None
    missing: str = "a value is printed that does not exist: set it, or guard it by {{ if }}"


_VERSION_ONLY = (("controlPlane",), ("controlPlane", "version"))
_NO_VERSION = "the control plane's version is not known: give it, or guard it by {{ if }}"


def render(template: str, control_plane_version: str) -> str:
    """Render a file of a KubeadmConfig.

    Args:
        template: the text.
        control_plane_version: the version with its v, or "" when the cluster has none.

    Raises:
        GoTemplateError: see there; also when a value is printed that there is none of.
    """
    data = {"controlPlane": {"version": control_plane_version}} if control_plane_version else {}
    return render_as(template, Dialect(data, fields=_VERSION_ONLY, missing=_NO_VERSION))


def render_as(template: str, dialect: Dialect) -> str:
    """Render a template of any kind.

    Args:
        template: the text.
        dialect: what it can use.

    Raises:
        GoTemplateError: see there.
    """
    output = "".join(_Renderer(_parts(template), dialect).block())
    if len(output.encode()) > LARGEST:
        raise GoTemplateError(f"larger than {LARGEST} bytes when rendered")
    return output


def _parts(template: str) -> Iterator[tuple[bool, str]]:
    """Split into (is action, text), with the white space gone that trim markers cut. Comments vanish."""
    position, trim_next = 0, False
    while True:
        start = template.find("{{", position)
        text = template[position : start if start >= 0 else len(template)]
        text = text.lstrip(_SPACE) if trim_next else text
        if start < 0:
            yield False, text
            return
        comment = _COMMENT.match(template, start)
        action = comment or _ACTION.match(template, start)
        if action is None:
            raise GoTemplateError("a {{ without its }}")
        yield False, text.rstrip(_SPACE) if action["left"] else text
        if comment is None:
            yield True, action["body"].strip(_SPACE)
        position, trim_next = action.end(), bool(action["right"])


class _Renderer:
    """Walks the parts once; what stands in a branch that is not taken is parsed but not evaluated."""

    def __init__(self, parts: Iterator[tuple[bool, str]], dialect: Dialect) -> None:
        self.parts = parts
        self.dialect = dialect
        self.variables: dict[str, Any] = {"": dialect.data}
        self.depth = 0

    def block(self) -> Iterator[str]:
        """Give the text of the whole template."""
        text, end = self.until_end(wanted=True)
        if end:
            raise GoTemplateError("an else or end without its if")
        yield text

    def until_end(self, *, wanted: bool) -> tuple[str, str]:
        """Give the text up to else, else if, or end, and that action."""
        output: list[str] = []
        for is_action, text in self.parts:
            if not is_action:
                output.append(text)
                continue
            word = re.split(r"\W", text, maxsplit=1)[0]
            if word == "if":
                output.append(self.branches(text.removeprefix("if"), wanted=wanted))
            elif word in {"else", "end"}:
                return "".join(output), text
            else:
                declared = _DECLARATION.fullmatch(text) if self.dialect.fields is None else None
                value = self.value(declared["pipeline"] if declared else text, evaluated=wanted)
                if declared:
                    self.variables[declared["name"]] = value
                    continue
                output.append(printed(value, self.dialect.missing) if wanted else "")
        return "".join(output), ""

    def value(self, text: str, *, evaluated: bool) -> Any:
        return _Expression(text, self.dialect, self.variables, evaluated=evaluated).value()

    def branches(self, condition: str, *, wanted: bool) -> str:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise GoTemplateError(f"nested deeper than {_DEEPEST} levels")
        result, taken, final = "", False, False
        while True:
            evaluated = wanted and not taken
            value = self.value(condition, evaluated=evaluated)
            holds = evaluated and (final or _true(value))
            outside = dict(self.variables)
            text, end = self.until_end(wanted=holds)
            self.variables = outside
            result, taken = (text, True) if holds else (result, taken)
            if end == "end":
                self.depth -= 1
                return result
            match = re.fullmatch(r"else(?:\s+if\s+(?P<condition>\S.*))?", end, re.DOTALL)
            if match is None or final:
                raise GoTemplateError("an if without its end")
            condition, final = match["condition"] or "true", match["condition"] is None


class _Expression:
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
        if self.depth > _DEEPEST:
            raise GoTemplateError(f"nested deeper than {_DEEPEST} levels")
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
        function = self.dialect.functions.get(name) or _FUNCTIONS.get(name)
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
        found = self.peek() == (kind, text)
        self.position += found
        return found


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


def _true(value: Any) -> bool:
    return bool(value)


def printed(value: Any, missing: str = Dialect.missing) -> str:
    """Print a value as Go does.

    Raises:
        GoTemplateError: there is none, or it is not one of JSON.
    """
    if value is None:
        if not missing:
            return "<no value>"
        raise GoTemplateError(missing)
    if missing == _NO_VERSION and isinstance(value, Mapping):
        raise GoTemplateError("only .controlPlane.version can be printed")
    return _printed(value)


def _printed(value: Any) -> str:
    """Print a value, or an item of one; that of a function of ours, such as a parsed version, is no value of JSON."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number(value)
    if type(value) is list:
        return f"[{' '.join(map(_printed, value))}]"
    if type(value) is dict:
        return f"map[{' '.join(f'{key}:{_printed(value[key])}' for key in sorted(value))}]"
    if not isinstance(value, str | int):
        raise GoTemplateError("a value that cannot be printed")
    return str(value)


def _number(value: float) -> str:
    """Print a number of JSON as Go's %v does: the fewest digits, an exponent from a million on, or below 1e-4."""
    shortest = repr(value)
    digits, _, exponent = f"{value:.{_digits(shortest) - 1}e}".partition("e")
    power = int(exponent)
    if power < _SMALLEST or power >= _LARGEST:
        return f"{digits}e{'-' if power < 0 else '+'}{abs(power):02d}"
    return f"{value:.{max(_digits(shortest) - 1 - power, 0)}f}"


def _digits(shortest: str) -> int:
    """Count the digits that matter of the shortest text that means a number."""
    text = shortest.partition("e")[0].lstrip("-").replace(".", "").strip("0")
    return max(len(text), 1)


def _equal(first: Any, *others: Any) -> bool:
    if not others or any(type(other) is not type(first) for other in others):
        raise TypeError
    return first in others


def _ordered(first: Any, second: Any) -> int:
    if type(first) is not type(second) or not isinstance(first, str | int | float) or isinstance(first, bool):
        raise TypeError
    # Characters of UTF-8 sort as their bytes do.
    return int(first > second) - int(first < second)


def _slice(text: Any, *bounds: Any) -> str:
    raw = text.encode()
    start, end = (*bounds, *(0, len(raw))[len(bounds) :])[:2]
    if len(bounds) > 2 or not 0 <= start <= end <= len(raw):  # noqa: PLR2004 - start and end
        raise IndexError
    return bytes(raw[start:end]).decode()


def _printf(format_text: Any, *arguments: Any) -> str:
    verbs = re.findall(r"%(.)", format_text.replace("%%", ""))
    if any(verb not in "svd" for verb in verbs) or len(verbs) != len(arguments):
        raise TypeError
    if any(isinstance(value, str) is (verb == "d") for verb, value in zip(verbs, arguments, strict=True)):
        raise TypeError
    values = iter(arguments)
    return re.sub(r"%(.)", lambda match: "%" if match[1] == "%" else printed(next(values)), format_text)


def _print(*texts: Any) -> str:
    if not all(isinstance(text, str) for text in texts):
        raise TypeError
    return "".join(texts)


def _last(*values: Any, until: bool) -> Any:
    return next((value for value in values[:-1] if _true(value) is until), values[-1])


_CONSTANTS = {"true": True, "false": False}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "and": lambda *values: _last(*values, until=False),
    "or": lambda *values: _last(*values, until=True),
    "not": lambda value: not _true(value),
    "eq": _equal,
    "ne": lambda first, second: not _equal(first, second),
    "lt": lambda first, second: _ordered(first, second) < 0,
    "le": lambda first, second: _ordered(first, second) <= 0,
    "gt": lambda first, second: _ordered(first, second) > 0,
    "ge": lambda first, second: _ordered(first, second) >= 0,
    "len": lambda value: len(value.encode()),
    "slice": _slice,
    "print": _print,
    "printf": _printf,
}
