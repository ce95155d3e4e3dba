"""Where a spec was written, item by item: in the part for every role, or in the differences of one.

Merging makes one item of two. What is wrong with a field of it must be told where that field stands, which may be in
either of them. What a compliance profile has added stands in neither: its place is the names of the controls.

A spec may come without that knowledge, as from a caller of the service. Lowering takes items out of their lists: a
refusal that named one by its number then would name another one.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from slipway.bootstrapper.assembly.overrides import OVERRIDDEN, is_whole, overrides_of
from slipway.bootstrapper.compliance.names import origin_of_controls
from slipway.bootstrapper.field_index import enclosing
from slipway.contract.items import items, within
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import spec_pb2 as specpb


class Layers:
    """The two layers of a spec for a role, as they were before they were merged, and what controls have added.

    Attributes:
        controls: names of controls by the field path, in the merged spec, of what they have set.
        shared: the same for what they have added to something that is written.
    """

    def __init__(self, spec: specpb.MachineBootstrapSpec, role: clusterpb.Role.ValueType) -> None:
        """Look at a spec whose items all say where they stand."""
        self._spec = spec
        self._upper, self._name = overrides_of(spec, role)
        below = {item.path: item.message.origin for item in items(spec) if not item.repeated}
        self._merged = {
            (item.message.origin.document, item.message.origin.path): (item, below[item.path])
            for item in items(self._upper)
            if item.path in below and not item.repeated
        }
        self.controls: Mapping[str, Iterable[str]] = {}
        self.shared: Mapping[str, Iterable[str]] = {}

    def control(self, path: str) -> diagnosticpb.Origin | None:
        """Give the origin of a field of the merged spec that controls have set; None where none has."""
        return _named(self.controls, path)

    def written(self, path: str) -> list[str]:
        """Give the field paths, in the spec as it was written, of what is at a field path of the merged one.

        There are two where both layers say something of it, or where neither does though both have what it lies in.
        """
        above = f"{self._name}.{path}"
        base: Any = self._spec
        upper: Any = self._upper
        parts = path.split(".")
        if parts[0] not in OVERRIDDEN or not upper.ListFields():
            return [path]
        for part in parts:
            name = part.partition("[")[0]
            base, upper = _value(base, name), _value(upper, name)
            if base is None and upper is None:
                break
            if base is None or upper is None:
                return [path] if upper is None else [above]
            if is_whole(upper):
                return [above]
        return [path, above]

    def origins(self, path: str, origin: diagnosticpb.Origin, feature: str = "") -> list[diagnosticpb.Origin]:
        """Give where a field was written whose item says `origin`: twice at most.

        What was made out of a merged item was made out of both.

        Args:
            path: the field path in a bundle; where it is the whole item's, the feature tells the field.
            origin: what the item says.
            feature: the feature that it is about.
        """
        control = self.control(path)
        if control is not None:
            control.made_by.extend(origin.made_by)
            return [control]
        places = self._written_origins(path, origin, feature)
        shared = _named(self.shared, path) or self._below(path, feature)
        return places if shared is None else [shared, *places]

    def _below(self, path: str, feature: str) -> diagnosticpb.Origin | None:
        """Give the controls that have set a part of a field which the user has, where the feature names the part."""
        if feature == path or not within(feature, path.removeprefix("intent.")):
            return None
        names = [name for place, controls in self.controls.items() if within(place, feature) for name in controls]
        return origin_of_controls(names) if names else None

    def _written_origins(self, path: str, origin: diagnosticpb.Origin, feature: str) -> list[diagnosticpb.Origin]:
        merged = self._merged.get((origin.document, origin.path))
        if merged is None:
            return [origin]
        item, below = merged
        inner = path.removeprefix("intent.")
        name = item.feature or item.path
        if inner == item.path and within(feature, name):
            inner += feature[len(name) :]
        written = self.written(inner if within(inner, item.path) else item.path)
        places = []
        for entry in written:
            place = diagnosticpb.Origin(made_by=origin.made_by)
            place.MergeFrom(item.message.origin if entry.startswith(f"{self._name}.") else below)
            places.append(place)
        return places


def _named(controls: Mapping[str, Iterable[str]], path: str) -> diagnosticpb.Origin | None:
    names = (controls[place] for place in enclosing(path.removeprefix("intent.")) if place in controls)
    chosen = next(names, None)
    return None if chosen is None else origin_of_controls(chosen)


def _value(message: Any, name: str) -> Any:
    """Give the value of a field that is set; None where it is not."""
    return next((value for field, value in message.ListFields() if field.name == name), None)


def with_origins(spec: specpb.MachineBootstrapSpec) -> specpb.MachineBootstrapSpec:
    """Give a copy of a spec in which every item says where it stands; what says so already is kept."""
    named = specpb.MachineBootstrapSpec()
    named.CopyFrom(spec)
    for item in items(named):
        if not item.message.origin.path:
            item.message.origin.path = person_path(f"spec.{item.path}")
    return named
