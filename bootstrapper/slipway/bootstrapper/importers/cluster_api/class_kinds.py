"""The variables and patches of a ClusterClass. All fields of patches are known: a misspelt one is an error."""

# ruff: noqa: RUF012  # pydantic copies defaults

from typing import Annotated, Any

from pydantic import Field

from slipway.bootstrapper.importers.cluster_api.json_patch import Operation
from slipway.bootstrapper.importers.foreign import Foreign, Opaque


class ClassVariable(Opaque):
    """A variable; its schema is a plain tree."""

    name: str
    required: bool = False
    schema_: Annotated[dict[str, Any], Field(alias="schema", repr=False)] = {}

    @property
    def open_api(self) -> dict[str, Any]:
        """The schema."""
        schema = self.schema_.get("openAPIV3Schema")
        return schema if isinstance(schema, dict) else {}


class ClassNames(Foreign):
    """Names of classes of workers: whole, or with a * in front or at the end."""

    names: list[str] = []

    def match(self, name: str) -> bool:
        """Return whether a class is meant."""
        return any(_matches(each, name) for each in self.names)


def _matches(pattern: str, name: str) -> bool:
    if pattern.startswith("*") and name.endswith(pattern[1:]):
        return True
    return name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1]))


class MatchResources(Foreign):
    """Whose templates are patched."""

    control_plane: bool = False
    infrastructure_cluster: bool = False
    machine_deployment_class: ClassNames | None = None
    machine_pool_class: ClassNames | None = None


class Selector(Foreign):
    """Which templates are patched."""

    api_version: str
    kind: str
    match_resources: MatchResources


class ValueFrom(Foreign):
    """Where a value comes from."""

    variable: str = ""
    template: Annotated[str, Field(repr=False)] = ""


class JsonPatch(Foreign):
    """One operation."""

    op: Operation
    path: str
    value: Annotated[Any, Field(repr=False)] = None
    value_from: ValueFrom | None = None


class PatchDefinition(Foreign):
    """Operations on some templates."""

    selector: Selector
    json_patches: list[JsonPatch] = []


class ClassPatch(Foreign):
    """A patch."""

    name: str
    description: str = ""
    enabled_if: str = ""
    definitions: list[PatchDefinition] | None = None
    external: Any = None


class PatchesSpec(Opaque):
    """What a ClusterClass says about its variables and patches."""

    variables: list[ClassVariable] = []
    patches: list[ClassPatch] = []
