"""From files, as they stand in a template's repository, to machines that can be rendered.

Variables are filled in, documents read, machines found, and the config of each carried over. Whatever is wrong in
any of the files is told in one error; whatever is left aside is told in a note.
"""

from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping

from slipway.bootstrapper.importers.cluster_api.clusters import Clusters
from slipway.bootstrapper.importers.cluster_api.infrastructure import (
    annotated_distribution,
    infrastructure_of,
    set_distribution,
    target,
)
from slipway.bootstrapper.importers.cluster_api.machine_set import CONFIG_PATHS, NATIVE_CONFIGS, MachineSet
from slipway.bootstrapper.importers.cluster_api.machine_sets import MachineSets
from slipway.bootstrapper.importers.cluster_api.objects import ManifestObjects, manifest_objects
from slipway.bootstrapper.importers.cluster_api.references import dangling
from slipway.bootstrapper.importers.cluster_api.user_secrets import config_map_values, secret_material, secret_values
from slipway.bootstrapper.importers.cluster_api.written import facts_written
from slipway.bootstrapper.importers.foreign_config import ForeignConfig, ImportResult, Surroundings
from slipway.bootstrapper.importers.kubeadm_import import import_config
from slipway.bootstrapper.importers.manifest_set import ManifestMachine, ManifestSet, NativeMachine
from slipway.bootstrapper.importers.mapping.endpoint import cluster_of, spec_of
from slipway.bootstrapper.importers.substitution import Expansion, expand_all
from slipway.contract.source_position import Position, SourceError, SourceProblem
from slipway.contract.yaml_document import Document
from slipway.contract.yaml_limits import limits_together
from slipway.contract.yaml_source import load_documents
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb

_READ = frozenset(
    {
        *("Cluster", "ClusterClass", "Secret", "ConfigMap"),
        *("MachineDeployment", "MachineSet", "MachinePool", "Machine"),
        *CONFIG_PATHS,
    }
)


def read_manifests(
    files: Mapping[str, str],
    *,
    variables: Mapping[str, str] | None = None,
    set_missing: bool = False,
    substitute: bool = True,
    infrastructure: str = "",
) -> ManifestSet:
    """Read a set of manifests.

    Args:
        files: the texts by file name.
        variables: values of the variables.
        set_missing: fill in plausible placeholders for variables, endpoint, versions and secrets that are missing.
        substitute: fill in variables at all; off for what has already gone through clusterctl.
        infrastructure: where machines run of which the manifests do not tell it.

    Raises:
        SourceError: something in any of the files is wrong; everything that was found is in it.
    """
    documents, expansions = read_documents(files, variables or {}, set_missing=set_missing, substitute=substitute)
    notes = [note for expansion in expansions.values() for note in expansion.notes]
    return manifests_of(documents, notes, set_missing=set_missing, infrastructure=infrastructure)


def manifests_of(
    documents: list[Document],
    notes: Iterable[SourceProblem] = (),
    *,
    set_missing: bool = False,
    infrastructure: str = "",
    only: Collection[str] = (),
) -> ManifestSet:
    """Give what documents hold that have been read, with the notes on their texts in front of its own.

    Args:
        documents: the documents.
        notes: on their texts.
        set_missing: see read_manifests.
        infrastructure: see read_manifests.
        only: names of the machines that count, all where it is empty: another one with a wrong config is left aside.

    Raises:
        SourceError: see read_manifests.
    """
    objects = manifest_objects(documents, only=only)
    return _Reader(objects, set_missing=set_missing, infrastructure=infrastructure).read([*notes])


def read_documents(
    files: Mapping[str, str], variables: Mapping[str, str], *, set_missing: bool, substitute: bool
) -> tuple[list[Document], Mapping[str, Expansion]]:
    """Read all documents of texts by file name, and give the texts with their variables filled in; see read_manifests.

    Raises:
        SourceError: undefined variables, or texts that are no YAML.
    """
    documents: list[Document] = []
    problems: list[SourceProblem] = []
    limits = limits_together()
    expansions = expand_all(files, variables=variables, set_missing=set_missing) if substitute else {}
    for file, text in files.items():
        expansion = expansions.get(file)
        try:
            if expansion is None:
                documents.extend(load_documents(text, file=file, limits=limits))
            else:
                documents.extend(load_documents(expansion.text, file=file, original=expansion.original, limits=limits))
        except SourceError as error:
            problems.extend(error.problems)
    if problems:
        raise SourceError(problems)
    return documents, expansions


