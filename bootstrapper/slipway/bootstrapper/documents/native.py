"""Slipway's own kinds: SlipwayConfig, SlipwayConfigTemplate and SlipwayCluster.

An empty list in `init` and `join` is a mistake, which the contract has no way to say: a list there replaces the one of
the spec, and an empty list is no list on the wire. It would be ignored in silence.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from slipway.bootstrapper.assembly import structure
from slipway.bootstrapper.assembly.subject_rules import rule_violations
from slipway.bootstrapper.documents.imported import annotations, misplaced, set_imported
from slipway.bootstrapper.documents.mistakes import Found, Mistakes
from slipway.bootstrapper.namespaces import namespace_named
from slipway.contract import validation
from slipway.contract.errors import Violation
from slipway.contract.grammars import grammars
from slipway.contract.source_position import FieldPath, SourceError, did_you_mean, path_text, unknown_field
from slipway.contract.yaml_decode import fill
from slipway.contract.yaml_document import Document
from slipway.contract.yaml_encode import encode
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb

API_VERSION = "bootstrap.slipway.dev/v1alpha1"
CONFIG = "SlipwayConfig"
TEMPLATE = "SlipwayConfigTemplate"
CLUSTER = "SlipwayCluster"
_KINDS = (CONFIG, TEMPLATE, CLUSTER)
_PARTS = ("commands", "engineOptions", "extensions", "kubernetes", "os")
_TOP = ("apiVersion", "kind", "metadata", "spec", "status")

_OVERRIDES = ("init", "join")
_MEANT_EMPTY = ("taints", "items")
"""Taints are a message that says by being there that there are none."""
_EMPTIED = (
    "an empty list takes nothing away. Leave the list out above, and say it in init or join, for the machines that "
    "are to have it"
)


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
        paths = {"spec": whole} | {name: f"{whole}.{name}" for name in _PARTS}
        return paths | {
            f"target.{entry.json_name}": f"{whole}.target.{entry.json_name}" for entry, _ in _target_fields(self.spec)
        }


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


def _target_fields(spec: specpb.MachineBootstrapSpec) -> Sequence[tuple[FieldDescriptor, object]]:
    """Give the fields of its target that a spec states: they win over those of the machine."""
    return spec.target.ListFields()


def is_native(document: Document) -> bool:
    """Return whether a document claims to be one of ours."""
    tree = document.value
    return isinstance(tree, dict) and str(tree.get("apiVersion", "")).startswith("bootstrap.slipway.dev/")


def read_native(document: Document, *, origin: str = "") -> NativeConfig | NativeCluster:
    """Read one of our documents.

    Args:
        document: the document.
        origin: what origins in its spec call it; its kind and name where nothing is given.

    Raises:
        SourceError: everything that is wrong with it, with file, line, column and field path.
    """
    read, mistakes = read_partly(document, origin=origin)
    if mistakes:
        mistakes.add_apart(meaningless(read))
        mistakes.check()
    return read


def read_partly(document: Document, *, origin: str = "") -> tuple[NativeConfig | NativeCluster, Mistakes]:
    """Read one of our documents as far as its fields can be read, and give what is wrong with them.

    `origin` is as in read_native().

    Raises:
        SourceError: it has no kind or name by which it could be known.
    """
    tree, source = document.value, document.source
    kind = tree.get("kind")
    if tree.get("apiVersion") != API_VERSION:
        raise SourceError([source.problem(("apiVersion",), f"must be {API_VERSION}")])
    if kind not in _KINDS:
        meant = did_you_mean(str(kind), _KINDS)
        message = f"must be one of {', '.join(_KINDS)}" + (f"; did you mean {meant}?" if meant else "")
        raise SourceError([source.problem(("kind",), message)])
    mistakes = Mistakes(source)
    mistakes.add(_unknown(tree, _TOP, ()))
    try:
        name, namespace = _metadata(document)
    except SourceError:
        mistakes.check()
        raise
    body, path = _template(tree, mistakes) if kind == TEMPLATE else (tree.get("spec") or {}, ("spec",))
    read: NativeConfig | NativeCluster
    if kind == CLUSTER:
        cluster = clusterpb.SlipwayClusterSpec()
        mistakes.add(fill(body, cluster, path=path, document=f"{kind}/{name}"))
        if not cluster.cluster.name:
            cluster.cluster.name = name
        of_cluster = namespace_named(cluster.cluster.namespace or namespace)
        cluster.cluster.ClearField("namespace")
        if of_cluster:
            cluster.cluster.namespace = of_cluster
        read = NativeCluster(name, namespace, cluster, document)
    else:
        read = NativeConfig(name, kind, namespace, specpb.MachineBootstrapSpec(), document)
        mistakes.add(fill(body, read.spec, path=path, document=origin or read.origin))
    if isinstance(read, NativeConfig):
        if kind == TEMPLATE:
            mistakes.add(misplaced(tree))
        mistakes.add(set_imported(read.spec, tree, at=path[:-1], origin=origin or read.origin, path=path_text(path)))
        mistakes.add_apart(_as_mistakes(rule_violations(read.spec, path=""), path))
    else:
        mistakes.add_apart(_as_mistakes(validation.violations(read.spec), path))
    if kind != CLUSTER:
        mistakes.add_outside(_emptied_lists(body, path))
    return read, mistakes


def meaningless(read: NativeConfig | NativeCluster) -> list[Found]:
    """Give what is well-formed field by field in a spec and yet means nothing; each machine is refused for it, too.

    A reference to a ConfigMap is left for that: who has only the document does not know which there are.
    """
    if isinstance(read, NativeCluster):
        return []
    violations = [
        violation for violation in structure.violations(read.spec) if not violation.path.endswith(".config_map_ref")
    ]
    return _as_mistakes(violations, ("spec", "template", "spec") if read.kind == TEMPLATE else ("spec",))


def write_config(name: str, spec: specpb.MachineBootstrapSpec, *, namespace: str = "") -> dict[str, Any]:
    """Give the document of a spec, ready for yaml_encode.dump."""
    noted = annotations(spec)
    head: dict[str, Any] = {**metadata(name, namespace), **({"annotations": noted} if noted else {})}
    return {"apiVersion": API_VERSION, "kind": CONFIG, "metadata": head, "spec": encode(spec)}


def metadata(name: str, namespace: str) -> dict[str, str]:
    """Give the metadata of a document; without a namespace it is the default one's."""
    return {"name": name, **({"namespace": namespace} if namespace else {})}


