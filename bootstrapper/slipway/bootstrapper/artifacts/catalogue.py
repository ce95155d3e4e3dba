"""The releases that a bootstrapper may hand out: a directory of signed manifests, read at each use.

A directory that is mounted from a ConfigMap, or synchronised from a mirror, is followed without a restart. Only
manifests are needed here, never the files.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from slipway.bootstrapper.artifacts.dsse import read_envelope
from slipway.bootstrapper.artifacts.refusal import ArtifactReason, ArtifactRefused
from slipway.bootstrapper.artifacts.release import Release
from slipway.bootstrapper.artifacts.trust import Trust


@dataclass(frozen=True, slots=True)
class Listed:
    """A manifest of the directory: its release, or why it is not taken."""

    file: Path
    release: Release | None = None
    refusal: ArtifactRefused | None = None


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Signed manifests of a directory, and who is trusted to have signed them."""

    directory: Path
    trust: Trust

    def list(self) -> Iterator[Listed]:
        """Give every manifest, in the order of the file names.

        Raises:
            OSError: the directory or a file cannot be read.
        """
        for path in sorted(path for path in self.directory.iterdir() if path.suffix == ".json"):
            try:
                yield Listed(path, release=self.trust.open(read_envelope(path)))
            except ArtifactRefused as refusal:
                yield Listed(path, refusal=refusal)

    def find(self, name: str, version: str) -> Release:
        """Give a release.

        Raises:
            ArtifactRefused: UNKNOWN_VERSION; the reason of the manifest that has the version in its file name; or
                AMBIGUOUS, where two manifests say different things of one version.
            OSError: the directory cannot be read.
        """
        listed = list(self.list())
        releases = [
            artifact.release
            for artifact in listed
            if artifact.release and (artifact.release.name, artifact.release.version) == (name, version)
        ]
        if len({release.binaries for release in releases}) > 1:
            raise ArtifactRefused(
                ArtifactReason.AMBIGUOUS,
                f"two manifests of {name} {version} name different files: remove the wrong one",
            )
        if releases:
            return max(releases, key=lambda release: release.expires)
        for artifact in listed:
            if artifact.refusal and artifact.file.name == f"{name}-{version}.json":
                raise artifact.refusal
        raise ArtifactRefused(ArtifactReason.UNKNOWN_VERSION, f"there is no trusted manifest of {name} {version}")
