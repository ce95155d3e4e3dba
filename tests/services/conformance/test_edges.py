"""Edges of fields: the signs, lengths, numbers and lists that rules allow, and which item a refusal names."""

import pytest
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest
from google.rpc.status_pb2 import Status

from slipway.conformance.alphabet import SIGNS, is_allowed, numbers, rules_of, texts
from slipway.conformance.answer import Answer
from slipway.conformance.changes import Change, changed, item_path, scalars, value_at
from slipway.conformance.refusal import blamed, wrong
from slipway.conformance.rounds import LEFT_OUT, list_rounds, unset_rounds, value_rounds
from slipway.contract.validation import violations
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb


def _bundle() -> bundlepb.BootstrapBundle:
    bundle = bundlepb.BootstrapBundle()
    bundle.os.hostname.name.value = "worker-1"
    bundle.os.ntp.servers.extend(["a.example.com", "b.example.com"])
    bundle.os.users.add(name="operator", gecos="O. Perator", uid=3000, shell="/bin/sh")
    bundle.os.users.add(name="reader", gecos="R. Eader")
    bundle.os.files.add(path="/var/lib/a", owner="operator", group="operator", mode=0o600)
    return bundle


def _refusal(*fields: str) -> Answer:
    bad = BadRequest(field_violations=[BadRequest.FieldViolation(field=field) for field in fields])
    status = Status(code=3)
    status.details.add().Pack(bad)
    return Answer("INVALID_ARGUMENT", status=status)


@pytest.mark.parametrize(
    ("message", "field", "sign", "wanted", "reason"),
    [
        (ospb.User, "gecos", "~", "~O. Pe~rator~", "in all places at once"),
        (ospb.User, "gecos", "u\u0308", "u\u0308O. Peu\u0308ratoru\u0308", "a letter of two characters"),
        (ospb.User, "name", "-", "O. Pe-rator", "nowhere: the whole text breaks the rules of names"),
    ],
)
def test_signs(message: type[Message], field: str, sign: str, wanted: str, reason: str) -> None:
    """Each sign stands wherever the rules of the field let it stand."""
    rules = rules_of(message.DESCRIPTOR.fields_by_name[field])
    made = list(texts(rules, "O. Perator", signs=(sign,)))
    assert (wanted in made) == (field == "gecos"), reason
    assert all(is_allowed(rules, text) for text in made)


def test_numbers() -> None:
    """The least and the most that the rules allow are among them, and what a byte cannot hold."""
    assert {0, 255, 256} <= set(numbers(ospb.User.DESCRIPTOR.fields_by_name["uid"]))


def test_rounds_keep_the_rules() -> None:
    """In each round every field of the bundle has another value, until it has none left; no rule is broken."""
    bundle = _bundle()
    known = {fault.path for fault in violations(bundle)}
    rounds = list(value_rounds(bundle, set()))
    assert len(rounds[0]) >= 8
    assert len(rounds) >= len(SIGNS) // 2
    for changes in rounds:
        other = changed(bundle, changes)
        assert {fault.path for fault in violations(other)} <= known
        assert all(value_at(other, change.path) == change.value for change in changes)


def test_fields_are_tried_once() -> None:
    """What another request has had is left out."""
    tried: set[str] = set()
    assert list(value_rounds(_bundle(), tried))
    assert list(value_rounds(_bundle(), tried)) == []


def test_lists() -> None:
    """Lists of texts have two entries, three in another order, twelve, and one."""
    lists = [change.value for changes in list_rounds(_bundle(), set()) for change in changes]
    assert [len(entries) for entries in lists] == [2, 3, 12, 1]
    assert lists[1] != sorted(lists[1])


def test_all_but_one() -> None:
    """Each item lacks each of its fields once."""
    paths = [change.path for changes in unset_rounds(_bundle()) for change in changes]
    assert {f"os.users[0].{name}" for name in ("gecos", "uid", "shell")} <= set(paths)
    assert len(paths) == len(set(paths))
    assert changed(_bundle(), [Change("os.users[0].shell", None)]).os.users[0].HasField("shell") is False


def test_what_is_taken_away_hides_no_other_change() -> None:
    """A field in a list that a round takes away is taken away in another round, where the list is there."""
    bundle = bundlepb.BootstrapBundle()
    bundle.os.containerd.sandbox_image = "pause:3"
    registry = bundle.os.containerd.registries.add(host="a.example.com")
    registry.endpoints.add(url="https://b.example.com")
    registry.credentials.username = "a"
    rounds = [[change.path for change in changes] for changes in unset_rounds(bundle)]
    assert ["os.containerd.registries"] in rounds
    with_list = [paths for paths in rounds if "os.containerd.registries" not in paths]
    assert {path for paths in with_list for path in paths} >= {
        "os.containerd.registries[0].endpoints", "os.containerd.registries[0].credentials",
    }  # fmt: skip


def test_an_account_that_is_renamed() -> None:
    """What refers to it changes, too, and a change in what another one has taken away has no effect."""
    other = changed(_bundle(), [Change("os.users[0].name", "other")])
    assert other.os.files[0].owner == "other"
    assert not changed(_bundle(), [Change("os.users", None), Change("os.users[0].uid", 1)]).os.users


def test_paths() -> None:
    """An item is found by a path in it, and what is left out is not looked into."""
    assert item_path(_bundle(), "os.users[1].gecos") == "os.users[1]"
    assert item_path(_bundle(), "os.unheard_of[1].x") == "os.unheard_of[1].x"
    assert "os.files[0].owner" not in [path for path, _, _ in scalars(_bundle(), LEFT_OUT)]


@pytest.mark.parametrize(
    ("fields", "right", "reason"),
    [
        (("os.users[1].gecos",), True, "the field"),
        (("os.users[1]",), True, "its item"),
        (("os.users[0].gecos",), False, "an item that has not changed"),
        (("os.users[2].gecos",), False, "an item that is not there"),
        ((), False, "nothing"),
    ],
)
def test_a_refusal_names_what_has_changed(fields: tuple[str, ...], right: bool, reason: str) -> None:
    """The item whose field has another value than before is to blame, and no other one."""
    before = _bundle()
    request = provisionerpb.RenderRequest(bundle=changed(before, [Change("os.users[1].gecos", "x y z")]))
    assert (wrong(request, before, _refusal(*fields)) == "") == right, reason


def test_a_refusal_may_name_what_clashes() -> None:
    """An item that says what the changed one says, or has said, is to blame as well."""
    before = _bundle()
    before.os.links.add(path="/var/lib/a")
    request = provisionerpb.RenderRequest(bundle=changed(before, [Change("os.files[0].path", "/var/lib/b")]))
    assert wrong(request, before, _refusal("os.links[0]")) == ""
    assert blamed(["os.files[0].path", "os.users[0].uid"], request.bundle, _refusal("os.files[0]")) == {
        "os.files[0].path"
    }
