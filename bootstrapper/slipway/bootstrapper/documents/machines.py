"""One machine, as a question that can be put to the bootstrapper, whatever kind of document it was described in."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from slipway.bootstrapper.documents.native import CLUSTER, NativeCluster, NativeConfig
from slipway.bootstrapper.field_index import enclosing
from slipway.contract.source_position import FieldPath, Position, SourceError, SourceProblem, did_you_mean
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import secret_pb2 as secretpb


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a machine is described.

    Attributes:
        config: kind and name of the document that holds its config.
        file: file in which the machine stands.
        position: its place there.
        path: its field path there.
        namespace: namespace of the machine and of what its config refers to, "" for the default one.
    """

    config: str = ""
    file: str = ""
    position: Position | None = None
    path: str = ""
    namespace: str = ""

    def problem(self, message: str) -> SourceProblem:
        """Make a problem of the machine as a whole."""
        return SourceProblem(self.file, self.position, self.path, message)


@dataclass(slots=True)
class MachineQuestion:
    """A machine with its spec, its cluster, and the user's secrets that are at hand.

    Attributes:
        subject: spec, cluster and machine.
        secrets: values of the secrets that the spec refers to.
        diagnostics: remarks made while the documents were read.
        standing: where the machine is described, if it was read from files.
        replicas: how many machines there are of it, if known.
        written: where facts and plain values stand, as "Kind/name: path", by the names that errors have for them.
    """

    subject: bootstrappb.Subject
    secrets: secretpb.SecretMaterial = field(default_factory=secretpb.SecretMaterial)
    diagnostics: list[diagnosticpb.Diagnostic] = field(default_factory=list)
    standing: Standing = field(default_factory=Standing)
    replicas: int | None = None
    written: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the machine."""
        return self.subject.machine.name

    def as_written(self, name: str) -> str:
        """Give the name that a field has in the user's documents; its own where that is not known, or is it already."""
        return as_written(name, self.written)


def as_written(name: str, written: Mapping[str, str]) -> str:
    """Give the name that a field has in the user's documents, by those of the fields around it; see MachineQuestion."""
    if ": " in name:
        return name
    outer = next((field for field in enclosing(name) if field in written), None)
    return name if outer is None else written[outer] + name[len(outer) :]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which machines count.

    Attributes:
        names: their names, empty where all count.
        notes: what is wrong with others.
    """

    names: Collection[str]
    notes: list[SourceProblem]

    def counts(self, name: str) -> bool:
        """Return whether a machine counts."""
        return not self.names or name in self.names


def native_questions(
    configs: Sequence[NativeConfig],
    clusters: Sequence[NativeCluster],
    *,
    elsewhere: Iterable[clusterpb.Cluster] = (),
    named: Iterable[NativeConfig] = (),
    only: Choice | None = None,
) -> Iterator[MachineQuestion]:
    """Give the machines of our own documents.

    A SlipwayCluster lists its machines by name of their config. A config that nobody names is one machine: the
    first of its cluster when it says anything about the control plane, else a worker.

    Args:
        configs: the configs.
        clusters: the clusters that are described by hand.
        elsewhere: clusters known from Cluster API's own documents.
        named: configs that Cluster API's own documents name: their machines are known already.
        only: the machines that count, all where it is not given.

    Raises:
        SourceError: the config of a machine is not there, or the cluster of a config cannot be told.
    """
    problems: list[SourceProblem] = []
    used = {id(one) for one in named}
    for cluster in clusters:
        by_name = _by_name(configs, cluster.namespace)
        for index, entry in enumerate(cluster.spec.machines):
            path: FieldPath = ("spec", "machines", index)
            config = by_name.get(entry.config)
            if config is None:
                meant = did_you_mean(entry.config, by_name)
                hint = f"; did you mean {meant}?" if meant else ""
                problem = f"no such SlipwayConfig in the files{hint}"
                into = problems if only is None or only.counts(entry.name) else only.notes
                into.append(cluster.document.source.problem((*path, "config"), problem))
                continue
            used.add(id(config))
            place = cluster.document.source.problem(path, "")
            standing = Standing(config.origin, place.file, place.position, place.path, config.namespace)
            written = _facts_written(cluster, index, entry)
            yield _question(config, cluster.spec.cluster, entry, standing, written)
    known = [(one.spec.cluster, {"cluster": f"{one.origin}: spec.cluster"}) for one in clusters]
    known += [(one, {}) for one in elsewhere]
    for config in configs:
        if id(config) in used:
            continue
        possible = [one for one in known if one[0].namespace == config.namespace] or known
        if len(possible) != 1:
            problem = f"its cluster is unknown: add it to the machines of a {CLUSTER}"
            problems.append(config.document.source.problem(("metadata", "name"), problem))
            continue
        yield _alone(config, *possible[0])
    if problems:
        raise SourceError(problems)


def _by_name(configs: Iterable[NativeConfig], namespace: str) -> Mapping[str, NativeConfig]:
    """Give the configs by name; those of the cluster's own namespace win over those of others."""
    ordered = sorted(configs, key=lambda one: one.namespace == namespace)
    return {one.name: one for one in ordered}


def _alone(config: NativeConfig, cluster: clusterpb.Cluster, written: Mapping[str, str]) -> MachineQuestion:
    entry = clusterpb.MachineEntry(name=config.name, role=_likely_role(config))
    place = config.document.source.problem(("metadata", "name"), "")
    standing = Standing(config.origin, place.file, place.position, place.path, config.namespace)
    question = _question(config, cluster, entry, standing, written)
    question.diagnostics.append(
        diagnosticpb.Diagnostic(
            severity=diagnosticpb.SEVERITY_INFO,
            code="ROLE_ASSUMED",
            message=f"no {CLUSTER} and no machines name this config: one machine is assumed",
            origin=diagnosticpb.Origin(document=config.origin, path="metadata.name"),
        )
    )
    return question


def _facts_written(cluster: NativeCluster, index: int, entry: clusterpb.MachineEntry) -> dict[str, str]:
    """Give where the facts of a machine stand in the document of its cluster."""
    here = f"{cluster.origin}: spec.machines[{index}]"
    found = {"cluster": f"{cluster.origin}: spec.cluster", "machine": here}
    if not entry.kubernetes_version:
        found["machine.kubernetesVersion"] = f"{cluster.origin}: spec.cluster.kubernetesVersion"
    return found | {f"target.{one.json_name}": f"{here}.target.{one.json_name}" for one, _ in entry.target.ListFields()}


def _question(
    config: NativeConfig,
    cluster: clusterpb.Cluster,
    entry: clusterpb.MachineEntry,
    standing: Standing,
    written: Mapping[str, str],
) -> MachineQuestion:
    machine = clusterpb.Machine(name=entry.name, role=entry.role)
    if entry.kubernetes_version:
        machine.kubernetes_version = entry.kubernetes_version
    if entry.HasField("target"):
        machine.target.CopyFrom(entry.target)
    subject = bootstrappb.Subject(spec=config.spec, cluster=cluster, machine=machine)
    return MachineQuestion(subject, standing=standing, written={**written, **config.written})


def _likely_role(config: NativeConfig) -> clusterpb.Role.ValueType:
    spec = config.spec
    controls = spec.HasField("init") or spec.kubernetes.HasField("control_plane") or spec.kubernetes.HasField("etcd")
    return clusterpb.ROLE_INIT if controls else clusterpb.ROLE_WORKER
