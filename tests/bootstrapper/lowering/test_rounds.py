"""Rounds of lowering: what passes emit is lowered in turn, until everything is declared."""

from collections.abc import Callable, Iterable, Sequence

import pytest

from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.lowering.legalise import legalise
from slipway.bootstrapper.lowering.passes import Pass, PassTable
from slipway.bootstrapper.lowering.table import all_passes
from slipway.bootstrapper.os_profiles import ProfileTable
from slipway.bootstrapper.problems.problem import Problem
from slipway.contract.items import Item
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tests.bootstrapper.lowering.legalising import LINUX, Format, text, work, written


def entry(rank: str, emits: Iterable[str], lower: Callable[[Sequence[Item], Draft], None]) -> Pass:
    """Make a pass for a feature of Linux."""
    return Pass(f"test.{rank}", rank, LINUX, frozenset(emits), lower)


def to_groups(found: Sequence[Item], draft: Draft) -> None:
    """Turn users into groups."""
    for one in found:
        draft.bundle.os.groups.add(name=one.message.name, origin=one.message.origin)


def to_users(found: Sequence[Item], draft: Draft) -> None:
    """Turn groups into users."""
    for one in found:
        draft.bundle.os.users.add(name=one.message.name, origin=one.message.origin)


def to_files(found: Sequence[Item], draft: Draft) -> None:
    """Turn anything into files."""
    for one in found:
        draft.file(f"/{one.message.name}", b"", source=one.message, by="test")


def give_up_on(name: str) -> Callable[[Sequence[Item], Draft], None]:
    """Make a pass that writes for what comes first, and then gives up on one item."""

    def lower(found: Sequence[Item], draft: Draft) -> None:
        for one in found:
            if one.message.name == name:
                raise CannotLower(one, "no such thing here", remedy="another name")
            draft.file(f"/{one.message.name}", b"", source=one.message, by="test")

    return lower


def test_what_a_pass_emits_is_lowered_in_turn() -> None:
    """Users become groups, and groups files: rounds go on until everything is declared."""
    table = PassTable([entry("os.users", {"os.groups"}, to_groups), entry("os.groups", {"os.files"}, to_files)])
    draft, result = work(text('users { name: "a" }'), Format({"os.files"}, table=table))
    assert result.refusals == []
    assert [(lowered_feature.feature, list(lowered_feature.into)) for lowered_feature in draft.lowered] == [
        ("os.users", ["os.groups"]),
        ("os.groups", ["os.files"]),
    ]
    assert draft.passes == ["test.os.users", "test.os.groups"]


def test_a_table_that_is_no_dag_is_found_out() -> None:
    """Passes that feed each other end in a failure that says so, not in an endless loop."""
    table = PassTable([entry("os.users", {"os.groups"}, to_groups), entry("os.groups", {"os.users"}, to_users)])
    with pytest.raises(AssertionError, match="not a DAG"):
        work(text('users { name: "a" }'), Format({"os.files"}, table=table))


def test_an_item_that_a_pass_gives_up_leaves_no_trace() -> None:
    """The others are lowered once each, by that pass and by all others of the round, and the reason is passed on."""
    table = PassTable([entry("os.groups", {"os.files"}, give_up_on("b")), entry("os.users", {"os.files"}, to_files)])
    system = 'groups { name: "a" } groups { name: "b" } groups { name: "c" } users { name: "u" } users { name: "v" }'
    draft, result = work(text(system), Format({"os.files"}, table=table))
    assert [file.path for file in draft.bundle.os.files] == ["/a", "/c", "/u", "/v"]
    assert [lowered_feature.field_path for lowered_feature in draft.lowered] == [
        "os.groups[0]",
        "os.groups[2]",
        "os.users[0]",
        "os.users[1]",
    ]
    assert result.refusals == [
        Problem("os.groups", "os.groups[1]", "no such thing here", "another name", result.refusals[0].origin)
    ]
    assert result.refusals[0].origin.path == "spec.os.groups[1]"


def test_a_pass_sees_what_the_user_puts_at_a_path() -> None:
    """A file of the user's that is staged in the same round is not overwritten by a pass without a word."""
    system = (
        'systemd_units { name: "x.service" contents: "[Service]" } users { name: "a" }'
        'files { path: "/etc/systemd/system/x.service" owner: "a" }'
    )
    _, result = work(text(system), {"os.files", "plan.entrypoint"})
    assert [refusal.feature for refusal in result.refusals] == ["os.systemd.units"]


def test_only_so_many_items_stay_native_as_are_declared() -> None:
    """A bound on the number of items lowers those beyond it."""
    bundle = text('swaps { path: "/a" size_mib: 1 } swaps { path: "/b" size_mib: 1 }')
    target = clusterpb.Target(os_family=LINUX, distribution="debian")
    draft = Draft(written(bundle), ProfileTable.shipped().find(target), target)
    one = provisionerpb.FeatureSupport(id="os.storage.swap", max_items=1)
    assert legalise(draft, [one], table=all_passes()).refusals == []
    assert [swap.path for swap in draft.bundle.os.swaps] == ["/a"]
