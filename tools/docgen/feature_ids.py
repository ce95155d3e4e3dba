"""Every feature that the contract knows, found by walking the descriptors as the feature walker walks a message."""

from collections.abc import Iterator
from dataclasses import dataclass

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from slipway.contract.field_plans import FieldPlan, is_item, plan
from slipway.contract.yaml_names import enum_names
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import options_pb2 as optionspb
from tools.docgen.descriptors import PACKAGE, comment


@dataclass(frozen=True, slots=True)
class FeaturePlace:
    """A place of the contract that uses a feature.

    Attributes:
        id: the feature's id.
        path: bundle field path, lists marked by [].
        item: feature id of the field that holds the item around it; "" outside any item.
        field: full name of the field that has the id or whose value has it.
        meaning: comment of the field or of the enum value.
    """

    id: str
    path: str
    item: str
    field: str
    meaning: str


def places() -> Iterator[FeaturePlace]:
    """Give every place, in the order of the fields. Extensions have ids of their authors' and are not among them."""
    yield from _places(bundlepb.BootstrapBundle.DESCRIPTOR, above="", path="", item="", seen=())


def ids_by_field() -> dict[str, list[str]]:
    """Give the feature ids of each field that has one of its own, by the field's full name."""
    ids_of: dict[str, list[str]] = {}
    for place in places():
        ids = ids_of.setdefault(place.field, [])
        if place.id not in ids:
            ids.append(place.id)
    return ids_of


def _places(message: Descriptor, *, above: str, path: str, item: str, seen: tuple[str, ...]) -> Iterator[FeaturePlace]:
    plans = plan(message)
    for field in message.fields:
        compiled = plans[field.number]
        if not compiled.below:
            continue
        own = compiled.own_id(above)
        nearest = own or above
        where = f"{path}.{field.name}".lstrip(".") + ("[]" if field.is_repeated else "")
        holder = item or (nearest if compiled.message is not None and is_item(compiled.message) else "")
        if own:
            yield FeaturePlace(own, where, holder, field.full_name, comment(field.full_name))
        yield from _of_values(field, nearest, where, holder)
        if _leads_on(compiled, seen):
            assert compiled.message is not None  # noqa: S101  # said by _leads_on
            yield from _places(
                compiled.message, above=nearest, path=where, item=holder, seen=(*seen, compiled.message.full_name)
            )


def _of_values(field: FieldDescriptor, nearest: str, where: str, holder: str) -> Iterator[FeaturePlace]:
    for value in field.enum_type.values if field.enum_type is not None else ():
        feature: str = value.GetOptions().Extensions[optionspb.value_feature]
        if feature and (nearest or not feature.startswith(".")):
            id_ = nearest + feature if feature.startswith(".") else feature
            yield FeaturePlace(
                id_,
                f"{where} = {enum_names(field.enum_type)[value.number]}",
                holder,
                value.name,
                comment(f"{PACKAGE}.{value.name}"),
            )


def _leads_on(compiled: FieldPlan, seen: tuple[str, ...]) -> bool:
    return compiled.message is not None and compiled.message.full_name not in seen
