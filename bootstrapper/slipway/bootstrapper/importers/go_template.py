"""Go templates: a file of a KubeadmConfig may be one over the control plane's version, a patch of a ClusterClass too.

Only what these need is understood, and that exactly as Go's text/template does: fields, if/else/end, comments, trim
markers, constants, pipelines, parentheses, its functions, and variables where any field is known. Everything
else (range, with, define, other functions) is refused, never guessed at.
"""

import re
from collections.abc import Iterator
from typing import Any

from slipway.bootstrapper.importers.go_template_dialect import NO_VERSION, Dialect, GoTemplateError
from slipway.bootstrapper.importers.go_template_expression import DEEPEST, Expression
from slipway.bootstrapper.importers.go_template_functions import printed

LARGEST = 1 << 20
"""Most bytes of a rendered file; Cluster API's own bound."""

_ACTION = re.compile(
    r"\{\{(?P<left>-(?=[ \t\r\n]))?"
    r"(?P<body>(?:\"(?:\\.|[^\"\\\n])*+\"|`[^`]*`|(?!(?:(?<=[ \t\r\n])-)?\}\})[^\"`])*+)(?P<right>(?<=[ \t\r\n])-)?\}\}"
)
_COMMENT = re.compile(r"\{\{(?P<left>-[ \t\r\n]+)?/\*.*?\*/(?P<right>[ \t\r\n]+-)?\}\}", re.DOTALL)
_DECLARATION = re.compile(r"\$(?P<name>[A-Za-z0-9_]+)\s*:=(?P<pipeline>.*)", re.DOTALL)
_SPACE = " \t\r\n"


_VERSION_ONLY = (("controlPlane",), ("controlPlane", "version"))


def render(template: str, control_plane_version: str) -> str:
    """Render a file of a KubeadmConfig.

    Args:
        template: the text.
        control_plane_version: the version with its v, or "" when the cluster has none.

    Raises:
        GoTemplateError: see there; also when a missing value is printed.
    """
    data = {"controlPlane": {"version": control_plane_version}} if control_plane_version else {}
    return render_as(template, Dialect(data, fields=_VERSION_ONLY, missing=NO_VERSION))


def render_as(template: str, dialect: Dialect) -> str:
    """Render a template of any kind.

    Args:
        template: the text.
        dialect: what it can use.

    Raises:
        GoTemplateError: see there.
    """
    renderer = _Renderer(_parts(template), dialect)
    try:
        output = "".join(renderer.block())
    except GoTemplateError as error:
        raise GoTemplateError(f"{error} (line {renderer.line} of the template)") from None
    if len(output.encode()) > LARGEST:
        raise GoTemplateError(f"larger than {LARGEST} bytes when rendered")
    return output


def _parts(template: str) -> Iterator[tuple[int, str]]:
    """Split into text and actions, with the white space gone that trim markers cut. Comments vanish.

    Each comes with the line of its action, 0 for text.
    """
    position, trim_next, line = 0, False, 1
    while True:
        start = template.find("{{", position)
        text = template[position : start if start >= 0 else len(template)]
        text = text.lstrip(_SPACE) if trim_next else text
        if start < 0:
            yield 0, text
            return
        comment = _COMMENT.match(template, start)
        action = comment or _ACTION.match(template, start)
        if action is None:
            raise GoTemplateError("a {{ without its }}")
        yield 0, text.rstrip(_SPACE) if action["left"] else text
        line += template.count("\n", position, start)
        if comment is None:
            yield line, action["body"].strip(_SPACE)
        line += action[0].count("\n")
        position, trim_next = action.end(), bool(action["right"])


_STATEMENTS = frozenset({"range", "with", "define", "block", "template", "break", "continue"})


class _Renderer:
    """Walks the parts once; what stands in a branch that is not taken is parsed but not evaluated."""

    def __init__(self, parts: Iterator[tuple[int, str]], dialect: Dialect) -> None:
        self.parts = parts
        self.line = 1
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
        for line, text in self.parts:
            if not line:
                output.append(text)
                continue
            self.line = line
            word = re.split(r"\W", text, maxsplit=1)[0]
            if word == "if":
                output.append(self.branches(text.removeprefix("if"), wanted=wanted))
            elif word in {"else", "end"}:
                return "".join(output), text
            elif word in _STATEMENTS:
                raise GoTemplateError(f"{word} is not understood here: write out what it makes")
            else:
                declared = _DECLARATION.fullmatch(text) if self.dialect.fields is None else None
                value = self.value(declared["pipeline"] if declared else text, evaluated=wanted)
                if declared:
                    self.variables[declared["name"]] = value
                    continue
                output.append(printed(value, self.dialect.missing) if wanted else "")
        return "".join(output), ""

    def value(self, text: str, *, evaluated: bool) -> Any:
        return Expression(text, self.dialect, self.variables, evaluated=evaluated).value()

    def branches(self, condition: str, *, wanted: bool) -> str:
        self.depth += 1
        if self.depth > DEEPEST:
            raise GoTemplateError(f"nested deeper than {DEEPEST} levels")
        result, taken, final = "", False, False
        while True:
            evaluated = wanted and not taken
            value = self.value(condition, evaluated=evaluated)
            holds = evaluated and (final or bool(value))
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
