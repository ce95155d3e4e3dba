"""What is said beside a result, on standard error: each remark once, with the place in the file that it is about."""

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from slipway.bootstrapper.assembly.subject import check
from slipway.bootstrapper.documents.consistency import inconsistencies
from slipway.bootstrapper.documents.doubts import doubts
from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.bootstrapper.documents.places import Places
from slipway.bootstrapper.explain_diagnostics import NOT_CHOSEN
from slipway.bootstrapper.problems.remedies import CORRECT
from slipway.cli.loading import Loaded
from slipway.cli.output import folded, note
from slipway.cli.remedies import what_to_do
from slipway.cli.rendering import Entry, diagnostic_tree
from slipway.contract.errors import SlipwayError
from slipway.contract.source_position import Position, SourceProblem, with_remedy
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb

_SEVERITIES = {"info": "note", "warning": "warning", "error": "warning"}


def note_files(loaded: Loaded) -> None:
    """Report what was noticed while the files were read."""
    for text in folded(dict.fromkeys(loaded.notes)):
        note(text, "note")
    for text in (*loaded.doubts, *loaded.unused.values()):
        note(text, "warning")


def note_questions(loaded: Loaded) -> None:
    """Report what was noticed while the machines of the files were read."""
    for kind, line in question_lines(loaded):
        note(line, kind)


def question_lines(loaded: Loaded) -> Sequence[tuple[str, str]]:
    """Give what was noticed while the machines of the files were read, as kind and line, each once."""
    lines: dict[tuple[str, str], None] = {}
    for question in loaded.questions:
        for diagnostic in question.diagnostics:
            tree = diagnostic_tree(diagnostic)
            line = _sentence(loaded.places, question, tree["field"], tree["message"])
            lines[_SEVERITIES.get(tree["severity"], "warning"), line] = None
    return list(lines)


def together_lines(loaded: Loaded) -> Mapping[str, Sequence[str]]:
    """Give, by machine, a line for everything in which it does not go with the others, at the field if it is known."""
    lines: dict[str, list[str]] = {}
    for inconsistency in inconsistencies(loaded.questions):
        question = inconsistency.machine
        known = inconsistency.field and _place(loaded.places, question, question.as_written(inconsistency.field))
        line = _sentence(loaded.places, question, inconsistency.field, inconsistency.message) if known else ""
        lines.setdefault(question.name, []).append(line or str(question.standing.problem(inconsistency.message)))
    return lines


def note_entries(loaded: Loaded, entries: Sequence[Entry]) -> None:
    """Report why something was refused, and what provisioners and the bootstrapper remarked."""
    questions = {question.name: question for question in loaded.questions}
    messages: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        for refusal in entry.refusals:
            reason = _with_advice(refusal["reason"], refusal["remedy"])
            field = refusal["field"] or ("" if entry.provisioner else entry.machine)
            line = _sentence(loaded.places, questions[entry.machine], field, reason)
            messages.setdefault((entry.status, line), []).append(entry.provisioner)
    for entry in entries:
        for diagnostic in entry.diagnostics:
            line = _sentence(loaded.places, questions[entry.machine], diagnostic["field"], diagnostic["message"])
            messages.setdefault((_SEVERITIES.get(diagnostic["severity"], "warning"), line), []).append(
                entry.provisioner
            )
    everybody = {entry.provisioner for entry in entries}
    several = len(entries) > len({entry.machine for entry in entries})
    lines: dict[str, list[str]] = {}
    for (kind, line), names in messages.items():
        whose = f"{', '.join(dict.fromkeys(names))}: " if several and set(names) != everybody else ""
        lines.setdefault(kind, []).append(f"{whose}{line}")
    for kind, of_kind in lines.items():
        for line in folded(of_kind):
            note(line, kind)


def note_error(
    loaded: Loaded, question: MachineQuestion, error: SlipwayError, *, kind: str = "refused", whose: str = ""
) -> None:
    """Report why a machine was refused, a line for each field; by whom, where several were asked."""
    for line in folded(error_lines(loaded.places, question, error)):
        note(f"{whose}: {line}" if whose else line, kind)


def note_answer(loaded: Loaded, question: MachineQuestion, diagnostics: Iterable[diagnosticpb.Diagnostic]) -> None:
    """Report what an answer says about fields; what it says of the whole is a part of the result."""
    for diagnostic in diagnostics:
        tree = diagnostic_tree(diagnostic)
        if tree["field"]:
            line = _sentence(loaded.places, question, tree["field"], tree["message"])
            note(line, "refused" if diagnostic.code in NOT_CHOSEN else _SEVERITIES.get(tree["severity"], "warning"))


def doubt_lines(loaded: Loaded, served: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Give a line for everything that is likely a slip; `served` are our own provisioners' formats by name."""
    for question in loaded.questions:
        for doubt in doubts(question, served):
            yield _sentence(loaded.places, question, doubt.path, doubt.description)
        with contextlib.suppress(SlipwayError):  # What is wrong with the machine is reported by itself.
            for remark in check(question.subject).diagnostics:
                tree = diagnostic_tree(remark)
                yield _sentence(loaded.places, question, tree["field"], tree["message"])


def error_lines(places: Places, question: MachineQuestion, error: SlipwayError) -> list[str]:
    """Give the lines of an error about a machine."""
    lines = []
    for violation in error.violations:
        advice = what_to_do(error, question.subject, violation, written=question.written)
        text = _with_advice(violation.description, advice)
        lines.append(_sentence(places, question, violation.path, text))
    whole = with_remedy(error.message, what_to_do(error, question.subject))
    return lines or [_sentence(places, question, question.name, whole)]


def _with_advice(reason: str, remedy: str) -> str:
    """Say what is wrong and what to do; a rule that is broken says by itself what to do."""
    return reason if remedy == CORRECT else with_remedy(reason, remedy)


def _sentence(places: Places, question: MachineQuestion, field: str, message: str) -> str:
    """Say something of a field, with its place in a file: that of the machine, where the field itself has none."""
    if field in {"", "Slipway"}:
        return message
    field = question.as_written(field)
    place = _place(places, question, field)
    if place is None:
        of = "" if field == question.name else f"{question.name}: "
        return f"{_at(question.standing.file, question.standing.position)}{of}{field}: {message}"
    return f"{_at(place.file, place.position)}{field}: {message}"


def _place(places: Places, question: MachineQuestion, field: str) -> SourceProblem | None:
    return places.find(field, config=question.standing.config, namespace=question.standing.namespace)


def _at(file: str, position: Position | None) -> str:
    """Give a place as lines begin with it; "" where there is no place."""
    return f"{file}:{position.line}:{position.column}: " if position else ""
