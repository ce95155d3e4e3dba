"""Optional fields of items are left out, whoever finds out that they cannot be done; what can be done never is."""

from collections.abc import Sequence

import pytest

from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.lowering.passes import Pass, PassTable
from slipway.contract.errors import Violation
from slipway.contract.items import Item
from tests.bootstrapper.lowering.legalising import LINUX, Format, text, work

DECLARED = {"os.files", "os.groups", "os.users", "plan.entrypoint"}


def impossible(found: Sequence[Item], draft: Draft) -> None:
    """Lower nothing: as on a distribution of which nobody has looked it up."""
    del draft
    raise CannotLower(found[0], "there is no program for it", remedy="bring one")


NO_USERS = PassTable([Pass("test.users", "os.users", LINUX, frozenset({"os.files"}), impossible)])


def test_what_a_pass_can_not_do_is_left_out() -> None:
    """Sudo means nothing on Windows: the user is made without it, and the answer can tell where it stood and why."""
    draft, result = work(
        text('users { name: "ann" sudo: "ALL" sudo: "b" }'), Format(DECLARED, "windows", optional=["os.users.sudo"])
    )
    assert result.refusals == []
    assert [(problem.feature, problem.path, problem.origin.path, problem.reason) for problem in result.omitted] == [
        ("os.users.sudo", f"os.users[0].sudo[{number}]", "spec.os.users[0]", "Windows has no sudo") for number in (0, 1)
    ]
    assert [lowered_feature.feature for lowered_feature in draft.lowered] == ["os.users"]


def test_what_a_pass_can_do_is_done() -> None:
    """An optional field that the format lacks and the pass has is no reason to leave it out; nor is its neighbour."""
    system = 'users { name: "ann" uid: 5 sudo: "a\\\\" } users { name: "bob" uid: 6 }'
    draft, result = work(text(system), Format(DECLARED, optional=["os.users.sudo", "os.users.uid"]))
    assert result.refusals == []
    assert [problem.path for problem in result.omitted] == ["os.users[0].sudo[0]"]
    assert len(draft.lowered) == 2
    script = b"".join(part.data for step in draft.prepared for part in step.command.script.segments)
    script = script or draft.prepared[0].command.script.data or draft.prepared[0].command.script.text.encode()
    assert b"5" in script
    assert b"6" in script


def test_an_item_is_native_without_its_optional_field_where_no_pass_can_do_it() -> None:
    """The pass is of no use on this distribution, and the format takes all but the optional field."""
    draft, result = work(
        text('users { name: "a" uid: 5 }'), Format(DECLARED, optional=["os.users.uid"], table=NO_USERS)
    )
    assert result.refusals == []
    assert [problem.path for problem in result.omitted] == ["os.users[0].uid"]
    (user,) = draft.bundle.os.users
    assert (user.name, user.HasField("uid")) == ("a", False)
    assert draft.lowered == []


def test_a_further_field_that_is_not_optional_refuses_the_item() -> None:
    """It is told alone: who repairs it has repaired the machine."""
    system = 'users { name: "ann" uid: 5 sudo: "ALL" }'
    _, result = work(text(system), Format(DECLARED, "windows", optional=["os.users.sudo"]))
    assert [refusal.reason for refusal in result.refusals] == ["uid of a user means nothing on Windows"]
    assert result.omitted == []
    _, result = work(text(system), Format(DECLARED, optional=["os.users.sudo"], table=NO_USERS))
    assert [refusal.feature for refusal in result.refusals] == ["os.users"]
    assert result.omitted == []


def test_all_that_windows_can_not_mean_is_told_at_once() -> None:
    """Of every user and group, each field with what to do about it."""
    system = 'users { name: "ann" uid: 5 shell: "/x" sudo: "b" } groups { name: "team" gid: 1 system: true }'
    _, result = work(text(system), Format(["os.files", "plan.entrypoint"], "windows"))
    assert [(refusal.path, refusal.remedy) for refusal in result.refusals] == [
        ("os.groups[0]", "drop gid"),
        ("os.groups[0]", "drop system"),
        ("os.users[0]", "drop shell"),
        ("os.users[0]", "drop uid"),
        ("os.users[0]", "add Administrators to groups in its place"),
    ]


@pytest.mark.parametrize(
    ("path", "feature", "left_out", "reason"),
    [
        ("os.users[0].uid", "os.users.uid", True, "the field has the feature"),
        ("os.users[0].name", "os.users.uid", False, "a field of another feature is not taken out on anybody's word"),
        ("os.users[0]", "os.users", False, "the item as a whole is not optional"),
    ],
)
def test_what_a_provisioner_refuses_within_an_item(path: str, feature: str, reason: str, *, left_out: bool) -> None:
    """Optional means the same whoever finds out that it cannot be done."""
    declared = [*DECLARED, "os.users.uid"]
    said = [Violation(path, "not today", feature, "wait")]
    table = PassTable(()) if left_out else NO_USERS
    draft, result = work(
        text('users { name: "a" uid: 5 }'), Format(declared, optional=["os.users.uid"], table=table, rejected=said)
    )
    assert [(problem.path, problem.reason, problem.remedy) for problem in result.omitted] == (
        [(path, "not today", "wait")] if left_out else []
    ), reason
    assert bool(result.refusals) is not left_out, reason
    assert [user.name for user in draft.bundle.os.users] == (["a"] if left_out else []), reason


def test_what_is_refused_of_a_list_goes_in_whatever_order_it_was_said() -> None:
    """A provisioner tells its refusals in the order that it likes: no neighbour is lost, and none stays."""
    said = [Violation(f"os.users[0].sudo[{index}]", "not today", "os.users.sudo", "wait") for index in (1, 0)]
    draft, result = work(
        text('users { name: "a" sudo: "one" sudo: "two" sudo: "three" }'),
        Format([*DECLARED, "os.users.sudo"], optional=["os.users.sudo"], table=PassTable(()), rejected=said),
    )
    assert result.refusals == []
    assert [list(user.sudo) for user in draft.bundle.os.users] == [["three"]]
    assert [problem.path for problem in result.omitted] == ["os.users[0].sudo[1]", "os.users[0].sudo[0]"]


def test_what_two_have_found_is_told_once() -> None:
    """The format does not declare the field, and the provisioner refuses it besides."""
    said = [Violation("os.users[0].sudo[0]", "not today", "os.users.sudo", "wait")]
    system = 'users { name: "a" sudo: "one" sudo: "two" }'
    draft, result = work(text(system), Format(DECLARED, optional=["os.users.sudo"], table=PassTable(()), rejected=said))
    assert [list(user.sudo) for user in draft.bundle.os.users] == [[]]
    assert [problem.path for problem in result.omitted] == ["os.users[0].sudo[0]", "os.users[0].sudo[1]"]
