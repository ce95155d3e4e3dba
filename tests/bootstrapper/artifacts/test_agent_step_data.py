"""A machineadm gets only step data that it reads: an older one is refused, one of the same version or a newer is taken.

`test_handover.py` shows the same rule on the machine, for a program of the image.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest

from slipway.bootstrapper.artifacts import dsse
from slipway.bootstrapper.artifacts.agent import Artifacts, ResolvedAgent
from slipway.bootstrapper.artifacts.catalogue import Catalogue
from slipway.bootstrapper.artifacts.release import PAYLOAD_TYPE, Release
from slipway.bootstrapper.lowering.runners.step_data import STEP_DATA
from slipway.contract.errors import ArtifactRejected
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.bootstrapper.artifacts.releases import DIGEST, key, release_folder, trust

KEY = key()
MIRRORS = ("https://a.example",)


@dataclass(frozen=True, slots=True)
class One(Catalogue):
    """A catalogue with one release, whatever its manifest would say: a step data of 0 is in no signed one."""

    release: Release

    def find(self, name: str, version: str) -> Release:
        """Give the release where it is the one that is asked for."""
        assert (name, version) == (self.release.name, self.release.version)
        return self.release


def release_of(step_data: int, tmp_path: Path) -> tuple[Release, Path]:
    """Give release 1.2.0 of a program that reads this version of the step data; its manifest says so, too."""
    signed, manifest = release_folder(tmp_path / "release", KEY)
    changed = signed.model_copy(update={"step_data": step_data})
    manifest.write_bytes(dsse.sign(changed.serialise(), PAYLOAD_TYPE, [KEY]))
    return changed, manifest


def resolve(catalogue: Catalogue) -> ResolvedAgent | None:
    """Ask for release 1.2.0."""
    agent = specpb.Agent(source=specpb.AGENT_SOURCE_DOWNLOAD, version="1.2.0")
    return Artifacts(catalogue, MIRRORS).resolve(agent, clusterpb.Target(os_family=clusterpb.OS_FAMILY_LINUX))


def test_a_program_that_is_too_old_for_the_steps_is_refused(tmp_path: Path) -> None:
    """No machine gets it: the refusal names the program and its version, at the field of the version."""
    release, manifest = release_of(STEP_DATA - 1, tmp_path)
    with pytest.raises(ArtifactRejected, match=r"machineadm 1\.2\.0 is too old for the steps") as caught:
        resolve(One(manifest.parent, trust(KEY), release))
    assert caught.value.metadata["artifact_reason"] == "below-minimum"
    (violation,) = caught.value.violations
    assert violation.path == "spec.agent.version"
    assert "choose another version" in violation.remedy


@pytest.mark.parametrize("newer", [0, 1, 7])
def test_a_program_of_the_same_version_or_a_newer_is_taken(tmp_path: Path, newer: int) -> None:
    """It reads what this Slipway writes: a release is upgraded before the bootstrapper, or after it."""
    _, manifest = release_of(STEP_DATA + newer, tmp_path)
    resolved = resolve(Catalogue(manifest.parent, trust(KEY)))
    assert resolved is not None
    assert resolved.urls == (f"{MIRRORS[0]}/sha256/{DIGEST}",)
    assert resolved.sha256 == DIGEST
