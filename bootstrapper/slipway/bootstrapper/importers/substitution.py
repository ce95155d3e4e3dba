"""Cluster templates hold `${VARIABLES}` that clusterctl fills in before anything is YAML; so it is done here.

Values enter as plain text: a value can change the YAML around it, as it does today. In one thing this is
stricter than clusterctl: a variable that is not set is named at each of its uses, and also where it stands in
another one's default or before a function, which clusterctl takes for empty.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from slipway.bootstrapper.importers import substitution_functions
from slipway.bootstrapper.importers.offsets import Lines, OffsetMap
from slipway.bootstrapper.importers.placeholders import placeholder
from slipway.bootstrapper.importers.substitution_syntax import Call, SubstitutionSyntaxError, Text, parse_template
from slipway.contract.source_position import Position, SourceError, SourceProblem

_LARGEST = 8 * 1024 * 1024


@dataclass(frozen=True)
class Expansion:
    """A text with all variables filled in.

    Attributes:
        text: the text.
        notes: what a person should know: variables that were given a placeholder, or nothing at all.
        variables: names of all variables of the text, also of those in defaults that are not used.
    """

    text: str = field(repr=False)
    notes: tuple[SourceProblem, ...]
    variables: frozenset[str]
    _offsets: OffsetMap = field(repr=False)
    _old: Lines = field(repr=False)
    _new: Lines = field(repr=False)

    def original(self, position: Position) -> Position:
        """Give the place in the file from which a place in the expanded text comes."""
        return self._old.position(self._offsets.old(self._new.offset(position)))


class Template:
    """A text with variables, parsed once."""

    def __init__(self, text: str, *, file: str) -> None:
        """Parse the text.

        Raises:
            SourceError: the text is too large, or a substitution is malformed, or not one that clusterctl knows.
        """
        self.file = file
        if len(text) > _LARGEST:
            raise SourceError([SourceProblem(file, None, "", f"larger than {_LARGEST} characters: split the file")])
        self._lines = Lines(text)
        try:
            self._parts = parse_template(text)
        except SubstitutionSyntaxError as error:
            raise SourceError([self.problem(error.offset, str(error))]) from None
        first: dict[str, bool] = {}
        for call in _calls(self._parts):
            first.setdefault(call.variable, call.has_default)
        self._defaulted = {name for name, has_default in first.items() if has_default}

    def missing(self, variables: Mapping[str, str]) -> Iterator[Call]:
        """Give the uses of variables that have neither a value nor a default."""
        return (call for call in self._empty(variables) if call.variable not in self._defaulted)

    def _calls(self) -> Iterator[Call]:
        """Give all uses of variables, those in defaults as well."""
        waiting = list(_calls(self._parts))
        while waiting:
            call = waiting.pop()
            waiting += call.calls
            yield call

    def expand(self, variables: Mapping[str, str], *, notes: Iterable[SourceProblem] = ()) -> Expansion:
        """Fill in the variables; those that are not set count as empty.

        Raises:
            SourceError: the result is too large, or a substring has a negative length.
        """
        offsets, size = OffsetMap(), 0
        for part in self._parts:
            text = self._evaluate(part, variables)
            size += len(text)
            if size > _LARGEST:
                message = f"larger than {_LARGEST} characters when filled in"
                raise SourceError([SourceProblem(self.file, None, "", message)])
            add = offsets.inserted if isinstance(part, Call) else offsets.copied
            add(text, part.start)
        text = offsets.text()
        emptied = "the variable {} is not set: nothing is put here, although another use has a default"
        every_note = (*notes, *(self.of(call, emptied) for call in self._empty(variables)))
        variables_used = frozenset(call.variable for call in self._calls())
        return Expansion(text, every_note, variables_used, offsets, self._lines, Lines(text))

    def of(self, call: Call, message: str) -> SourceProblem:
        """Make a problem of one use of a variable; `{}` in the message is its name."""
        return self.problem(call.start, message.format(call.variable))

    def line(self, call: Call) -> int:
        """Give the line of a use."""
        return self._lines.position(call.start).line

    def problem(self, offset: int, message: str) -> SourceProblem:
        """Make a problem of a place in the text."""
        return SourceProblem(self.file, self._lines.position(offset), "", message)

    def _empty(self, variables: Mapping[str, str]) -> Iterator[Call]:
        for call in _needed(_calls(self._parts), variables):
            if call.variable not in variables and not call.has_default:
                yield call

    def _evaluate(self, part: Text | Call, variables: Mapping[str, str]) -> str:
        if isinstance(part, Text):
            return part.text
        arguments = [self._evaluate(argument, variables) for argument in part.arguments]
        value = variables.get(part.variable, "")
        try:
            return substitution_functions.apply(part.function, value, arguments, largest=_LARGEST)
        except ValueError as error:
            raise SourceError([self.problem(part.start, str(error))]) from None


class VariablesUnset(SourceError):  # noqa: N818  # subject and state, as the contract names its errors
    """Variables of the texts have no value: whoever calls says how to give them one.

    Attributes:
        uses: each use of one of them.
    """

    def __init__(self, problems: Iterable[SourceProblem], uses: Iterable[SourceProblem]) -> None:
        """Collect them."""
        super().__init__(problems)
        self.uses = tuple(uses)


def expand_all(
    texts: Mapping[str, str], *, variables: Mapping[str, str], set_missing: bool = False
) -> dict[str, Expansion]:
    """Fill in the variables of files that belong together.

    Args:
        texts: the texts by file name.
        variables: the values; one that is set to the empty text is set.
        set_missing: fill in plausible values for what is not set, and note each.

    Raises:
        SourceError: a substitution is malformed.
        VariablesUnset: variables are not set; all of them are named at once.
    """
    templates = {file: Template(text, file=file) for file, text in texts.items()}
    values = dict(variables)
    notes: dict[str, list[SourceProblem]] = {file: [] for file in texts}
    # A placeholder may bring a default into use that needs further variables, so the round is repeated.
    while missing := [(each, call) for each in templates.values() for call in each.missing(values)]:
        if not set_missing:
            raise VariablesUnset(_unset(missing), (each.of(call, "") for each, call in missing))
        for each, call in missing:
            if call.variable not in values:
                values[call.variable] = placeholder(call.variable)
                note = "the variable {} is not set: a placeholder is used"
                notes[each.file].append(each.of(call, note))
    return {file: each.expand(values, notes=notes[file]) for file, each in templates.items()}


def expand(text: str, *, file: str, variables: Mapping[str, str], set_missing: bool = False) -> Expansion:
    """Fill in the variables of one text; see expand_all."""
    return expand_all({file: text}, variables=variables, set_missing=set_missing)[file]


def _unset(missing: Iterable[tuple[Template, Call]]) -> Iterator[SourceProblem]:
    """Give one problem for each variable of a file, at its first use, naming the lines of the others."""
    uses: dict[tuple[str, str], list[tuple[Template, Call]]] = {}
    for each, call in missing:
        uses.setdefault((each.file, call.variable), []).append((each, call))
    for (each, first), *others in uses.values():
        lines = ", ".join(dict.fromkeys(str(each.line(call)) for _, call in others))
        also = f", also used in line {lines}" if lines else ""
        yield each.of(first, "the variable {} is not set" + also)


def _calls(parts: Iterable[Text | Call]) -> Iterator[Call]:
    return (part for part in parts if isinstance(part, Call))


def _needed(calls: Iterable[Call], variables: Mapping[str, str]) -> Iterator[Call]:
    """Give all calls whose result is used: those in a default only where the default is."""
    for call in calls:
        yield call
        if call.function not in substitution_functions.DEFAULTS or not variables.get(call.variable):
            yield from _needed(call.calls, variables)
