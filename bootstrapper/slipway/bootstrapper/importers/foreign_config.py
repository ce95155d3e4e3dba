"""What goes into an import and what comes out of it. Their reprs show nothing of the content, which may be secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from slipway.contract.source_position import FieldPath
from slipway.contract.yaml_document import Source, Tree
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb


@dataclass(frozen=True)
class ForeignConfig:
    """A KubeadmConfigSpec in a document.

    Attributes:
        kind: kind of the document.
        name: name of the document.
        api_version: API version of the document.
        tree: the KubeadmConfigSpec; None counts as empty.
        source: where the document stands.
        path: path of the KubeadmConfigSpec in it.
    """

    kind: str
    name: str
    api_version: str
    tree: Tree = field(repr=False)
    source: Source = field(repr=False)
    path: FieldPath

    @property
    def document(self) -> str:
        """Kind and name, as in origins."""
        return f"{self.kind}/{self.name}" if self.name else self.kind


@dataclass(frozen=True)
class ImportResult:
    """What became of a config.

    Attributes:
        spec: the spec.
        diagnostics: remarks, each with its origin.
        cluster: facts of the cluster that the config says: its endpoint.
        secrets: secrets that were made of the user's, and that the spec refers to.
        written: where the spec's plain values stand, which have no origin of their own: "Kind/name: path" by the names
            that errors have for them.
    """

    spec: specpb.MachineBootstrapSpec = field(repr=False)
    diagnostics: tuple[diagnosticpb.Diagnostic, ...]
    cluster: clusterpb.Cluster
    secrets: tuple[secretpb.Secret, ...] = field(repr=False)
    written: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Surroundings:
    """What is known besides the config itself; everything may be left out.

    Attributes:
        role: what the machine is to be; without it the config decides.
        target: what the machine is.
        cluster: its cluster.
        control_plane_version: Kubernetes version of the control plane, for templates that use it.
        secrets: values of the user's Secrets by (name, key).
        set_missing: a Secret that is not known will get a placeholder.
        whole: the target is all that will be known of the machine.
        facts: Jinja that means a machine fact becomes one; else all of it stays Jinja.
    """

    role: clusterpb.Role.ValueType = clusterpb.ROLE_UNSPECIFIED
    target: clusterpb.Target = field(default_factory=clusterpb.Target)
    cluster: clusterpb.Cluster = field(default_factory=clusterpb.Cluster)
    control_plane_version: str = ""
    secrets: Mapping[tuple[str, str], bytes] = field(default_factory=dict, repr=False)
    set_missing: bool = False
    whole: bool = False
    facts: bool = True
