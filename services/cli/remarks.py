"""What is said beside a result, on standard error: each remark once, with the place in the file that it is about."""

from collections.abc import Sequence

from bootstrapper.documents.machines import MachineQuestion
from bootstrapper.documents.places import Places
from services.cli.loading import Loaded
from services.cli.output import note
from services.cli.rendering import Entry, diagnostic_tree
from services.contract.errors import SlipwayError
from services.contract.source_position import with_remedy

_SEVERITIES = {"info": "note", "warning": "warning", "error": "warning"}
_REMEDIES = {
    "AMBIGUOUS_PROVISIONER": "Or choose with --provisioner NAME|all",
    "SECRET_MISSING": "Add the Secret to the files, or fill it in with --set-missing for a first look",
}
_SAY_IT = "Say it in the cluster, or fill it in with --set-missing for a first look"
_MISSING = {"cluster.endpoint": _SAY_IT, "machine.kubernetesVersion": _SAY_IT}


def note_files(loaded: Loaded) -> None:
    """Tell what was noticed while the files were read."""
    for text in dict.fromkeys(loaded.notes):
        note(text, "note")


def note_questions(loaded: Loaded) -> None:
    """Tell what was noticed while the machines of the files were read."""
    lines: dict[tuple[str, str], None] = {}
    for question in loaded.questions:
        for one in question.diagnostics:
            tree = diagnostic_tree(one)
            line = _sentence(loaded.places, question, tree["field"], tree["message"])
            lines[_SEVERITIES.get(tree["severity"], "warning"), line] = None
    for kind, line in lines:
        note(line, kind)


def note_entries(loaded: Loaded, entries: Sequence[Entry]) -> None:
    """Tell why something was refused, and what provisioners and the bootstrapper remarked."""
    questions = {one.name: one for one in loaded.questions}
    told: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        for one in entry.refusals:
            reason = _told(one["reason"], one["remedy"], one["field"], one["feature"])
            field = one["field"] or ("" if entry.provisioner else entry.machine)
            line = _sentence(loaded.places, questions[entry.machine], field, reason)
            told.setdefault((entry.status, line), []).append(entry.provisioner)
    for entry in entries:
        for one in entry.diagnostics:
            line = _sentence(loaded.places, questions[entry.machine], one["field"], one["message"])
            told.setdefault((_SEVERITIES.get(one["severity"], "warning"), line), []).append(entry.provisioner)
    everybody = {entry.provisioner for entry in entries}
    several = len(entries) > len({entry.machine for entry in entries})
    for (kind, line), names in told.items():
        whose = f"{', '.join(dict.fromkeys(names))}: " if several and set(names) != everybody else ""
        note(f"{whose}{line}", kind)


def note_error(loaded: Loaded, question: MachineQuestion, error: SlipwayError, *, kind: str = "refused") -> None:
    """Tell why a machine was refused, a line for each field."""
    for line in error_lines(loaded.places, question, error):
        note(line, kind)


def error_lines(places: Places, question: MachineQuestion, error: SlipwayError) -> list[str]:
    """Give the lines of an error about a machine."""
    lines = []
    for one in error.violations:
        told = _told(one.description, one.remedy, one.path, one.feature or error.reason)
        lines.append(_sentence(places, question, one.path, told))
    return lines or [f"{question.name}: {_told(error.message, '', '', error.reason)}"]


def _told(reason: str, remedy: str, field: str, feature: str) -> str:
    """Say what is wrong and what to do: what was told, or what a person at this command line can do."""
    missing = _MISSING.get(field, "") if reason.startswith("is required") else ""
    return with_remedy(reason, remedy or missing or _REMEDIES.get(feature, ""))


def _sentence(places: Places, question: MachineQuestion, field: str, message: str) -> str:
    """Say something of a field, with its place in a file where that is known."""
    if field in {"", "Slipway"}:
        return message
    found = places.find(field, config=question.standing.config)
    if found is None:
        of = "" if field == question.name else f"{question.name}: "
        return f"{of}{field}: {message}"
    place = f"{found.file}:{found.position.line}:{found.position.column}: " if found.position else ""
    return f"{place}{field}: {message}"
