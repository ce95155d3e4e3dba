"""What an engine says about a document: one shape for the words of all engines."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable


class Severity(enum.StrEnum):
    """How bad the engine itself finds it."""

    ERROR = "error"
    WARNING = "warning"


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """One complaint. ``where`` is the engine's own notion of a place (path, line), or empty."""

    engine: str
    severity: Severity
    message: str
    where: str = ""

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{self.engine} {self.severity}: {place}{self.message}"


def error(engine: str, message: str, where: str = "") -> Finding:
    """A finding for which the engine refuses the document or a part of it."""
    return Finding(engine, Severity.ERROR, message, where)


def warning(engine: str, message: str, where: str = "") -> Finding:
    """A finding that the engine reports and lives with."""
    return Finding(engine, Severity.WARNING, message, where)


def errors(findings: Iterable[Finding]) -> list[Finding]:
    """Those that the engine refuses for."""
    return [finding for finding in findings if finding.severity is Severity.ERROR]
