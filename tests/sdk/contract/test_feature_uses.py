"""The uses of features, against the rule of options.proto written down a second time, as plainly as can be."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from hypothesis import HealthCheck, given, settings

from slipway.contract.feature_uses import uses
from slipway.contract.field_plans import is_item, plan
from slipway.contract.items import items, within
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import options_pb2 as optionspb
from tests.sdk.contract.messages import messages

SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def plain_uses(message: Any, above: str = "", path: str = "") -> Iterator[tuple[str, str]]:
    """Give (id, path) of every use, straight from the options: no cache, no short cut."""
    for field, value in message.ListFields():
        if prefix := field.GetOptions().Extensions[optionspb.feature_from_value]:
            above = prefix + value
    for field, value in message.ListFields():
        options = field.GetOptions()
        feature = options.Extensions[optionspb.feature]
        own = (above + feature if above else "") if feature.startswith(".") else feature
        where = f"{path}.{field.name}" if path else field.name
        entries = [(f"{where}[{i}]", one) for i, one in enumerate(value)] if field.is_repeated else [(where, value)]
        for here, entry in entries:
            if own:
                yield own, here
            if prefix := options.Extensions[optionspb.feature_from_value]:
                yield prefix + entry, here
            if field.type == FieldDescriptor.TYPE_ENUM:
                found = field.enum_type.values_by_number.get(entry)
                suffix = found.GetOptions().Extensions[optionspb.value_feature] if found else ""
                if suffix and (own or above or not suffix.startswith(".")):
                    yield ((own or above) + suffix if suffix.startswith(".") else suffix), here
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                yield from plain_uses(entry, own or above, here)


@given(bundle=messages(bundlepb.BootstrapBundle))
@SETTINGS
def test_uses_are_those_of_the_rule(bundle: bundlepb.BootstrapBundle) -> None:
    """Nothing that is set is overlooked, nothing is counted that is not set, and the order is that of the fields.

    The innermost item around a use is told with its path, and the use lies in it. To look at an unset message does not
    set it.
    """
    before = copy.deepcopy(bundle)
    found, outermost = list(uses(bundle)), list(items(bundle))
    assert bundle == before
    assert [(use.id, use.path) for use in found] == list(plain_uses(bundle))
    for use in found:
        if use.item is not None:
            assert within(use.path, use.item_path)
            assert is_item(use.item.DESCRIPTOR)
        else:
            assert not any(within(use.path, item.path) for item in outermost)


@pytest.mark.parametrize(
    ("reason", "bundle", "expected"),
    [
        ("a scalar that equals its default is set", {"os": {"ntp": {"enabled": False}}}, ["os.ntp", "os.ntp.enabled"]),
        ("an empty message is set", {"os": {"ntp": {}}}, ["os.ntp"]),
        ("an empty list is not", {"os": {"files": []}}, []),
        ("an empty entry is", {"os": {"files": [{}]}}, ["os.files"]),
        ("each entry is a use", {"os": {"sysctls": [{}, {}]}}, ["os.sysctls", "os.sysctls"]),
        ("a field without an id belongs to the one above", {"os": {"files": [{"path": "/x"}]}}, ["os.files"]),
        (
            "a suffix goes to the nearest id above, over messages without one",
            {"os": {"files": [{"content": {"segments": [{"fact": {"kind": contentpb.FACT_KIND_REGION}}]}}]}},
            ["os.files", "os.files.facts", "os.files.facts.region"],
        ),
        ("an unspecified value is no feature", {"intent": {"role": clusterpb.ROLE_UNSPECIFIED}}, ["kubernetes.role"]),
        (
            "an enum value is a feature besides",
            {"intent": {"role": clusterpb.ROLE_WORKER}},
            ["kubernetes.role", "kubernetes.role.worker"],
        ),
        ("an extension's id is one", {"extensions": [{"id": "a.b/c"}]}, ["ext.a.b/c"]),
        (
            "and it is the nearest one for what the extension holds",
            {"extensions": [{"id": "a.b/c", "content": {"segments": [{"fact": {}}]}}]},
            ["ext.a.b/c", "ext.a.b/c.facts"],
        ),
        ("facts of the machine are not", {"machine": {"name": "m"}, "provenance": {"engine": "x"}}, []),
        (
            "a plan's steps have ids of their own",
            {"plan": {"steps": [{"command": {"argv": ["x"], "retries": 0}}]}},
            ["plan.steps", "plan.steps.command", "plan.steps.command.retries"],
        ),
    ],
)
def test_what_a_use_is(reason: str, bundle: dict[str, Any], expected: list[str]) -> None:
    """The rule in examples."""
    assert [use.id for use in uses(bundlepb.BootstrapBundle(**bundle))] == expected, reason


def test_every_option_in_the_bundle_can_be_reached() -> None:
    """No suffix hangs in the air: each is below an id on every way that leads to it from the bundle's root."""
    loose: list[str] = []

    def walk(descriptor: Any, above: str, path: str, seen: tuple[str, ...]) -> None:
        if descriptor.full_name in seen:
            return
        above = next((one.feature_from_value for one in plan(descriptor).values() if one.feature_from_value), above)
        for field in plan(descriptor).values():
            here = f"{path}.{field.name}"
            suffixes = [
                value_feature
                for value_feature in (field.feature, *field.value_features.values())
                if value_feature.startswith(".")
            ]
            own = field.own_id(above)
            if suffixes and not (own or above):
                loose.append(here)
            if field.message is not None:
                walk(field.message, own or above, here, (*seen, descriptor.full_name))

    walk(bundlepb.BootstrapBundle.DESCRIPTOR, "", "bundle", ())
    # Machine and cluster are facts there; what they ask for is told where the intent repeats them.
    assert loose
    assert all(one.startswith(("bundle.machine.", "bundle.cluster.")) for one in loose)
