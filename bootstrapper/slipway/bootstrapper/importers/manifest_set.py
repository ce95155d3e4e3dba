"""What a set of manifests describes. The reprs show nothing of specs and secrets."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from slipway.contract.source_position import Position, SourceProblem
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb


@dataclass(frozen=True)
class ManifestMachine:
    """Machines that share a config and a role.

    Attributes:
        machine: name, role, Kubernetes version and target, as far as known.
        cluster: their cluster's facts.
        spec: their spec.
        secrets: the user's secrets that the spec refers to, as far as the set holds them.
        diagnostics: remarks of the import, each with its origin.
        origin: where their config stands.
        namespace: namespace of the object that describes them, "" for the default one.
        file: file of their config.
        position: place of their config in it.
        replicas: how many there are, if known.
        written: where facts and plain values stand, as "Kind/name: path", by the names that errors have for them.
    """

    machine: clusterpb.Machine
    cluster: clusterpb.Cluster
    spec: specpb.MachineBootstrapSpec = field(repr=False)
    secrets: secretpb.SecretMaterial = field(repr=False)
    diagnostics: tuple[diagnosticpb.Diagnostic, ...]
    origin: diagnosticpb.Origin
    namespace: str
    file: str
    position: Position
    replicas: int | None
    written: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class NativeMachine:
    """Machines of a set that name a config of our own, which is not read here.

    Attributes:
        machine: name, role, Kubernetes version and target, as far as known.
        cluster: their cluster's facts.
        kind: kind of the config.
        config: name of the config.
        namespace: namespace of the config, "" for the default one.
        owner: kind and name of the object that describes the machines.
        file: file of that object.
        position: its place in the file.
        replicas: how many there are, if known.
        written: where facts stand, as "Kind/name: path", by the names that errors have for them.
    """

    machine: clusterpb.Machine
    cluster: clusterpb.Cluster
    kind: str
    config: str
    namespace: str
    owner: str
    file: str
    position: Position
    replicas: int | None
    written: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ManifestSet:
    """What a set of manifests describes.

    Attributes:
        machines: the machines.
        native: the machines whose config is one of our own documents.
        clusters: the facts of every cluster of the set.
        secret_values: all values of the set's Secrets by namespace, then by name and key.
        config_map_values: all values of the set's ConfigMaps, likewise.
        notes: what was left aside or filled in.
        doubts: what is likely a slip.
    """

    machines: tuple[ManifestMachine, ...]
    native: tuple[NativeMachine, ...]
    clusters: tuple[clusterpb.Cluster, ...]
    secret_values: Mapping[str, Mapping[tuple[str, str], bytes]] = field(repr=False)
    config_map_values: Mapping[str, Mapping[tuple[str, str], bytes]] = field(repr=False)
    notes: tuple[SourceProblem, ...]
    doubts: tuple[SourceProblem, ...] = ()
