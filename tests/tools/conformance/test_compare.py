"""What the suite calls different: missing, other, out of order, more than was asked for; and what it can not tell."""

import pytest
from google.protobuf.json_format import ParseDict

from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tools.conformance.compare import compare
from tools.conformance.decoders.reading import Reading
from tools.conformance.field_paths import names_item
from tools.conformance.figures import Load

_BOOT = [{"argv": ["/bin/echo", word]} for word in ("first", "second")]


def _bundle(**of: object) -> bundlepb.BootstrapBundle:
    return ParseDict(of, bundlepb.BootstrapBundle())


def _state(*features: str, **of: object) -> statepb.MachineState:
    return ParseDict({**of, "features": features}, statepb.MachineState())


@pytest.mark.parametrize(
    ("bundle", "state", "problem", "reason"),
    [
        ({"users": [{"name": "a"}]}, {"users": [{"name": "a"}]}, "", "as it was asked for"),
        ({"users": [{"name": "a"}]}, {"users": []}, "os.users[0]", "somebody is missing"),
        ({"users": [{"name": "a"}]}, {"users": [{"name": "a"}, {"name": "b"}]}, "a user is", "somebody besides"),
        ({"users": [{"name": "a"}]}, {"users": [{"name": "a", "sudo": ["ALL"]}]}, "`sudo`", "more than was asked for"),
        (
            {"users": [{"name": "a", "lockPassword": True}]},
            {"users": [{"name": "a", "lockPassword": True, "passwordHash": {"value": "!*"}}]},
            "", "a password that locks gives nothing",
        ),
    ],
)  # fmt: skip
def test_users(bundle: dict, state: dict, problem: str, reason: str) -> None:
    """Whoever is not there, is there besides, or may do more than the bundle says."""
    seen = ("os.users", "os.users.sudo", "os.users.lock_password")
    found = compare(_bundle(os=bundle), Reading(_state(*seen, os=state)), windows=False)
    assert bool(found.problems) == bool(problem), reason
    assert problem in " ".join(found.problems), reason


@pytest.mark.parametrize(
    ("programs", "holds", "reason"),
    [
        (_BOOT, True, "in their order"),
        ([_BOOT[0], {"argv": ["/bin/true"]}, _BOOT[1]], True, "with something in between"),
        (_BOOT[::-1], False, "the other way round"),
    ],
)
def test_order_of_commands(programs: list, holds: bool, reason: str) -> None:  # a column of the table
    """Commands are run in their order, or it is no fulfilment."""
    state = _state("os.commands", "os.commands.boot", programs=programs)
    found = compare(_bundle(commands={"boot": _BOOT}), Reading(state), windows=False)
    assert (not found.problems) == holds, reason


def test_what_a_decoder_can_not_say_is_unverified() -> None:
    """A decoder of one's own has no place for a control plane: whatever it claims, nothing is right or wrong there."""
    feature = "kubernetes.control_plane.api_server_sans"
    plane = {"apiServerSans": ["api.example.org"]}
    bundle = _bundle(intent={"role": "ROLE_CONTROL_PLANE", "kubernetes": {"controlPlane": plane}})
    found = compare(bundle, Reading(_state(feature, "kubernetes.control_plane")), windows=False)
    assert feature in found.unverified
    assert not found.failed & {feature, "kubernetes.control_plane"}


@pytest.mark.parametrize(
    ("path", "leads", "reason"),
    [
        ("os.files[1].mode", True, "a field of an item"),
        ("os.files[1]", True, "an item"),
        ("os.users[0].groups", True, "a list of words belongs to its item"),
        ("target.os_family", True, "a field of the request"),
        ("os.files", False, "a list of items"),
        ("os.files[2].mode", False, "an item that is not there"),
        ("os.file[0]", False, "no field"),
        ("", False, "nothing"),
    ],
)
def test_field_paths(path: str, leads: bool, reason: str) -> None:  # a column of the table
    """A path leads to something in the request, or it helps nobody."""
    system = {"files": [{"path": "/a"}, {"path": "/b"}], "users": [{"name": "a", "groups": ["b"]}]}
    request = provisionerpb.RenderRequest(bundle=_bundle(os=system))
    request.target.os_family = 1
    assert names_item(request, path) == leads, reason


def test_figures() -> None:
    """Rate, middle and the slowest of a hundred, in one line."""
    load = Load("all formats", [0.001] * 98 + [0.5, 0.5], 2.0)
    assert (load.rate, load.quantile(0.5), load.quantile(0.99)) == (50.0, 0.001, 0.5)
    assert str(load) == "all formats: 100 renders, 50 a second, p50 1.0 ms, p99 500.0 ms"
    assert Load("nothing", [], 0.0).rate == 0.0
