"""A Kubernetes version decides what a machine understands: it is parsed and compared in one place.

Sources: semver.org 2.0.0; the version skew policy of kubernetes.io.
"""

import re
from dataclasses import dataclass
from enum import Enum

_SEMVER = re.compile(
    r"v?(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})"
    r"(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?"
    r"(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?"
)
_LONGEST = 256

_THREE_MINORS_OF_KUBELET_SINCE = (1, 28)


class KubernetesVersionError(ValueError):
    """The text is not a Kubernetes version, or it is one that is not supported."""


class Skew(Enum):
    """How far a node may be from its control plane, by the version skew policy."""

    NONE = "none"
    SUPPORTED = "supported"
    NODE_NEWER = "node-newer"
    NODE_TOO_OLD = "node-too-old"


@dataclass(frozen=True)
class KubernetesVersion:
    """A parsed version; `release` ignores pre-release and build, as every decision of an engine does."""

    major: int
    minor: int
    patch: int
    pre_release: str = ""
    build: str = ""

    @property
    def release(self) -> tuple[int, int, int]:
        return (self.major, self.minor, self.patch)

    @property
    def series(self) -> tuple[int, int]:
        return (self.major, self.minor)

    def __str__(self) -> str:
        """Give the v-prefixed form that Cluster API uses."""
        pre = f"-{self.pre_release}" if self.pre_release else ""
        build = f"+{self.build}" if self.build else ""
        return f"v{self.major}.{self.minor}.{self.patch}{pre}{build}"


def parse_kubernetes_version(text: str) -> KubernetesVersion:
    """Parse a semantic version with or without the leading v.

    Raises:
        KubernetesVersionError: the text is no semantic version; the message does not repeat it.
    """
    match = _SEMVER.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise KubernetesVersionError("not a Kubernetes version: write it as v1.MINOR.PATCH, like v1.31.4")
    major, minor, patch, pre_release, build = match.groups()
    return KubernetesVersion(int(major), int(minor), int(patch), pre_release or "", build or "")


def node_skew(*, control_plane: KubernetesVersion, node: KubernetesVersion) -> Skew:
    """Compare a node with its control plane: never newer, at most two minors older (three since 1.28)."""
    if node.series > control_plane.series:
        return Skew.NODE_NEWER
    if node.series == control_plane.series:
        return Skew.NONE
    allowed = 3 if control_plane.series >= _THREE_MINORS_OF_KUBELET_SINCE else 2
    if node.major != control_plane.major or control_plane.minor - node.minor > allowed:
        return Skew.NODE_TOO_OLD
    return Skew.SUPPORTED
