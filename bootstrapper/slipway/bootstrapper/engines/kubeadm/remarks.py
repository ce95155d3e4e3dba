"""Collects what the engine has to say, so that a user hears everything at once.

What the older kubeadm API cannot carry is a refusal for a native spec. An imported one gets a warning: the
kubeadm provider, which it was written for, leaves such a field out without a word.
"""

from slipway.bootstrapper.engines.result import EngineRefusal
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb

FIELD_DROPPED = "KUBEADM_FIELD_DROPPED"
NOT_USED_BY_ROLE = "NOT_USED_BY_ROLE"
IGNORED_PREFLIGHT_ERROR = "IGNORED_PREFLIGHT_ERROR"
CANNOT_WORK = "CANNOT_WORK"
VERSION_SKEW = "VERSION_SKEW"
VERSION_UNKNOWN = "VERSION_UNKNOWN"
PARTLY_HONOURED = "PARTLY_HONOURED"


class Remarks:
    """Refusals and diagnostics, in the order in which they were made."""

    def __init__(self, *, imported: bool) -> None:
        """Begin with none; `imported` says whether the spec was written for the kubeadm provider."""
        self._imported = imported
        self.refusals: list[EngineRefusal] = []
        self.diagnostics: list[diagnosticpb.Diagnostic] = []

    def refuse(self, feature: str, path: str, reason: str, *, remedy: str) -> None:
        """Say that something cannot be honoured, and what to do."""
        self.refusals.append(EngineRefusal(feature, path, reason, remedy))

    def drop(self, feature: str, path: str, reason: str, *, remedy: str) -> None:
        """Say that something is left out: a refusal for a native spec, a warning for an imported one."""
        if self._imported:
            self.warn(FIELD_DROPPED, path, f"left out: {reason}; {remedy}")
        else:
            self.refuse(feature, path, reason, remedy=remedy)

    def reject(self, feature: str, path: str, reason: str, *, remedy: str) -> None:
        """Report what fails on the machine: a refusal for a native spec; an imported one keeps it, with a warning."""
        if self._imported:
            self.warn(CANNOT_WORK, path, f"{reason}; {remedy}")
        else:
            self.refuse(feature, path, reason, remedy=remedy)

    def warn(self, code: str, path: str, message: str) -> None:
        """Say that something is understood differently from how it may be expected."""
        self._add(diagnosticpb.SEVERITY_WARNING, code, path, message)

    def inform(self, code: str, path: str, message: str) -> None:
        """Say something worth knowing."""
        self._add(diagnosticpb.SEVERITY_INFO, code, path, message)

    def _add(self, severity: diagnosticpb.Severity.ValueType, code: str, path: str, message: str) -> None:
        self.diagnostics.append(diagnosticpb.Diagnostic(severity=severity, code=code, field_path=path, message=message))
