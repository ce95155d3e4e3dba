"""From texts, as files hold them, to machines: variables filled in, each kind of document read by its own reader."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from slipway.bootstrapper.assembly.config_maps import contents_by_config_map, fill
from slipway.bootstrapper.assembly.membership import complete_membership
from slipway.bootstrapper.documents.consistency import namesakes
from slipway.bootstrapper.documents.engines import set_control_planes
from slipway.bootstrapper.documents.machines import MachineQuestion, Standing
from slipway.bootstrapper.documents.native import NativeCluster, NativeConfig, is_native
from slipway.bootstrapper.documents.native_set import read_natives
from slipway.bootstrapper.documents.own_metadata import metadata_doubts
from slipway.bootstrapper.documents.places import Places
from slipway.bootstrapper.documents.selected import Selected
from slipway.bootstrapper.engines.endpoint import DEFAULT_PORT
from slipway.bootstrapper.importers.manifest_set import ManifestMachine, ManifestSet, NativeMachine
from slipway.bootstrapper.importers.manifests import manifests_of, read_documents
from slipway.bootstrapper.importers.placeholders import ADDRESS, KUBERNETES_VERSION
from slipway.bootstrapper.importers.substitution import Expansion
from slipway.bootstrapper.placeholders import PLACEHOLDER
from slipway.contract.secret_references import references
from slipway.contract.source_position import SourceError, SourceProblem
from slipway.contract.yaml_document import Document
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import secret_pb2 as secretpb

_NOTHING = ManifestSet((), (), (), {}, {}, ())


@dataclass(slots=True)
class DocumentSet:
    """Everything that a set of texts describes.

    Attributes:
        questions: the machines.
        notes: what was left aside or filled in.
        doubts: what is likely a slip: in several documents together, or in names of labels and annotations.
        places: where each field of each document stands.
        lone: the text of the only document, variables filled in; "" when there are several.
        variables: names of all variables of the texts, also of those in defaults that are not used.
    """

    questions: list[MachineQuestion]
    notes: list[SourceProblem] = field(default_factory=list)
    doubts: list[SourceProblem] = field(default_factory=list)
    places: Places = field(default_factory=Places)
    lone: str = field(default="", repr=False)
    variables: frozenset[str] = frozenset()


def read_document_set(  # noqa: PLR0913  # what a command line says, all by name
    texts: Mapping[str, str],
    *,
    variables: Mapping[str, str],
    set_missing: bool = False,
    substitute: bool = True,
    infrastructure: str = "",
    only: Collection[str] = (),
) -> DocumentSet:
    """Read texts that belong together, by file name.

    Args:
        texts: the texts.
        variables: values of their variables.
        set_missing: fill in plausible placeholders for variables, endpoint, versions and secrets that are missing.
        substitute: fill in variables at all; off for what has already gone through clusterctl.
        infrastructure: where machines run of which the documents do not tell it.
        only: names of the machines that count, all where it is empty; what is wrong with others is a note, and they
            may be missing in the answer.

    Raises:
        SourceError: undefined variables, or anything that is wrong with a document; with file, line and column.
    """

    def read(documents: list[Document], expansions: Mapping[str, Expansion]) -> DocumentSet:
        return _document_set(documents, expansions, set_missing=set_missing, infrastructure=infrastructure, only=only)

    try:
        documents, expansions = read_documents(texts, variables, set_missing=set_missing, substitute=substitute)
        document_set = read(documents, expansions)
    except SourceError as error:
        if not only:
            raise
        selected = Selected(only, set_missing=set_missing)
        documents, expansions = selected.documents(texts, variables if substitute else None)
        document_set, left_aside = selected.read(documents, lambda each: read(each, expansions), instead_of=error)
        document_set.notes += left_aside
        if not {*only} <= {question.name for question in document_set.questions}:
            raise
    filled = [expansions[name].text if name in expansions else text for name, text in texts.items()]
    if len(documents) == 1 and len(filled) == 1 and documents[0].value["kind"] != "List":
        document_set.lone = filled[0]
    return document_set


def _document_set(
    documents: list[Document],
    expansions: Mapping[str, Expansion],
    *,
    set_missing: bool,
    infrastructure: str,
    only: Collection[str],
) -> DocumentSet:
    """Give what documents describe, with the notes on their variables; see read_document_set."""
    notes = [note for each in expansions.values() for note in each.notes]
    native_set = read_natives(documents)
    configs, clusters = native_set.configs, native_set.clusters
    manifests = _NOTHING
    if any(not is_native(one) for one in documents):
        with native_set.together():
            manifests = manifests_of(documents, set_missing=set_missing, infrastructure=infrastructure, only=only)
    notes += manifests.notes
    if set_missing:
        notes += [note for one in clusters for note in _complete(one)]
    named = [(machine, _config_of(machine, configs)) for machine in manifests.native]
    native = [_of_cluster_api(machine, config) for machine, config in named]
    native += native_set.questions(elsewhere=manifests.clusters, named=[config for _, config in named], only=only)
    notes += native_set.left_aside()
    for question in native:
        namespace = question.standing.namespace
        config_maps = manifests.config_map_values.get(namespace, {})
        notes += _give_config_maps(question, config_maps, set_missing=set_missing)
        notes += _give_secrets(question, manifests.secret_values.get(namespace, {}), set_missing=set_missing)
    questions = [*map(_imported, manifests.machines), *native]
    set_control_planes(questions)
    for question in questions:
        target = question.subject.machine.target
        if infrastructure and not (question.subject.spec.target.infrastructure or target.infrastructure):
            target.infrastructure = infrastructure
    problems = [problem for machine, problem in namesakes(questions) if not only or machine in only]
    if problems:
        raise SourceError(problems)
    if native_set.has_mistakes and not {*only} <= {question.name for question in questions}:
        raise native_set.error([])
    used = frozenset().union(*(expansion.variables for expansion in expansions.values()))
    doubts = [*manifests.doubts, *metadata_doubts(documents)]
    return DocumentSet(questions, list(dict.fromkeys(notes)), doubts, Places(documents), variables=used)


def _complete(cluster: NativeCluster) -> Iterator[SourceProblem]:
    """Fill in what a first look can do with a placeholder for, and note it."""
    facts, path = cluster.spec.cluster, ("spec", "cluster")
    if not facts.HasField("endpoint"):
        facts.endpoint.CopyFrom(clusterpb.Endpoint(host=ADDRESS, port=DEFAULT_PORT))
        message = "the endpoint of the cluster is not known: a placeholder is used"
        yield cluster.document.source.problem(path, message)
    if not facts.kubernetes_version and not all(one.kubernetes_version for one in cluster.spec.machines):
        facts.kubernetes_version = KUBERNETES_VERSION
        message = "the Kubernetes version of the cluster is not known: a placeholder is used"
        yield cluster.document.source.problem(path, message)


def _config_of(machine: NativeMachine, configs: Iterable[NativeConfig]) -> NativeConfig:
    """Give the config that machines name; that it is there was seen when the machines were found."""
    key = (machine.kind, machine.namespace, machine.config)
    return next(one for one in configs if (one.kind, one.namespace, one.name) == key)


def _of_cluster_api(machine: NativeMachine, config: NativeConfig) -> MachineQuestion:
    subject = bootstrappb.Subject(spec=config.spec, cluster=machine.cluster, machine=machine.machine)
    standing = Standing(config.origin, machine.file, machine.position, machine.owner, machine.cluster.namespace)
    written = {**machine.written, **config.written}
    return MachineQuestion(subject, standing=standing, replicas=machine.replicas, written=written)


def _imported(machine: ManifestMachine) -> MachineQuestion:
    subject = bootstrappb.Subject(spec=machine.spec, cluster=machine.cluster, machine=machine.machine)
    document = machine.origin.document
    standing = Standing(document, machine.file, machine.position, document, machine.namespace)
    diagnostics = list(machine.diagnostics)
    return MachineQuestion(subject, machine.secrets, diagnostics, standing, machine.replicas, machine.written)


def _give_config_maps(
    question: MachineQuestion, values: Mapping[tuple[str, str], bytes], *, set_missing: bool
) -> Iterator[SourceProblem]:
    """Put values of ConfigMaps into a machine's spec, as far as the texts hold them; note placeholders."""
    spec = question.subject.spec
    fill(spec, values)
    for _, content in list(contents_by_config_map(spec)) if set_missing else []:
        message = "a ConfigMap that it refers to is not among the documents: a placeholder is used"
        yield question.standing.problem(message)
        content.data = PLACEHOLDER


def _give_secrets(
    question: MachineQuestion, values: Mapping[tuple[str, str], bytes], *, set_missing: bool
) -> Iterator[SourceProblem]:
    """Give a machine the secrets that its spec refers to, as far as the texts hold them; note placeholders."""
    complete_membership(question.subject.spec, question.subject.machine.name)
    wanted = {(one.name, one.key) for _, one in references(question.subject.spec) if "/" not in one.name}
    for name, key in sorted(wanted):
        value = values.get((name, key))
        if value is None and set_missing:
            message = "a Secret that it refers to is not among the documents: a placeholder is used"
            yield question.standing.problem(message)
            value = PLACEHOLDER
        if value is not None:
            question.secrets.secrets.add(name=name, key=key, kind=secretpb.SECRET_KIND_OPAQUE, value=value)
