"""The values that patches of a ClusterClass are over: those of the Cluster, defaults of the schemas, and built-in ones.

What only a management cluster knows (names that it makes up, the UID, labels that it puts together) is an UNKNOWN.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from slipway.bootstrapper.importers.cluster_api.class_kinds import ClassVariable
from slipway.bootstrapper.importers.cluster_api.cluster_kinds import ClusterNetwork, Topology, Variable
from slipway.bootstrapper.importers.cluster_api.objects import ManifestObject
from slipway.bootstrapper.importers.go_template_dialect import NOBODY_KNOWS, UNKNOWN
from slipway.contract.source_position import FieldPath, SourceError, SourceProblem, did_you_mean

BUILTIN = "builtin"
_NAMED = {"name": UNKNOWN}
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class VariableError(ValueError):
    """There is no such variable; the message repeats no value."""


def values(
    given: list[Variable],
    definitions: list[ClassVariable],
    *,
    owner: ManifestObject,
    path: FieldPath,
    overrides: bool = False,
) -> dict[str, Any]:
    """Give the values of variables, with the defaults of their schemas.

    Args:
        given: the values that the Cluster has.
        definitions: the variables of its class.
        owner: the Cluster.
        path: place of the values in it.
        overrides: whether they are for some machines only, so that a variable that is not there gets no default.

    Raises:
        SourceError: a variable is not defined, is there twice, or is required and not there.
    """
    known = {each.name: each for each in definitions}
    problems = list(_unknown(given, known, owner, path))
    result = {each.name: each.value for each in given if each.name in known}
    for name, definition in known.items():
        schema = definition.open_api
        if name not in result and (overrides or schema.get("default") is None):
            if definition.required and not overrides:
                problems.append(owner.problem(path, f"the ClusterClass requires a variable that is not set: {name}"))
            continue
        holder = {name: result[name]} if name in result else {}
        _set_defaults(holder, {"properties": {name: schema}})
        result[name] = holder[name]
    if problems:
        raise SourceError(problems)
    return result


def _unknown(
    given: list[Variable], known: Mapping[str, ClassVariable], owner: ManifestObject, path: FieldPath
) -> Iterator[SourceProblem]:
    seen: set[str] = set()
    for index, each in enumerate(given):
        if each.name not in known and each.name != BUILTIN:
            meant = did_you_mean(each.name, known)
            hint = f"; did you mean {meant}?" if meant else ""
            yield owner.problem((*path, index, "name"), f"the ClusterClass defines no variable of this name{hint}")
        if each.name in seen:
            yield owner.problem((*path, index, "name"), "the variable has a value already")
        seen.add(each.name)


def _set_defaults(value: Any, schema: Any) -> None:
    """Set the defaults of a schema, as the API server does for structural ones."""
    if not isinstance(schema, dict):
        return
    properties, others = schema.get("properties") or {}, schema.get("additionalProperties")
    if isinstance(value, dict):
        for name, each in properties.items():
            if each.get("default") is not None and (name not in value or _is_unset(value[name], each)):
                value[name] = deepcopy(each["default"])
        for name in value:
            inner = properties.get(name, others)
            if name not in properties and isinstance(inner, dict) and _is_unset(value[name], inner):
                value[name] = deepcopy(inner.get("default"))
            _set_defaults(value[name], inner)
    elif isinstance(value, list):
        items = schema.get("items")
        for index, item in enumerate(value):
            if isinstance(items, dict) and _is_unset(item, items):
                value[index] = deepcopy(items.get("default"))
            _set_defaults(value[index], items)


def _is_unset(value: Any, schema: dict[str, Any]) -> bool:
    return value is None and not schema.get("nullable") and schema.get("default") is not None


def of_cluster(owner: ManifestObject, topology: Topology, network: ClusterNetwork, class_: ManifestObject) -> Any:
    """Give the built-in values of a Cluster."""
    namespace, home = owner.namespace or "default", class_.namespace or "default"
    labels = {"cluster.x-k8s.io/cluster-name": owner.name, "topology.cluster.x-k8s.io/owned": ""}
    annotations = dict(owner.part("metadata", "annotations") or {})
    annotations.pop(_LAST_APPLIED, None)
    built_in: dict[str, Any] = {
        "name": owner.name,
        "namespace": namespace,
        "uid": UNKNOWN,
        "metadata": _full({"labels": {**owner.header.metadata.labels, **labels}, "annotations": annotations}),
        "topology": {
            "version": topology.version,
            "class": class_.name,
            "classNamespace": home,
            "classRef": {"name": class_.name, "namespace": home},
        },
    }
    parts = {"services": network.services.cidr_blocks, "pods": network.pods.cidr_blocks}
    whole = _full({"serviceDomain": network.service_domain, **parts})
    return {**built_in, "network": whole} if whole else built_in


def of_control_plane(topology: Topology) -> dict[str, Any]:
    """Give the built-in values of a control plane's templates."""
    built_in: dict[str, Any] = {"version": topology.version, "metadata": UNKNOWN, "name": UNKNOWN}
    if topology.control_plane.replicas is not None:
        built_in["replicas"] = topology.control_plane.replicas
    return {"controlPlane": {**built_in, "machineTemplate": {"infrastructureRef": _NAMED}}}


def of_workers(kind: str, version: str, class_: str, name: str, replicas: int | None) -> dict[str, Any]:
    """Give the built-in values of the templates of workers; `kind` is machineDeployment or machinePool."""
    built_in: dict[str, Any] = {"version": version, "class": class_, "topologyName": name}
    built_in |= {"name": UNKNOWN, "metadata": UNKNOWN, "bootstrap": {"configRef": _NAMED}, "infrastructureRef": _NAMED}
    if replicas is not None:
        built_in["replicas"] = replicas
    return {kind: built_in}


def _full(parts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parts.items() if value}


def variable(variables: Mapping[str, Any], path: str) -> Any:
    """Give the value that `valueFrom.variable` means: a variable, fields of it, and items by [index].

    Raises:
        VariableError: there is none.
    """
    value: Any = variables
    for part in path.split("."):
        name, bracket, rest = part.partition("[")
        index = rest.removesuffix("]")
        if not isinstance(value, Mapping) or name not in value:
            raise VariableError(
                "a variable or a field of one that has no value: set it, or guard the patch by enabledIf"
            )
        value = value[name]
        if value is UNKNOWN:
            break
        if bracket:
            if not (rest.endswith("]") and index.isdecimal() and isinstance(value, list) and int(index) < len(value)):
                raise VariableError("the variable has no such item")
            value = value[int(index)]
    if _has_unknown(value):
        raise VariableError(NOBODY_KNOWS)
    return deepcopy(value)


def _has_unknown(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_unknown, value.values()))
    return value is UNKNOWN


def numbers_as_in_go(value: Any) -> Any:
    """Give a tree as a template sees it: every number of JSON is a float64."""
    if isinstance(value, Mapping):
        return {key: numbers_as_in_go(item) for key, item in value.items()}
    if isinstance(value, list):
        return [numbers_as_in_go(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def guessed(value: Any, name: str) -> Any:
    """Give a tree with a placeholder for everything that only a management cluster knows; `name` is for names."""
    if isinstance(value, Mapping):
        whole = {key: guessed(item, name) for key, item in value.items()}
        return {key: {} if key == "metadata" and item == name else item for key, item in whole.items()}
    return name if value is UNKNOWN else value
