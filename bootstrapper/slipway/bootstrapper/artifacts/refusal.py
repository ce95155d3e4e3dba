"""Why a release is not taken."""

from enum import StrEnum


class ArtifactReason(StrEnum):
    """Reasons, as commands and errors print them."""

    MALFORMED = "malformed"
    UNSIGNED = "unsigned"
    UNKNOWN_KEY = "unknown-key"
    WRONG_SIGNATURE = "wrong-signature"
    EXPIRED = "expired"
    BELOW_MINIMUM = "below-minimum"
    UNKNOWN_VERSION = "unknown-version"
    NO_PLATFORM = "no-platform"
    AMBIGUOUS = "ambiguous"
    FILE_MISSING = "file-missing"
    FILE_DIFFERS = "file-differs"


class ArtifactRefused(Exception):  # noqa: N818  # a refusal, not a fault of the program
    """A release, or a file of it, is not taken."""

    def __init__(self, reason: ArtifactReason, message: str) -> None:
        """Refuse, by a reason of the table and a sentence."""
        super().__init__(message)
        self.reason = reason
