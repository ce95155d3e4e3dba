"""A folder of releases: `manifests/NAME-VERSION.json` and `sha256/HEX`.

A release folder, the folder or bucket of a node gateway, and a mirror have this layout in common: a folder is copied as
it is.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from slipway.bootstrapper.artifacts.dsse import read_envelope
from slipway.bootstrapper.artifacts.refusal import ArtifactReason, ArtifactRefused
from slipway.bootstrapper.artifacts.release import Binary, Release
from slipway.bootstrapper.artifacts.trust import Trust

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class ReleaseFolder:
    """A folder with signed manifests and the files that they name."""

    root: Path

    def manifests(self) -> Iterator[Path]:
        """Give the manifests in the order of their names."""
        yield from sorted(self.root.glob("manifests/*.json"))

    def verify(self, manifest: Path, trust: Trust) -> Release:
        """Give the release of a manifest, all of whose files are there as it says.

        Raises:
            ArtifactRefused: any reason of a release, FILE_MISSING or FILE_DIFFERS.
        """
        return self.read(manifest, trust)[1]

    def add(self, source: "ReleaseFolder", trust: Trust) -> list[Release]:
        """Take over the releases of another folder, all of them or none; files first, a manifest when they are there.

        What is written is what was verified, even where the other folder changes meanwhile.

        Raises:
            ArtifactRefused: as verify().
        """
        verified = [source.read(manifest, trust) for manifest in source.manifests()]
        for envelope, release in verified:
            for binary in release.binaries:
                self._place(source.content(binary), self.root / binary.path)
            self._place([envelope], self.root / release.manifest_path)
        return [release for _, release in verified]

    def read(self, manifest: Path, trust: Trust) -> tuple[bytes, Release]:
        """Return the bytes of a manifest beside its release, which is verified.

        Raises:
            ArtifactRefused: as verify().
        """
        envelope = read_envelope(manifest)
        release = trust.open(envelope)
        for binary in release.binaries:
            for _ in self.content(binary):
                pass
        return envelope, release

    def content(self, binary: Binary) -> Iterator[bytes]:
        """Yield the content of a file; only at the end is it known to be what was signed.

        Raises:
            ArtifactRefused: FILE_MISSING or FILE_DIFFERS.
        """
        path = self.root / binary.path
        platform = f"{binary.os}/{binary.architecture}"
        if not path.is_file():
            raise ArtifactRefused(ArtifactReason.FILE_MISSING, f"{binary.path} ({platform}) is missing")
        digest, remaining = hashlib.sha256(), binary.size
        with path.open("rb") as file:
            while remaining >= 0 and (chunk := file.read(_CHUNK)):
                remaining -= len(chunk)
                digest.update(chunk)
                yield chunk
        if remaining or digest.hexdigest() != binary.sha256:
            raise ArtifactRefused(ArtifactReason.FILE_DIFFERS, f"{binary.path} ({platform}) is not what was signed")

    @staticmethod
    def _place(content: Iterable[bytes], target: Path) -> None:
        """Write a file so that a reader sees the old one, the new one, or none; none where the content is refused."""
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, beside = tempfile.mkstemp(prefix=".", dir=target.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.writelines(content)
            Path(beside).chmod(0o644)
            Path(beside).replace(target)
        except (OSError, ArtifactRefused):
            Path(beside).unlink(missing_ok=True)
            raise