class _Reader:
    def __init__(self, objects: ManifestObjects, *, set_missing: bool, infrastructure: str) -> None:
        self.objects = objects
        self.set_missing = set_missing
        self.infrastructure = infrastructure
        self.imported: dict[tuple[int, int, str, int], ImportResult] = {}
        self.secrets = secret_values(objects, set_missing=set_missing)
        self.config_maps = config_map_values(objects, set_missing=set_missing)

    def read(self, notes: list[SourceProblem]) -> ManifestSet:
        clusters = Clusters(self.objects, set_missing=self.set_missing)
        found = list(_with_own_names(MachineSets(self.objects, clusters).all()))
        native = [self._native(each) for each in found if each.config.kind in NATIVE_CONFIGS]
        others = (each for each in found if each.config.kind not in NATIVE_CONFIGS)
        machines = [machine for each in others if (machine := self._machine(each)) is not None]
        if self.objects.problems:
            raise SourceError(dict.fromkeys(self.objects.problems))
        self._note_the_rest()
        return ManifestSet(
            machines=tuple(machines),
            native=tuple(native),
            clusters=tuple(cluster.facts for cluster in clusters.all()),
            secret_values=self.secrets,
            config_map_values=self.config_maps,
            notes=tuple(dict.fromkeys([*notes, *self.objects.notes])),
            doubts=tuple(dangling(self.objects)),
        )

    def _target(self, each: MachineSet) -> clusterpb.Target:
        where = target(self.objects, each.infrastructure, near=each.config, made_from=each.made_from)
        if not where.infrastructure and (each.cluster.infrastructure or self.infrastructure):
            where.infrastructure = each.cluster.infrastructure or self.infrastructure
        annotated = annotated_distribution(each.config)
        if annotated is not None:
            path, text = annotated
            try:
                set_distribution(where, text)
            except ValueError as error:
                self.objects.blame(each.config, [each.config.problem(path, str(error))], each.name)
        return where

    def _native(self, each: MachineSet) -> NativeMachine:
        machine = clusterpb.Machine(name=each.name, role=each.role, target=self._target(each))
        if each.version:
            machine.kubernetes_version = each.version
        return NativeMachine(
            machine=machine,
            cluster=each.cluster.facts,
            kind=each.config.kind,
            config=each.config.name,
            namespace=each.config.namespace,
            owner=each.owner.document,
            file=each.owner.source.file,
            position=each.owner.source.position(("metadata", "name")),
            replicas=each.replicas,
            written=facts_written(each),
        )

    def _machine(self, each: MachineSet) -> ManifestMachine | None:
        where = self._target(each)
        try:
            result = self._imported(each, where)
        except SourceError as error:
            self.objects.blame(each.config, error.problems, each.name)
            return None
        machine = clusterpb.Machine(name=each.name, role=each.role, target=where)
        if result.spec.target.os_family:
            machine.target.os_family = result.spec.target.os_family
        if each.version:
            machine.kubernetes_version = each.version
        path = CONFIG_PATHS[each.config.kind]
        place = each.config.problem(path, "")
        spec = spec_of(each.cluster.facts, result, role=each.role)
        made = {(secret.name, secret.key): secret.value for secret in result.secrets}
        values = ChainMap(made, self.secrets.get(each.owner.namespace, {}))
        return ManifestMachine(
            machine=machine,
            cluster=cluster_of(each.cluster.facts, result, role=each.role),
            spec=spec,
            secrets=secret_material(each.config, spec, values, self.objects, set_missing=self.set_missing),
            diagnostics=result.diagnostics,
            origin=diagnosticpb.Origin(document=each.config.document, path=place.path),
            namespace=each.owner.namespace,
            file=place.file,
            position=place.position or Position(1, 1),
            replicas=each.replicas,
            written={**facts_written(each), **result.written},
        )

    def _imported(self, each: MachineSet, where: clusterpb.Target) -> ImportResult:
        """Carry over a config; those that differ by role only are carried over once."""
        worker = each.role == clusterpb.ROLE_WORKER
        key = (id(each.config), int(worker), where.SerializeToString(deterministic=True).hex(), id(each.cluster))
        if key not in self.imported:
            path = CONFIG_PATHS[each.config.kind]
            config = ForeignConfig(
                kind=each.config.kind,
                name=each.config.name,
                api_version=each.config.header.api_version,
                tree=each.config.part(*map(str, path)),
                source=each.config.source,
                path=path,
            )
            surroundings = Surroundings(
                role=each.role,
                target=where,
                cluster=each.cluster.facts,
                control_plane_version=each.cluster.facts.kubernetes_version or (each.version if not worker else ""),
                secrets=self.secrets.get(each.owner.namespace, {}),
                set_missing=self.set_missing,
                whole=True,
            )
            self.imported[key] = import_config(config, surroundings)
        return self.imported[key]

    def _note_the_rest(self) -> None:
        for each in self.objects.all:
            ours = each.header.api_version.startswith("bootstrap.slipway.dev/")
            if each.kind not in _READ and not infrastructure_of(each.kind) and not ours:
                self.objects.note(each, "says nothing about the bootstrap of machines, and is left alone")


def _with_own_names(found: list[MachineSet]) -> Iterator[MachineSet]:
    """Give every machine set a name that no other has."""
    seen: set[str] = set()
    for each in found:
        name, number = each.name, 1
        while name in seen:
            number += 1
            name = f"{each.name}-{number}"
        seen.add(name)
        if name == each.name:
            yield each
        else:
            yield MachineSet(**{**vars(each), "name": name})
