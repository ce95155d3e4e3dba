"""From the files of a command to its machines. Documents are read elsewhere; here is what a person does about them."""

import os
import sys
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path

import click

from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.bootstrapper.documents.places import Places
from slipway.cli.options import Inputs
from slipway.contract.source_position import SourceError, SourceProblem, did_you_mean
from slipway.contract.yaml_limits import Limits

STDIN = Path("-")
_MOST_BYTES = 4 * Limits().max_characters
"""A character has at most four bytes in UTF-8."""


@dataclass(slots=True)
class Loaded:
    """Everything that the files hold.

    Attributes:
        questions: the machines.
        notes: remarks on the files as a whole, for people.
        places: where each field of each document stands.
        lone: the text of the only document, variables filled in; "" when there are several.
        doubts: warnings of what is likely a slip in several documents together.
        unused: a warning for each variable of the command line that no file uses, by its name.
    """

    questions: list[MachineQuestion] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    places: Places = field(default_factory=Places)
    lone: str = field(default="", repr=False)
    doubts: list[str] = field(default_factory=list)
    unused: Mapping[str, str] = field(default_factory=dict)


def load(inputs: Inputs) -> Loaded:
    """Read all files.

    Raises:
        SourceError: undefined variables, or anything that is wrong with a document, with file, line and column; or
            there is no machine in the files.
        click.UsageError: a file cannot be read, or no machine has the wanted name.
    """
    texts, unread = _texts(inputs.files)
    if unread and not (inputs.machines and texts):
        raise SourceError(unread)
    variables = {**os.environ, **inputs.variables}
    document_set = read_document_set(
        texts,
        variables=variables,
        set_missing=inputs.set_missing,
        substitute=inputs.substitute,
        infrastructure=inputs.target,
        only=inputs.machines,
    )
    if not document_set.questions:
        empty = not any(text.strip() for text in texts.values())
        message = "there is no machine here: nothing is in it" if empty else _no_machine(document_set.notes)
        raise SourceError([SourceProblem(", ".join(texts), None, "", message)])
    known = {question.name for question in document_set.questions}
    if unread and not known.issuperset(inputs.machines):
        raise SourceError(unread)
    questions = _chosen(document_set.questions, inputs.machines)
    left_aside = [f"{problem}; it is left alone: its machines are not selected" for problem in unread]
    notes, doubts = [*left_aside, *map(str, document_set.notes)], [*map(str, document_set.doubts)]
    return Loaded(
        questions, notes, document_set.places, document_set.lone, doubts, _unused(inputs, document_set.variables)
    )


def _unused(inputs: Inputs, used: AbstractSet[str]) -> dict[str, str]:
    """Give a warning for each variable that was set on the command line for nothing; its value is not shown."""
    if not inputs.substitute:
        text = "has no effect: with --no-substitution no variable is filled in"
        return {name: f"--set {name} {text}" for name in inputs.variables}
    warnings = {}
    for name in inputs.variables:
        if name not in used:
            meant = did_you_mean(name, used - inputs.variables.keys())
            hint = f"; did you mean {meant}?" if meant else ""
            warnings[name] = f"--set {name} has no effect: no file uses this variable{hint}"
    return warnings


def _texts(files: Sequence[Path]) -> tuple[dict[str, str], list[SourceProblem]]:
    """Read files, by the name that the person gave; give a problem for each that is not text in UTF-8, or too large.

    Raises:
        click.UsageError: one cannot be read.
    """
    texts: dict[str, str] = {}
    problems: list[SourceProblem] = []
    for path in dict.fromkeys(files):
        try:
            texts[_name(path)] = _text(path)
        except SourceError as error:
            problems += error.problems
    return texts, problems


def _no_machine(notes: Sequence[SourceProblem]) -> str:
    kinds = "KubeadmControlPlane, KubeadmConfig, SlipwayConfig, their templates, or machines that name one"
    return "\n".join([f"there is no machine here: no {kinds}", *(str(note) for note in notes)])


def _chosen(questions: Sequence[MachineQuestion], names: Sequence[str]) -> list[MachineQuestion]:
    known = [question.name for question in questions]
    for name in names:
        if name not in known:
            meant = did_you_mean(name, known)
            hint = f"did you mean {meant}?" if meant else f"there are {', '.join(known)}"
            raise click.UsageError(f"no machine {name}; {hint}")
    return [question for question in questions if not names or question.name in names]


def _text(path: Path) -> str:
    try:
        if path == STDIN:
            data = sys.stdin.buffer.read(_MOST_BYTES + 1)
        else:
            with path.open("rb") as stream:
                data = stream.read(_MOST_BYTES + 1)
    except IsADirectoryError:
        raise click.UsageError(f"{path} is a directory: name its files, as in -f {path}/*.yaml") from None
    except OSError as error:
        raise click.UsageError(f"{_name(path)}: {error.strerror or 'cannot be read'}") from None
    except AttributeError:
        raise click.UsageError("standard input is closed") from None
    if len(data) > _MOST_BYTES:
        message = f"larger than {_MOST_BYTES >> 20} MiB: split the file"
        raise SourceError([SourceProblem(_name(path), None, "", message)])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise SourceError([SourceProblem(_name(path), None, "", f"not text in UTF-8 (line {line})")]) from None


def _name(path: Path) -> str:
    return "<stdin>" if path == STDIN else str(path)
