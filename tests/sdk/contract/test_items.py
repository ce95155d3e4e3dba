"""The items of a message, and how they are taken out of it."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from slipway.contract.field_plans import is_item
from slipway.contract.items import items, take_all, within
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.sdk.contract.messages import messages

SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@given(spec=messages(specpb.MachineBootstrapSpec))
@SETTINGS
def test_items_are_the_outermost(spec: specpb.MachineBootstrapSpec) -> None:
    """No item lies in another item, and each path leads to its item."""
    outermost = list(items(spec))
    for item in outermost:
        assert is_item(item.message.DESCRIPTOR)
        assert not any(within(item.path, other.path) for other in outermost if other is not item)
        assert _at(spec, item.path) is item.message


def _at(message: Any, path: str) -> Any:
    for part in path.split("."):
        name, _, index = part.rstrip("]").partition("[")
        message = getattr(message, name)
        if index:
            message = message[int(index)]
    return message


def test_taking_items_out() -> None:
    """Exactly the item is gone, the copy stands alone, and what is taken next is still the right one."""
    system = ospb.OperatingSystem(
        files=[ospb.File(path="/a"), ospb.File(path="/b"), ospb.File(path="/b"), ospb.File(path="/c")],
        ntp=ospb.Ntp(enabled=True),
    )
    found = list(items(system))
    taken = [found[1].take(), found[3].take(), found[4].take()]
    assert [file.path for file in system.files] == ["/a", "/b"]
    assert not system.HasField("ntp")
    assert [getattr(one.message, "path", "ntp") for one in taken] == ["/b", "/c", "ntp"]
    assert [one.path for one in taken] == ["os.files[1]".removeprefix("os."), "files[3]", "ntp"]
    taken[0].message.path = "/changed"
    assert [file.path for file in system.files] == ["/a", "/b"]
    with pytest.raises(AssertionError):
        found[1].take()


def test_taking_many_items_out_at_once() -> None:
    """Of several lists, in the order that is asked for; what stays keeps its order, also where it is the same."""
    system = ospb.OperatingSystem(
        files=[ospb.File(path=path) for path in ("/a", "/b", "/a", "/c")],
        links=[ospb.Link(path="/d"), ospb.Link(path="/e")],
        ntp=ospb.Ntp(enabled=True),
    )
    by_path = {item.path: item for item in items(system)}
    asked = ["links[0]", "files[3]", "ntp", "files[0]", "files[1]"]
    taken = take_all([by_path[path] for path in asked])
    assert [one.path for one in taken] == asked
    assert [getattr(one.message, "path", "ntp") for one in taken] == ["/d", "/c", "ntp", "/a", "/b"]
    assert [file.path for file in system.files] == ["/a"]
    assert [link.path for link in system.links] == ["/e"]
    assert by_path["files[2]"].message is system.files[0]
    assert not system.HasField("ntp")


def test_features_of_items() -> None:
    """An item is told by the id of the field that holds it, whether that is absolute or a suffix."""
    bundle = bundlepb.BootstrapBundle(
        commands=planpb.Commands(boot=[planpb.Command(argv=["x"])]), extensions=[specpb.Extension(id="a.b/c")]
    )
    assert [(item.feature, item.path) for item in items(bundle)] == [
        ("os.commands.boot", "commands.boot[0]"),
        ("", "extensions[0]"),
    ]


@pytest.mark.parametrize(
    ("path", "outer", "expected"),
    [("a", "a", True), ("a.b", "a", True), ("a[0]", "a", True), ("ab", "a", False), ("a[10]", "a[1]", False)],
)
def test_within(path: str, outer: str, *, expected: bool) -> None:
    """A common beginning of two names means nothing."""
    assert within(path, outer) == expected
