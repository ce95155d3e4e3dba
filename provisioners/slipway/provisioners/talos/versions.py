"""What differs between the Talos versions whose configuration is made here.

The shape of the machine configuration depends on the version that reads it ("version contract"): an older
Talos refuses documents that it does not know. Source of every row: constants.go, the compatibility package and
the document types of siderolabs/talos at the last release of each minor version.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TalosVersion:
    """One minor version of Talos.

    Attributes:
        minor: the version is "v1.<minor>".
        oldest_kubernetes: oldest minor version of Kubernetes 1.x that it runs.
        newest_kubernetes: newest one.
        coredns_tag: tag of CoreDNS' image when nobody names one.
        etcd_repository: repository of etcd's image when nobody names one, without the image's own name.
        etcd_tag: tag of etcd's image when nobody names one.
    """

    minor: int
    oldest_kubernetes: int
    newest_kubernetes: int
    coredns_tag: str
    etcd_repository: str
    etcd_tag: str

    @property
    def format(self) -> str:
        """Id of the format."""
        return f"talos/v1.{self.minor}"

    @property
    def network_documents(self) -> bool:
        """Host name, time and registries are documents of their own."""
        return self.minor >= 12  # noqa: PLR2004  # a minor version of Talos

    @property
    def environment_document(self) -> bool:
        """The environment is a document of its own."""
        return self.minor >= 13  # noqa: PLR2004  # a minor version of Talos


VERSIONS = (
    TalosVersion(13, 31, 36, "v1.14.6", "registry.k8s.io", "v3.6.12"),
    TalosVersion(12, 30, 35, "v1.14.2", "registry.k8s.io", "v3.6.11"),
    TalosVersion(11, 29, 34, "v1.12.4", "gcr.io/etcd-development", "v3.6.5"),
    TalosVersion(10, 28, 33, "v1.12.1", "gcr.io/etcd-development", "v3.5.26"),
    TalosVersion(9, 27, 32, "v1.12.0", "gcr.io/etcd-development", "v3.5.21"),
)
"""The versions, newest first."""

BY_FORMAT = {version.format: version for version in VERSIONS}
"""The versions by format id."""
