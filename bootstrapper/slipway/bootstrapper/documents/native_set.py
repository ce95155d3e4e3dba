"""Our own documents of a set, and everything that is wrong in them: told together, whichever check has found it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from slipway.bootstrapper.documents.machines import MachineQuestion, native_questions
from slipway.bootstrapper.documents.mistakes import Mistakes
from slipway.bootstrapper.documents.native import NativeCluster, NativeConfig, is_native, meaningless, read_partly
from slipway.contract.source_position import FieldPath, SourceError, SourceProblem
from slipway.contract.yaml_document import Document
from slipway.contract.yaml_names import fields_by_key
from slipway.v1alpha1 import cluster_pb2 as clusterpb

_MACHINES: FieldPath = ("spec", "machines")


@dataclass(frozen=True, slots=True)
class NativeSet:
    """Our own documents, as far as they can be read, each with what is wrong with its fields."""

    read: list[tuple[NativeConfig | NativeCluster, Mistakes]] = field(default_factory=list)

    @property
    def configs(self) -> list[NativeConfig]:
        """The configs."""
        return [one for one, _ in self.read if isinstance(one, NativeConfig)]

    @property
    def clusters(self) -> list[NativeCluster]:
        """The clusters."""
        return [one for one, _ in self.read if isinstance(one, NativeCluster)]

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
        self, *, elsewhere: Iterable[clusterpb.Cluster], named: Iterable[NativeConfig]
    ) -> list[MachineQuestion]:
        """Give the machines of the documents, as native_questions does.

        Raises:
            SourceError: everything that is wrong in a document or with what it refers to.
        """
        found: list[MachineQuestion] = []
        if self._machines_known():
            with self.together():
                found = list(native_questions(self.configs, self.clusters, elsewhere=elsewhere, named=named))
        if any(mistakes for _, mistakes in self.read):
            raise self.error([])
        return found

    def error(self, more: Iterable[SourceProblem]) -> SourceError:
        """Give everything that is wrong in the documents, and `more`; each once."""
        problems: list[SourceProblem] = []
        for one, mistakes in self.read:
            mistakes.add_apart(meaningless(one))
            problems += mistakes.problems
        return SourceError(dict.fromkeys([*problems, *more]))

    def _machines_known(self) -> bool:
        """Tell whether every cluster's machines and the configs they name are all there, to be looked up."""
        paths = [path for one, mistakes in self.read if isinstance(one, NativeCluster) for path in mistakes.paths]
        return not any(_hides_machines(path) for path in paths)


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


def _hides_machines(path: FieldPath) -> bool:
    """Tell whether a mistake at this path of a cluster may have hidden a machine, or the name of its config."""
    inner = path[len(_MACHINES) :]
    if len(path) <= len(_MACHINES) or path[: len(_MACHINES)] != _MACHINES:
        return len(path) <= len(_MACHINES)
    others = fields_by_key(clusterpb.MachineEntry.DESCRIPTOR).keys() - {"config"}
    return len(inner) == 1 or inner[1] not in others