def _as_mistakes(violations: Iterable[Violation], path: FieldPath) -> list[Found]:
    return [((*path, *_parts(violation)), violation.description) for violation in violations]


def _template(tree: Mapping[str, Any], mistakes: Mistakes) -> tuple[Any, FieldPath]:
    """Give the spec in a template, and where it stands; an empty one where there is no way to it."""
    inner: FieldPath = ("spec", "template", "spec")
    spec = tree.get("spec") or {}
    if not isinstance(spec, dict):
        mistakes.add([(inner[:1], "must be a mapping")])
        return {}, inner
    mistakes.add(_unknown(spec, ("template",), inner[:1]))
    template = spec.get("template") or {}
    if not isinstance(template, dict):
        mistakes.add([(inner[:2], "must be a mapping")])
        return {}, inner
    mistakes.add(_unknown(template, ("metadata", "spec"), inner[:2]))
    return template.get("spec") or {}, inner


def _metadata(document: Document) -> tuple[str, str]:
    given = document.value.get("metadata")
    name = given.get("name") if isinstance(given, Mapping) else None
    if isinstance(name, bool | int | float):
        raise SourceError([document.source.problem(("metadata", "name"), "must be text: put the value in quotes")])
    if not isinstance(name, str) or not grammars()["dns-subdomain"].check(name):
        description = grammars()["dns-subdomain"].description
        raise SourceError([document.source.problem(("metadata", "name"), f"is required: {description}")])
    namespace = given.get("namespace") or ""
    return name, namespace_named(str(namespace))


def _unknown(tree: Mapping[str, Any], known: Iterable[str], path: FieldPath) -> list[Found]:
    names = tuple(known)
    return [((*path, key), unknown_field(key, names)) for key in tree if key not in names]


def _parts(violation: Violation) -> FieldPath:
    """Turn a field path of the contract into the path of the document."""
    parts: list[str | int] = []
    for word in person_path(violation.path).split("."):
        name, *indices = word.split("[")
        parts.append(name)
        parts += [int(index.rstrip("]")) for index in indices]
    return tuple(parts)


def _emptied_lists(spec: Any, path: FieldPath) -> list[tuple[FieldPath, str]]:
    """Give path and problem of each empty list in the differences by role of a spec, as a plain tree."""
    overrides = [(name, spec.get(name)) for name in _OVERRIDES] if isinstance(spec, dict) else []
    return [(place, _EMPTIED) for name, tree in overrides for place in _empty(tree, (*path, name))]


def _empty(tree: Any, path: FieldPath) -> Iterator[FieldPath]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _empty(value, (*path, key))
    elif tree == [] and path[-2:] != _MEANT_EMPTY:
        yield path
