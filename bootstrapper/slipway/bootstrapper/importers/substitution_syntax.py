r"""The grammar of `${...}` in cluster templates: drone/envsubst's, in the version that clusterctl uses.

    text        $$ is one dollar sign; $NAME and everything else is text
    ${NAME}     ${#NAME}    ${NAME^} ${NAME^^} ${NAME,} ${NAME,,}
    ${NAME=default} and :=  :-  :+  :?      the default is any mixture of text and ${...}
    ${NAME:offset} ${NAME:offset:length}
    ${NAME#pattern} ## % %%
    ${NAME/old/new} // /# /%                \/ and \\ and $$ are escapes in old and new
    ${ NAME }                               spaces inside are an old form of ${NAME}

An argument of the last three is text or one ${...}, not a mixture. A forgotten `}` is an error of the file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from slipway.bootstrapper.importers.substitution_functions import DEFAULTS

_LEGACY = re.compile(r"\$\{(?:\s+([A-Za-z0-9_$]+)\s*|([A-Za-z0-9_$]+)\s+)\}")
_TEXT = re.compile(r"(?:[^$]|\$(?![${]))++")
_NAME = re.compile(r"\w+")
_FUNCTION = re.compile(r":[=\-?+]|:|=|[,^]{1,2}|/[/#%]?|##?|%%?")
_UNTIL_BRACE = re.compile(r"(?:(?!\$\{)[^}])++")
_UNTIL_COLON = re.compile(r"(?:(?!\$\{)[^:}])++")
_OLD = re.compile(r"(?:\$\$|\\[/\\]|(?!\$\{)[^/])++")
_NEW = re.compile(r"(?:\$\$|\\[/\\]|(?!\$\{)[^}])++")
_ESCAPE = re.compile(r"\$(\$)|\\([/\\])")
_DEEPEST = 20
_MOST = 100_000
"""Calls and escapes of one text: each is a part that is kept with its place."""


class SubstitutionSyntaxError(ValueError):
    """The text breaks the grammar at `offset`."""

    def __init__(self, offset: int, message: str) -> None:
        """Note where."""
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True)
class Text:
    """Text between substitutions.

    Attributes:
        start: where it begins in the template.
        text: the text, escapes resolved.
    """

    start: int
    text: str


@dataclass(frozen=True)
class Call:
    """One `${...}`: the variable, the function applied to its value, and the function's arguments."""

    start: int
    variable: str
    function: str
    arguments: tuple["Text | Call", ...]

    @property
    def has_default(self) -> bool:
        """Whether it needs no value. An empty default does not count, as with clusterctl."""
        return self.function in DEFAULTS and bool(self.arguments)

    @property
    def calls(self) -> tuple["Call", ...]:
        """The calls among the arguments."""
        return tuple(argument for argument in self.arguments if isinstance(argument, Call))


def parse_template(text: str) -> list[Text | Call]:
    """Split a template into text and calls.

    Raises:
        SubstitutionSyntaxError: the text breaks the grammar; the message repeats nothing of it.
    """
    return list(_Parser(text).parts())


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.depth = 0
        self.count = 0

    def parts(self) -> Iterator[Text | Call]:
        while self.position < len(self.text):
            start = self.position
            if match := _TEXT.match(self.text, start):
                self.position = match.end()
                yield Text(start, match[0])
                continue
            self.count += 1
            if self.count > _MOST:
                raise self.error(start, f"more than {_MOST} of ${{...}} and $$ in one file: split the file")
            # An escape is a part of its own, so that what follows it keeps its place.
            yield Text(start, "$") if self.take("$$") else self.call()

    def call(self) -> Call:
        start = self.position
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.error(start, f"substitutions nested deeper than {_DEEPEST} levels")
        call = self.legacy() or self.modern(start)
        self.depth -= 1
        return call

    def legacy(self) -> Call | None:
        match = _LEGACY.match(self.text, self.position)
        if match is None or not _NAME.fullmatch(name := match[1] or match[2]):
            return None
        start, self.position = self.position, match.end()
        return Call(start, name, "", ())

    def modern(self, start: int) -> Call:
        self.position += len("${")
        if self.take("#"):
            return self.closed(Call(start, self.name(start), "length", ()))
        name = self.name(start)
        match = _FUNCTION.match(self.text, self.position)
        if match is None:
            return self.closed(Call(start, name, "", ()))
        function, self.position = match[0], match.end()
        return self.closed(Call(start, name, function, tuple(self.arguments(function))))

    def name(self, start: int) -> str:
        match = _NAME.match(self.text, self.position)
        if match is None:
            raise self.error(start, "a variable's name is missing behind ${ (write $${ for the text itself)")
        self.position = match.end()
        return match[0]

    def arguments(self, function: str) -> Iterator[Text | Call]:
        if function in DEFAULTS:
            while self.text[self.position : self.position + 1] not in ("}", ""):
                yield self.argument(_UNTIL_BRACE)
        elif function == ":":
            yield self.argument(_UNTIL_COLON)
            if self.run(":"):
                yield self.argument(_UNTIL_BRACE)
        elif function[0] == "/":
            yield self.argument(_OLD, escapes=True)
            if not self.run("/"):
                raise self.error(self.position, "a / is missing in ${NAME/old/new}")
            if self.text[self.position : self.position + 1] != "}":
                yield self.argument(_NEW, escapes=True)
        elif function[0] in "#%":
            yield self.argument(_UNTIL_BRACE)

    def argument(self, pattern: re.Pattern[str], *, escapes: bool = False) -> Text | Call:
        start = self.position
        if self.text.startswith("${", start):
            return self.call()
        match = pattern.match(self.text, start)
        if match is None:
            raise self.error(start, "something is missing in a ${...}")
        self.position = match.end()
        return Text(start, _ESCAPE.sub(r"\1\2", match[0]) if escapes else match[0])

    def closed(self, call: Call) -> Call:
        if not self.take("}"):
            message = "a ${ without its }, or a function that clusterctl does not have"
            raise self.error(call.start, f"{message} (write $${{ for the text itself)")
        return call

    def take(self, text: str) -> bool:
        is_next = self.text.startswith(text, self.position)
        self.position += len(text) if is_next else 0
        return is_next

    def run(self, character: str) -> bool:
        start = self.position
        while self.take(character):
            pass
        return self.position > start

    def error(self, offset: int, message: str) -> SubstitutionSyntaxError:
        return SubstitutionSyntaxError(offset, message)
