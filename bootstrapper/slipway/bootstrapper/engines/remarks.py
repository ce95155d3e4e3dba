"""Collects what an engine has to say, so that a user hears everything at once."""

from slipway.bootstrapper.problems.problem import Problem, Severity

NOT_USED_BY_ROLE = "NOT_USED_BY_ROLE"
VERSION_SKEW = "VERSION_SKEW"
VERSION_UNKNOWN = "VERSION_UNKNOWN"
PARTLY_HONOURED = "PARTLY_HONOURED"


class Remarks:
    """Refusals and diagnostics, in the order in which they were made."""

    def __init__(self) -> None:
        """Begin with none."""
        self.refusals: list[Problem] = []
        self.diagnostics: list[Problem] = []

    def refuse(self, feature: str, path: str, reason: str, *, remedy: str) -> None:
        """Say that something is not supported, and what to do."""
        self.refusals.append(Problem(feature, path, reason, remedy))

    def warn(self, code: str, path: str, message: str) -> None:
        """Say that something is understood differently from how it may be expected."""
        self._add(Severity.WARNING, code, path, message)

    def inform(self, code: str, path: str, message: str) -> None:
        """Say something worth knowing."""
        self._add(Severity.INFO, code, path, message)

    def _add(self, severity: Severity, code: str, path: str, message: str) -> None:
        self.diagnostics.append(Problem("", path, message, severity=severity, code=code))
