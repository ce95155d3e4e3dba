"""A folder of releases: `manifests/NAME-VERSION.json` and `sha256/HEX`.

A release folder, the folder or bucket of a node gateway, and a mirror have this layout in common: a folder is copied as
it is.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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
        release = trust.open(manifest.read_bytes())
        for binary in release.binaries:
            self._check(binary)
        return release

    def add(self, source: "ReleaseFolder", trust: Trust) -> list[Release]:
        """Take over the releases of another folder, all of them or none; files first, a manifest when they are there.

        Raises:
            ArtifactRefused: as verify().
        """
        verified = [(manifest, source.verify(manifest, trust)) for manifest in source.manifests()]
        for manifest, release in verified:
            for binary in release.binaries:
                self._place(source.root / binary.path, self.root / binary.path)
            self._place(manifest, self.root / release.manifest_path)
        return [release for _, release in verified]

    def _check(self, binary: Binary) -> None:
        path = self.root / binary.path
        platform = f"{binary.os}/{binary.architecture}"
        if not path.is_file():
            raise ArtifactRefused(ArtifactReason.FILE_MISSING, f"{binary.path} ({platform}) is missing")
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
        if (path.stat().st_size, digest.hexdigest()) != (binary.size, binary.sha256):
            raise ArtifactRefused(ArtifactReason.FILE_DIFFERS, f"{binary.path} ({platform}) is not what was signed")

    @staticmethod
    def _place(source: Path, target: Path) -> None:
        """Copy a file so that a reader sees the old one, the new one, or none."""
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, beside = tempfile.mkstemp(prefix=".", dir=target.parent)
        os.close(descriptor)
        try:
            shutil.copyfile(source, beside)
            Path(beside).chmod(0o644)
            Path(beside).replace(target)
        except OSError:
            Path(beside).unlink(missing_ok=True)
            raise
