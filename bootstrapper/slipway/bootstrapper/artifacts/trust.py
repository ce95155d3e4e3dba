"""Which releases are taken: signed by the operator's keys, not expired, and not older than the operator allows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from slipway.bootstrapper.artifacts import dsse
from slipway.bootstrapper.artifacts.refusal import ArtifactReason, ArtifactRefused
from slipway.bootstrapper.artifacts.release import PAYLOAD_TYPE, Release
from slipway.bootstrapper.artifacts.version import Version


@dataclass(frozen=True, slots=True)
class Trust:
    """What the operator trusts.

    Attributes:
        keys: public keys; a signature by one of them is enough, so that keys can be rotated.
        minimum: oldest version that is taken; None for no limit.
        clock: gives the time, to recognise expired releases.
    """

    keys: tuple[Ed25519PublicKey, ...]
    minimum: Version | None
    clock: Callable[[], datetime]

    @classmethod
    def of(cls, files: Sequence[Path], minimum: str | None, clock: Callable[[], datetime]) -> "Trust":
        """Read the keys of PEM files.

        Raises:
            OSError: a file cannot be read.
            ValueError: a file holds no keys, or the minimum is not a version.
        """
        keys = [key for path in files for key in dsse.read_public_keys(path)]
        return cls(tuple(keys), Version.parse(minimum) if minimum else None, clock)

    def open(self, envelope: bytes) -> Release:
        """Give the release of a signed manifest.

        Raises:
            ArtifactRefused: MALFORMED, UNSIGNED, UNKNOWN_KEY, WRONG_SIGNATURE, EXPIRED or BELOW_MINIMUM.
        """
        release = Release.parse(dsse.open_envelope(envelope, PAYLOAD_TYPE, self.keys))
        self.check(release.name, release.version, release.expires)
        return release

    def check(self, name: str, version: str, expires: datetime) -> None:
        """Refuse what is too old.

        Raises:
            ArtifactRefused: EXPIRED or BELOW_MINIMUM.
        """
        if expires <= self.clock():
            raise ArtifactRefused(ArtifactReason.EXPIRED, f"{name} {version} expired at {expires.isoformat()}")
        if self.minimum is not None and Version.parse(version) < self.minimum:
            raise ArtifactRefused(
                ArtifactReason.BELOW_MINIMUM,
                f"{name} {version} is older than the minimum version {self.minimum}",
            )
