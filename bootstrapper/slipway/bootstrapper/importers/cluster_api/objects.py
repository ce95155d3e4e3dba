"""The objects of a manifest set, found by kind and name; and notes on what was seen in them."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel

from slipway.bootstrapper.importers.cluster_api.cluster_kinds import Topology
from slipway.bootstrapper.importers.cluster_api.kinds import Header, Reference
from slipway.bootstrapper.importers.foreign import read
from slipway.bootstrapper.namespaces import namespace_named
from slipway.contract.source_position import FieldPath, SourceError, SourceProblem
from slipway.contract.yaml_document import Document, Source, Tree

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class ManifestObject:
    """One object.

    Attributes:
        header: its kind, name and labels.
        tree: the whole of it.
        source: where it stands.
    """

    header: Header
    tree: Tree = field(repr=False)
    source: Source = field(repr=False)

    @property
    def kind(self) -> str:
        """Its kind."""
        return self.header.kind

    @property
    def name(self) -> str:
        """Its name."""
        return self.header.metadata.name

    @property
    def namespace(self) -> str:
        """Its namespace; "" for the default one."""
        return namespace_named(self.header.metadata.namespace)

    @property
    def document(self) -> str:
        """Kind and name, as in origins."""
        return f"{self.kind}/{self.name}" if self.name else self.kind

    def part(self, *path: str) -> Tree:
        """Give a part of it, or None."""
        tree = self.tree
        for key in path:
            tree = tree.get(key) if isinstance(tree, dict) else None
        return tree

    def read(self, model: type[Model], *path: str) -> Model:
        """Check a part of it against a model; an absent part counts as empty.

        Raises:
            SourceError: the part does not fit.
        """
        tree = self.part(*path)
        return read(model, {} if tree is None else tree, source=self.source, path=path)

    def problem(self, path: FieldPath, message: str) -> SourceProblem:
        """Make a problem, or a note, of a field."""
        return self.source.problem(path, message)


@dataclass
class ManifestObjects:
    """All objects of a set.

    Attributes:
        all: the objects in their order.
        only: names of the machines that count, all where it is empty.
        notes: what a person may want to know.
        problems: what keeps the set from being used.
        unreadable: what is wrong with the value of a Secret, by namespace, name and key.
    """

    all: list[ManifestObject]
    only: Collection[str] = ()
    notes: list[SourceProblem] = field(default_factory=list)
    problems: list[SourceProblem] = field(default_factory=list)
    unreadable: dict[tuple[str, str, str], SourceProblem] = field(default_factory=dict)

    def of(self, *kinds: str) -> Iterator[ManifestObject]:
        """Give the objects of some kinds."""
        return (each for each in self.all if each.kind in kinds)

    def find(self, kind: str, name: str, *, near: ManifestObject) -> ManifestObject | None:
        """Find an object by kind and name in the namespace of another."""
        return next((each for each in self.of(kind) if (each.name, each.namespace) == (name, near.namespace)), None)

    def class_of(self, cluster: ManifestObject, topology: Topology) -> ManifestObject | None:
        """Find the class of a Cluster's topology, which may be of another namespace."""
        named = topology.class_ref.namespace or topology.class_namespace
        namespace = namespace_named(named) if named else cluster.namespace
        name = topology.class_ref.name or topology.class_
        classes = self.of("ClusterClass")
        return next((each for each in classes if (each.name, each.namespace) == (name, namespace)), None)

    def referred(self, reference: Reference | None, *, near: ManifestObject) -> ManifestObject | None:
        """Find the object that a reference names."""
        return self.find(reference.kind, reference.name, near=near) if reference else None

    def blame(self, each: ManifestObject, problems: Iterable[SourceProblem], *machines: str) -> None:
        """Add what is wrong with the config of machines, or with their class; a note where none is selected."""
        if self.only and not {*machines}.intersection(self.only):
            self.note(each, "has mistakes, and is left alone: its machines are not selected")
        else:
            self.problems.extend(problems)

    def note(self, each: ManifestObject, message: str, path: FieldPath = ("kind",)) -> None:
        """Note something about an object, at one of its fields."""
        position = each.source.position(path)
        self.notes.append(SourceProblem(each.source.file, position, each.document, message))


def manifest_objects(documents: list[Document], *, only: Collection[str] = ()) -> ManifestObjects:
    """Take the documents for Kubernetes objects; the items of a List are objects of their own.

    Raises:
        SourceError: a document is none, or two objects have the same kind and name.
    """
    problems: list[SourceProblem] = []
    found: dict[tuple[Any, ...], ManifestObject] = {}
    for document in documents:
        try:
            for each in _objects(document):
                key = (each.kind, each.header.api_version.partition("/")[0], each.namespace, each.name)
                if key in found and each.name:
                    problems.append(each.problem(("metadata", "name"), "another document has the same kind and name"))
                found[key if each.name else (id(each),)] = each
        except SourceError as error:
            problems.extend(error.problems)
    if problems:
        raise SourceError(problems)
    return ManifestObjects(list(found.values()), only)


def _objects(document: Document) -> Iterator[ManifestObject]:
    header = read(Header, document.value, source=document.source)
    if header.kind != "List":
        yield ManifestObject(header, document.value, document.source)
        return
    items = document.value.get("items") or []
    for index, item in enumerate(items if isinstance(items, list) else []):
        shape = document.source.shape(("items", index))
        if shape is not None:
            yield from _objects(Document(item, Source(document.source.file, shape)))
