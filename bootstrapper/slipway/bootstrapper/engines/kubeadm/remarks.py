"""What kubeadm's older API cannot carry is a refusal for a native spec. An imported one gets a warning.

The kubeadm provider, which it was written for, leaves such a field out without a word.
"""

from slipway.bootstrapper.engines.remarks import Remarks

FIELD_DROPPED = "KUBEADM_FIELD_DROPPED"
IGNORED_PREFLIGHT_ERROR = "IGNORED_PREFLIGHT_ERROR"
CANNOT_WORK = "CANNOT_WORK"


class KubeadmRemarks(Remarks):
    """Refusals and diagnostics, in the order in which they were made."""

    def __init__(self, *, imported: bool) -> None:
        """Begin with none; `imported` says whether the spec was written for the kubeadm provider."""
        super().__init__()
        self._imported = imported

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
