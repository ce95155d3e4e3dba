"""Our own documents of a set, and everything that is wrong in them: told together, whichever check has found it."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from slipway.bootstrapper.documents.machines import Choice, MachineQuestion, native_questions
from slipway.bootstrapper.documents.mistakes import Mistakes
from slipway.bootstrapper.documents.native import NativeCluster, NativeConfig, is_native, meaningless, read_partly
from slipway.contract.source_position import FieldPath, SourceError, SourceProblem
from slipway.contract.yaml_document import Document
from slipway.contract.yaml_names import fields_by_key
from slipway.v1alpha1 import cluster_pb2 as clusterpb

_MACHINES: FieldPath = ("spec", "machines")


@dataclass(frozen=True, slots=True)
class NativeSet:
    """Our own documents, as far as they can be read, each with what is wrong with its fields.

    Attributes:
        read: the documents.
        notes: what is wrong with machines that are not selected.
    """

    read: list[tuple[NativeConfig | NativeCluster, Mistakes]] = field(default_factory=list)
    notes: list[SourceProblem] = field(default_factory=list)

    @property
    def configs(self) -> list[NativeConfig]:
        """The configs."""
        return [one for one, _ in self.read if isinstance(one, NativeConfig)]

    @property
    def clusters(self) -> list[NativeCluster]:
        """The clusters."""
        return [one for one, _ in self.read if isinstance(one, NativeCluster)]

    @property
    def has_mistakes(self) -> bool:
        """Return whether anything is wrong with a field of them."""
        return any(mistakes for _, mistakes in self.read)

    def left_aside(self) -> Iterator[SourceProblem]:
        """Give a note on each mistake, where it is no error: all are in machines that are not selected."""
        for problem in [*self.notes, *(mistake for _, mistakes in self.read for mistake in mistakes.problems)]:
            yield replace(problem, message="is wrong, and is left alone: the machine is not selected", code="")

    @contextmanager
    def together(self) -> Iterator[None]:
        """Tell what is wrong in the documents together with what is found in here.

        Raises:
            SourceError: all of it, when anything was found in here.
        """
        try:
            yield
        except SourceError as error:
            raise self.error(error.problems) from None

    def questions(
        self, *, elsewhere: Iterable[clusterpb.Cluster], named: Iterable[NativeConfig], only: Collection[str] = ()
    ) -> list[MachineQuestion]:
        """Give the machines of the documents, as native_questions does.

        Raises:
            SourceError: everything that is wrong in a document or with what it refers to.
        """
        found: list[MachineQuestion] = []
        paths = [(read, path) for read, mistakes in self.read for path in _paths(read, mistakes, only)]
        if not any(isinstance(read, NativeCluster) and _hides_machines(path) for read, path in paths):
            with self.together():
                choice = Choice(only, self.notes)
                found = list(
                    native_questions(self.configs, self.clusters, elsewhere=elsewhere, named=named, only=choice)
                )
        if paths:
            raise self.error([])
        return found

    def error(self, more: Iterable[SourceProblem]) -> SourceError:
        """Give everything that is wrong in the documents, and `more`; each once."""
        problems: list[SourceProblem] = []
        for one, mistakes in self.read:
            mistakes.add_apart(meaningless(one))
            problems += mistakes.problems
        return SourceError(dict.fromkeys([*problems, *more]))


def read_natives(documents: Iterable[Document]) -> NativeSet:
    """Read our own documents.

    Raises:
        SourceError: one has no name or kind, or has those of another one, so that nobody can tell what refers to what;
            everything that is wrong in any of them is in it.
    """
    found = NativeSet()
    problems: list[SourceProblem] = []
    seen: set[tuple[str, str]] = set()
    for document in documents:
        if not is_native(document):
            continue
        try:
            one, mistakes = read_partly(document)
        except SourceError as error:
            problems += error.problems
            continue
        if (one.origin, one.namespace) in seen:
            message = "another document has the same kind and name"
            problems.append(document.source.problem(("metadata", "name"), message))
        seen.add((one.origin, one.namespace))
        found.read.append((one, mistakes))
    if problems:
        raise found.error(problems)
    return found


def _paths(read: NativeConfig | NativeCluster, mistakes: Mistakes, only: Collection[str]) -> list[FieldPath]:
    """Give where mistakes are, but for those of machines of a cluster that are not selected."""
    if not only or isinstance(read, NativeConfig):
        return mistakes.paths
    machines, first = read.spec.machines, len(_MACHINES)
    others = {index for index, entry in enumerate(machines) if entry.name not in only}
    written = read.document.source.shape(_MACHINES)
    if written is None or len(written.children) != len(machines):
        others.clear()  # Entries that are none are not in the message: numbers are those of others.
    return [path for path in mistakes.paths if path[:first] != _MACHINES or others.isdisjoint(path[first : first + 1])]


def _hides_machines(path: FieldPath) -> bool:
    """Return whether a mistake at this path of a cluster may have hidden a machine, or the name of its config."""
    inner = path[len(_MACHINES) :]
    if len(path) <= len(_MACHINES) or path[: len(_MACHINES)] != _MACHINES:
        return len(path) <= len(_MACHINES)
    others = fields_by_key(clusterpb.MachineEntry.DESCRIPTOR).keys() - {"config"}
    return len(inner) == 1 or inner[1] not in others
