"""Which machineadm a machine gets: where it lies, and for a download its digest and mirrors."""

from dataclasses import dataclass, field

from slipway.bootstrapper.artifacts.catalogue import Catalogue
from slipway.bootstrapper.artifacts.refusal import ArtifactReason, ArtifactRefused
from slipway.bootstrapper.lowering.runners.step_data import STEP_DATA
from slipway.bootstrapper.target import DEFAULT_ARCHITECTURE
from slipway.contract.content import literal
from slipway.contract.errors import ArtifactRejected, UnsupportedTarget, Violation
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import spec_pb2 as specpb

NAME = "machineadm"
IMAGE_PATHS = ("/usr/local/bin/machineadm", "/opt/bin/machineadm", "/usr/bin/machineadm")
"""Where an image may have it (clause MA-L01)."""

DOWNLOADED = "/var/lib/slipway/machineadm"
"""Where a download is put: writable on every image, and only Slipway's."""


@dataclass(frozen=True, slots=True)
class ResolvedAgent:
    """The agent of a machine.

    Attributes:
        paths: where it may lie, in order of preference.
        urls: where it is downloaded, in order; empty for one of the image.
        sha256: digest of the download, from a signed manifest.
        authorities: certificate authorities of the mirrors, PEM; empty where the system's are enough.
        required: a machine without it fails.
        origin: where it was written.
    """

    paths: tuple[str, ...]
    urls: tuple[str, ...]
    sha256: str
    required: bool
    origin: diagnosticpb.Origin
    authorities: contentpb.Content = field(default_factory=contentpb.Content)


@dataclass(frozen=True, slots=True)
class Artifacts:
    """What the operator gives machines to download: releases that are trusted, mirrors in order, their authorities."""

    catalogue: Catalogue | None = None
    mirrors: tuple[str, ...] = ()
    authorities: str = ""

    def resolve(self, agent: specpb.Agent, target: clusterpb.Target) -> ResolvedAgent | None:
        """Give the agent that a spec asks for; None for none.

        Raises:
            ArtifactRejected: no trusted manifest has it, or there is no mirror.
            UnsupportedTarget: the machine runs Windows.
        """
        if agent.source not in (specpb.AGENT_SOURCE_IMAGE, specpb.AGENT_SOURCE_DOWNLOAD):
            return None
        if target.os_family == clusterpb.OS_FAMILY_WINDOWS:
            wrong = Violation("spec.agent", "is not supported on Windows", remedy="leave it out on this machine")
            raise UnsupportedTarget("an agent is not supported on Windows", violations=[wrong])
        required = agent.required or not agent.HasField("required")
        if agent.source == specpb.AGENT_SOURCE_IMAGE:
            return ResolvedAgent(IMAGE_PATHS, (), "", required, agent.origin)
        try:
            return self._download(agent, target, required=required)
        except ArtifactRefused as refusal:
            remedy = "choose another version, or have the operator add a signed release (slipway artifacts list)"
            raise ArtifactRejected(
                f"no machineadm can be handed out: {refusal.reason}: {refusal}",
                violations=[Violation("spec.agent.version", f"is refused: {refusal.reason}: {refusal}", remedy=remedy)],
                metadata={"artifact_reason": refusal.reason.value},
            ) from None

    def _download(self, agent: specpb.Agent, target: clusterpb.Target, *, required: bool) -> ResolvedAgent:
        if self.catalogue is None:
            raise ArtifactRefused(ArtifactReason.UNKNOWN_VERSION, "the operator has configured no releases")
        release = self.catalogue.find(NAME, agent.version)
        if release.step_data < STEP_DATA:
            raise ArtifactRefused(
                ArtifactReason.BELOW_MINIMUM, f"{NAME} {release.version} is too old for the steps of this Slipway"
            )
        binary = release.binary("linux", target.architecture or DEFAULT_ARCHITECTURE)
        mirrors = tuple(agent.urls) or self.mirrors
        if not mirrors:
            raise ArtifactRefused(ArtifactReason.FILE_MISSING, "neither the spec nor the operator names a mirror")
        urls = tuple(f"{base.rstrip('/')}/{binary.path}" for base in mirrors)
        return ResolvedAgent((DOWNLOADED,), urls, binary.sha256, required, agent.origin, self._authorities(agent))

    def _authorities(self, agent: specpb.Agent) -> contentpb.Content:
        """Give what vouches for the mirrors: the spec's own authorities, else the operator's."""
        if agent.HasField("ca"):
            return agent.ca
        return literal(self.authorities.encode()) if self.authorities else contentpb.Content()
