"""Whether the documents in a spec are what the programs that read them expect, by field and line."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from slipway.bootstrapper.kubernetes_documents.document_places import DocumentPlace, document_places, literal_text
from slipway.bootstrapper.kubernetes_documents.kubelet_rules import kubelet_mistakes
from slipway.bootstrapper.kubernetes_documents.required_fields import missing
from slipway.bootstrapper.kubernetes_documents.strict_decoding import Mistake, mistakes
from slipway.bootstrapper.kubernetes_documents.type_table import Known, Series, TypeTable, type_table
from slipway.contract.source_position import SourceError, path_text
from slipway.contract.yaml_document import Document
from slipway.contract.yaml_limits import Allowance, Limits
from slipway.contract.yaml_source import load_documents
from slipway.v1alpha1 import spec_pb2 as specpb

_LIMITS = Limits(max_characters=1024 * 1024, max_nodes=50_000, max_documents=100)
_MOST_VALUES = 100_000
"""Of all documents of a spec together, which takes two seconds."""

_MOST = 20
"""Mistakes that are reported of one document."""

_HEADLESS = frozenset({"Config", "KubeletConfiguration"})
"""Kinds whose reader takes them for granted: client-go's of kubeconfigs, and that of a configuration laid over another.

Of the others, apiVersion and kind decide how the file is read.
"""


@dataclass(frozen=True, slots=True)
class DocumentMistake:
    """Something that is wrong in a document of a spec.

    Attributes:
        path: field path of the document in the spec.
        message: line and field in the document, and what is wrong; never a value.
        certain: the program that reads the document does not accept it; else it may not.
    """

    path: str
    message: str
    certain: bool


def document_mistakes(spec: specpb.MachineBootstrapSpec, series: Series) -> Iterator[DocumentMistake]:
    """Give what is wrong with the documents of a spec.

    Args:
        spec: a spec whose overrides are applied.
        series: minor version of the machine's Kubernetes.
    """
    together = Allowance(_MOST_VALUES)
    limits = replace(_LIMITS, together=together)
    for place in document_places(spec):
        text = literal_text(place.content)
        if text is None:
            continue
        if together.is_used_up:
            yield DocumentMistake(place.path, "is not checked, as those before it have too many values", certain=True)
            break
        for count, (where, mistake) in enumerate(_of_text(text, place, type_table(series), limits)):
            if count == _MOST:
                yield DocumentMistake(place.path, "has further mistakes, which are not listed", mistake.certain)
                break
            yield DocumentMistake(place.path, f"{where}{mistake.message}", mistake.certain)


def _of_text(text: str, place: DocumentPlace, table: TypeTable, limits: Limits) -> Iterator[tuple[str, Mistake]]:
    try:
        documents = load_documents(text, file="", limits=limits)
    except SourceError as error:
        for problem in error.problems:
            line = f"line {problem.position.line}: " if problem.position else ""
            yield f"{line}{problem.path}: " if problem.path else line, Mistake((), problem.message)
        return
    is_other = any(not isinstance(document.value, dict) for document in documents)
    if is_other or (len(documents) != 1 and not place.is_patch_file):
        count = "documents" if place.is_patch_file else "one document"
        yield "", Mistake((), f"must be {count} of kind {place.kind}")
        return
    for document in documents:
        for mistake in _of_document(document.value, place, table):
            yield _where(document, mistake), mistake


def _where(document: Document, mistake: Mistake) -> str:
    if not mistake.path:
        return ""
    return f"line {document.source.position(mistake.path).line}: {path_text(mistake.path)}: "


def _of_document(tree: dict[str, Any], place: DocumentPlace, table: TypeTable) -> Iterator[Mistake]:
    head = {"apiVersion": tree.get("apiVersion"), "kind": tree.get("kind")}
    if place.kind in _HEADLESS or place.partial:
        default = next(name for name in table.kinds if name.endswith(f" {place.kind}"))
        head = {
            "apiVersion": head["apiVersion"] or default.split(" ")[0],
            "kind": head["kind"] or place.kind,
        }
    if head["kind"] != place.kind:
        yield Mistake(("kind",), f"must be {place.kind}")
        return
    known, type_name = table.kind(str(head["apiVersion"]), place.kind)
    if known is not Known.YES:
        versions = sorted(name.split(" ")[0] for name in table.kinds if name.endswith(f" {place.kind}"))
        message = f"must be {' or '.join(versions)}" if versions else "is not known"
        yield Mistake(("apiVersion",), message, certain=known is Known.NO and bool(versions))
        return
    wrong = list(mistakes(tree, type_name, table, directives=place.partial))
    yield from wrong
    if any(mistake.certain for mistake in wrong):
        return
    if place.kind == "KubeletConfiguration":
        yield from kubelet_mistakes(tree)
    if not place.partial:
        yield from missing(tree, place.kind)
