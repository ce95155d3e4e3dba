"""Slipway's own kinds: SlipwayConfig, SlipwayConfigTemplate and SlipwayCluster."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from bootstrapper.documents.emptied_lists import emptied_lists
from services.contract import validation
from services.contract.errors import Violation
from services.contract.grammars import grammars
from services.contract.source_position import FieldPath, SourceError, did_you_mean, unknown_field
from services.contract.yaml_decode import decode
from services.contract.yaml_encode import encode
from services.contract.yaml_names import person_path
from services.contract.yaml_source import Document
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb

API_VERSION = "bootstrap.slipway.dev/v1alpha1"
CONFIG = "SlipwayConfig"
TEMPLATE = "SlipwayConfigTemplate"
CLUSTER = "SlipwayCluster"
_KINDS = (CONFIG, TEMPLATE, CLUSTER)
_PARTS = ("commands", "engineOptions", "extensions", "kubernetes", "os")
_TOP = ("apiVersion", "kind", "metadata", "spec", "status")


@dataclass(frozen=True, slots=True)
class NativeConfig:
    """A spec with its name and place."""

    name: str
    kind: str
    namespace: str
    spec: specpb.MachineBootstrapSpec
    document: Document

    @property
    def origin(self) -> str:
        """Kind and name, as in origins."""
        return f"{self.kind}/{self.name}"

    @property
    def written(self) -> dict[str, str]:
        """Where the parts of the spec stand, as "Kind/name: path", by the names that errors have for them."""
        whole = f"{self.origin}: {'spec.template.spec' if self.kind == TEMPLATE else 'spec'}"
        found = {"spec": whole} | {name: f"{whole}.{name}" for name in _PARTS}
        return found | {f"target.{one.json_name}": f"{whole}.target.{one.json_name}" for one, _ in _stated(self.spec)}


@dataclass(frozen=True, slots=True)
class NativeCluster:
    """A cluster that is described by hand."""

    name: str
    namespace: str
    spec: clusterpb.SlipwayClusterSpec
    document: Document

    @property
    def origin(self) -> str:
        """Kind and name, as in origins."""
        return f"{CLUSTER}/{self.name}"


def _stated(spec: specpb.MachineBootstrapSpec) -> Sequence[tuple[FieldDescriptor, object]]:
    """Give the fields of its target that a spec states: they win over those of the machine."""
    return spec.target.ListFields()


def is_native(document: Document) -> bool:
    """Tell whether a document claims to be one of ours."""
    tree = document.value
    return isinstance(tree, dict) and str(tree.get("apiVersion", "")).startswith("bootstrap.slipway.dev/")


def read_native(document: Document) -> NativeConfig | NativeCluster:
    """Read one of our documents.

    Raises:
        SourceError: everything that is wrong with it, with file, line, column and field path.
    """
    tree, source = document.value, document.source
    kind = tree.get("kind")
    if tree.get("apiVersion") != API_VERSION:
        raise SourceError([source.problem(("apiVersion",), f"must be {API_VERSION}")])
    if kind not in _KINDS:
        meant = did_you_mean(str(kind), _KINDS)
        message = f"must be one of {', '.join(_KINDS)}" + (f"; did you mean {meant}?" if meant else "")
        raise SourceError([source.problem(("kind",), message)])
    _only(tree, _TOP, (), document)
    name, namespace = _metadata(document)
    if kind == CLUSTER:
        origin = f"{kind}/{name}"
        cluster = decode(
            tree.get("spec") or {}, clusterpb.SlipwayClusterSpec(), source=source, path=("spec",), document=origin
        )
        if not cluster.cluster.name:
            cluster.cluster.name = name
        if namespace and not cluster.cluster.namespace:
            cluster.cluster.namespace = namespace
        check_rules(cluster, document, ("spec",))
        return NativeCluster(name, namespace, cluster, document)
    path: FieldPath = ("spec",)
    body: Any = tree.get("spec") or {}
    if kind == TEMPLATE:
        body, path = _template(document)
    spec = decode(body, specpb.MachineBootstrapSpec(), source=source, path=path, document=f"{kind}/{name}")
    check_rules(spec, document, path)
    if problems := emptied_lists(body, source, path):
        raise SourceError(problems)
    return NativeConfig(name, kind, namespace, spec, document)


def write_config(name: str, spec: specpb.MachineBootstrapSpec, *, namespace: str = "") -> dict[str, Any]:
    """Give the document of a spec, ready for yaml_encode.dump."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": API_VERSION, "kind": CONFIG, "metadata": metadata, "spec": encode(spec)}


def check_rules(message: Message, document: Document, path: FieldPath) -> None:
    """Check a message against the rules of its descriptors, and tell what is wrong by line and column.

    Raises:
        SourceError: everything that is wrong.
    """
    problems = [
        document.source.problem((*path, *_parts(one)), one.description) for one in validation.violations(message)
    ]
    if problems:
        raise SourceError(problems)


def _template(document: Document) -> tuple[Any, FieldPath]:
    spec = document.value.get("spec") or {}
    if not isinstance(spec, dict):
        raise SourceError([document.source.problem(("spec",), "must be a mapping")])
    _only(spec, ("template",), ("spec",), document)
    template = spec.get("template") or {}
    if not isinstance(template, dict):
        raise SourceError([document.source.problem(("spec", "template"), "must be a mapping")])
    _only(template, ("metadata", "spec"), ("spec", "template"), document)
    return template.get("spec") or {}, ("spec", "template", "spec")


def _metadata(document: Document) -> tuple[str, str]:
    metadata = document.value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    if isinstance(name, bool | int | float):
        raise SourceError([document.source.problem(("metadata", "name"), "must be text: put the value in quotes")])
    if not isinstance(name, str) or not grammars()["dns-subdomain"].check(name):
        description = grammars()["dns-subdomain"].description
        raise SourceError([document.source.problem(("metadata", "name"), f"is required: {description}")])
    namespace = metadata.get("namespace") or ""
    return name, str(namespace)


def _only(tree: Mapping[str, Any], known: Iterable[str], path: FieldPath, document: Document) -> None:
    names = tuple(known)
    problems = [document.source.problem((*path, key), unknown_field(key, names)) for key in tree if key not in names]
    if problems:
        raise SourceError(problems)


def _parts(violation: Violation) -> FieldPath:
    """Turn a field path of the contract into the path of the document."""
    parts: list[str | int] = []
    for word in person_path(violation.path).split("."):
        name, *indices = word.split("[")
        parts.append(name)
        parts += [int(index.rstrip("]")) for index in indices]
    return tuple(parts)
