"""Collects what an engine has to say, so that a user hears everything at once."""

from slipway.bootstrapper.engines.result import EngineRefusal
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb

NOT_USED_BY_ROLE = "NOT_USED_BY_ROLE"
VERSION_SKEW = "VERSION_SKEW"
VERSION_UNKNOWN = "VERSION_UNKNOWN"
PARTLY_HONOURED = "PARTLY_HONOURED"


class Remarks:
    """Refusals and diagnostics, in the order in which they were made."""

    def __init__(self) -> None:
        """Begin with none."""
        self.refusals: list[EngineRefusal] = []
        self.diagnostics: list[diagnosticpb.Diagnostic] = []

    def refuse(self, feature: str, path: str, reason: str, *, remedy: str) -> None:
        """Say that something cannot be honoured, and what to do."""
        self.refusals.append(EngineRefusal(feature, path, reason, remedy))

    def warn(self, code: str, path: str, message: str) -> None:
        """Say that something is understood differently from how it may be expected."""
        self._add(diagnosticpb.SEVERITY_WARNING, code, path, message)

    def inform(self, code: str, path: str, message: str) -> None:
        """Say something worth knowing."""
        self._add(diagnosticpb.SEVERITY_INFO, code, path, message)

    def _add(self, severity: diagnosticpb.Severity.ValueType, code: str, path: str, message: str) -> None:
        self.diagnostics.append(diagnosticpb.Diagnostic(severity=severity, code=code, field_path=path, message=message))
