"""The patches of a ClusterClass, applied to its templates as the topology controller of Cluster API does.

What comes from an extension of the management cluster (an external patch) cannot be known here, and is refused.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from slipway.bootstrapper.importers.cluster_api import class_variables
from slipway.bootstrapper.importers.cluster_api.class_kinds import ClassPatch, JsonPatch, PatchesSpec, Selector
from slipway.bootstrapper.importers.cluster_api.class_variables import VariableError
from slipway.bootstrapper.importers.cluster_api.cluster_kinds import ClusterSpec, Topology, Variable
from slipway.bootstrapper.importers.cluster_api.json_patch import Patched, PatchError, checked
from slipway.bootstrapper.importers.cluster_api.kinds import Reference
from slipway.bootstrapper.importers.cluster_api.objects import ManifestObject
from slipway.bootstrapper.importers.go_template import render_as
from slipway.bootstrapper.importers.go_template_dialect import Dialect, GoTemplateError
from slipway.bootstrapper.importers.sprig import SPRIG
from slipway.contract.source_position import FieldPath, SourceError, SourceProblem
from slipway.contract.yaml_document import Source
from slipway.contract.yaml_limits import SHORT
from slipway.contract.yaml_source import load_documents

_EXTERNAL = (
    "an external patch is made by an extension of the management cluster, so what it changes is unknown here: "
    "import the objects that Cluster API has made of the topology"
)
_VERSION = "a patch is for the version that the ClusterClass names, and the document has another: write it in that one"


@dataclass(frozen=True)
class Holder:
    """What a template of a class is used for.

    Attributes:
        part: the name that `matchResources` has for it.
        class_: the class of the workers, or "".
        builtin: built-in values of it.
        overrides: values of variables for it.
        path: place of these values in the Cluster.
    """

    part: str
    class_: str = ""
    builtin: dict[str, Any] = field(default_factory=dict, repr=False)
    overrides: list[Variable] = field(default_factory=list, repr=False)
    path: FieldPath = ()


class ClassPatches:
    """The patches of the class of one Cluster."""

    def __init__(self, class_: ManifestObject, owner: ManifestObject, spec: ClusterSpec, *, set_missing: bool) -> None:
        """Prepare; nothing is read before a template is patched.

        Args:
            class_: the class.
            owner: the Cluster.
            spec: its spec.
            set_missing: use placeholders for what only a management cluster knows.
        """
        self.class_ = class_
        self.owner = owner
        self.topology = spec.topology or Topology()
        self.network = spec.cluster_network
        self.set_missing = set_missing

    def apply(self, template: ManifestObject, reference: Reference | None, holder: Holder) -> ManifestObject:
        """Give a template as the patches leave it: itself if none changes it.

        Args:
            template: the template.
            reference: what the class calls it.
            holder: what it is used for.

        Raises:
            SourceError: a patch cannot be applied, or the variables are wrong.
        """
        spec = self.class_.read(PatchesSpec, "spec")
        if not spec.patches:
            return template
        named = (reference.api_version if reference else "") or template.header.api_version
        patched = Patched(template.tree, template.source.root)
        variables = self._variables(spec, holder)
        changed = False
        for index, patch in enumerate(spec.patches):
            path: FieldPath = ("spec", "patches", index)
            if not patch.definitions:
                message = _EXTERNAL if patch.external is not None else "one of definitions and external must be set"
                raise SourceError([self.class_.problem((*path, "external"), message)])
            for place, operations in self._operations(patch, (named, template.kind), holder, variables, path):
                if named != template.header.api_version:
                    raise SourceError([template.problem(("apiVersion",), _VERSION)])
                changed |= bool(operations)
                self._apply(patched, operations, variables, place)
        if not changed:
            return template
        return replace(template, tree=patched.tree, source=Source(template.source.file, patched.shape))

    def _variables(self, spec: PatchesSpec, holder: Holder) -> dict[str, Any]:
        path: FieldPath = ("spec", "topology", "variables")
        own = class_variables.values(self.topology.variables, spec.variables, owner=self.owner, path=path)
        overrides = class_variables.values(
            holder.overrides,
            spec.variables,
            owner=self.owner,
            path=(*holder.path, "variables", "overrides"),
            overrides=True,
        )
        cluster = class_variables.of_cluster(self.owner, self.topology, self.network, self.class_)
        builtin: Any = {"cluster": cluster, **holder.builtin}
        if self.set_missing:
            builtin = class_variables.guessed(builtin, f"{self.owner.name}-placeholder")
        return {**own, **overrides, class_variables.BUILTIN: builtin}

    def _operations(
        self, patch: ClassPatch, kind: tuple[str, str], holder: Holder, variables: dict[str, Any], path: FieldPath
    ) -> Iterator[tuple[FieldPath, list[JsonPatch]]]:
        """Give the operations of a patch that are for a template, with their places."""
        for index, definition in enumerate(patch.definitions or []):
            if not _selects(definition.selector, kind, holder):
                continue
            if patch.enabled_if and not self._is_enabled(patch.enabled_if, variables, (*path, "enabledIf")):
                return
            yield (*path, "definitions", index, "jsonPatches"), definition.json_patches

    def _apply(
        self, patched: Patched, operations: list[JsonPatch], variables: dict[str, Any], place: FieldPath
    ) -> None:
        for index, operation in enumerate(operations):
            path = (*place, index)
            try:
                parts = checked(operation.op, operation.path)
                value = None if operation.op == "remove" else self._value(operation, variables, path)
                patched.apply(operation.op, parts, value)
            except PatchError as error:
                raise SourceError([self.class_.problem((*path, "path"), str(error))]) from None

    def _value(self, operation: JsonPatch, variables: dict[str, Any], path: FieldPath) -> Any:
        origin = operation.value_from
        if (operation.value is None) is (origin is None):
            raise SourceError([self.class_.problem(path, "exactly one of value and valueFrom must be set")])
        if origin is None:
            return operation.value
        if bool(origin.variable) is bool(origin.template):
            message = "exactly one of variable and template must be set"
            raise SourceError([self.class_.problem((*path, "valueFrom"), message)])
        if origin.template:
            return self._rendered(origin.template, variables, (*path, "valueFrom", "template"))
        try:
            return class_variables.variable(variables, origin.variable)
        except VariableError as error:
            raise SourceError([self.class_.problem((*path, "valueFrom", "variable"), str(error))]) from None

    def _is_enabled(self, template: str, variables: dict[str, Any], path: FieldPath) -> bool:
        """Report whether a condition holds; a variable without a value is printed, and is not true."""
        return self._text(template, variables, path, missing="").strip() == "true"

    def _text(self, template: str, variables: dict[str, Any], path: FieldPath, *, missing: str) -> str:
        try:
            return render_as(template, Dialect(class_variables.numbers_as_in_go(variables), SPRIG, missing=missing))
        except GoTemplateError as error:
            raise SourceError([self.class_.problem(path, f"a Go template that cannot be rendered: {error}")]) from None

    def _rendered(self, template: str, variables: dict[str, Any], path: FieldPath) -> Any:
        """Render a template; its text is YAML."""
        text = self._text(template, variables, path, missing=Dialect.missing)
        try:
            documents = load_documents(text, file=self.class_.source.file, limits=SHORT)
        except SourceError:
            documents = [None, None]  # type: ignore[list-item]
        if len(documents) > 1:
            raise SourceError([self.class_.problem(path, "what the template gives is not one YAML document")])
        return documents[0].value if documents else None


def _selects(selector: Selector, kind: tuple[str, str], holder: Holder) -> bool:
    if (selector.api_version, selector.kind) != kind:
        return False
    resources = selector.match_resources
    match holder.part:
        case "controlPlane":
            return resources.control_plane
        case "infrastructureCluster":
            return resources.infrastructure_cluster
        case "machineDeploymentClass":
            names = resources.machine_deployment_class
        case _:
            names = resources.machine_pool_class
    return names is not None and names.match(holder.class_)


def unmatched(spec: PatchesSpec, class_: ManifestObject, kinds: set[tuple[str, str]]) -> Iterator[SourceProblem]:
    """Give a problem for every selector that means no template of the class: Cluster API refuses such a class.

    Args:
        spec: the patches.
        class_: the class.
        kinds: apiVersion and kind of every template of it.
    """
    for index, patch in enumerate(spec.patches):
        for number, definition in enumerate(patch.definitions or []):
            selector = definition.selector
            if (selector.api_version, selector.kind) not in kinds:
                path: FieldPath = ("spec", "patches", index, "definitions", number, "selector")
                yield class_.problem(path, "the class has no template of this apiVersion and kind")
