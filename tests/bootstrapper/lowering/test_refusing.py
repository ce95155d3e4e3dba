"""What cannot be honoured is refused: all of it at once, in the words of whoever knows why."""

from typing import Any

import pytest

from slipway.contract.errors import Violation
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb
from tests.bootstrapper.lowering.legalising import EVERYTHING_BUT, ROOTS, Format, text, work


def test_every_refusal_is_found_at_once() -> None:
    """Nobody wants to correct a spec one refusal at a time."""
    bundle = text('disks { device: "/dev/b" } kernel_arguments { argument: "a" } kernel_arguments { argument: "b" }')
    bundle.extensions.add(id="elsewhere.example.com/x")
    _, result = work(bundle, Format({"plan.entrypoint", "os.files"}, "windows"))
    assert [(refusal.feature, refusal.path) for refusal in result.refusals] == [
        ("os.storage.disks", "os.disks[0]"),
        ("os.kernel.arguments", "os.kernel_arguments[0]"),
        ("os.kernel.arguments", "os.kernel_arguments[1]"),
        ("ext.elsewhere.example.com/x", "extensions[0]"),
    ]


def test_every_part_of_an_item_that_nobody_honours_is_told() -> None:
    """At once, each with its own remedy: not the next one only when the first is repaired."""
    system = 'filesystems { device: "/dev/a" format: "ext4" options: "-q" options: "-v" label: "x" }'
    _, result = work(text(system), Format(EVERYTHING_BUT, "windows"))
    assert [refusal.remedy for refusal in result.refusals] == ["leave out label", "leave out options"]


@pytest.mark.parametrize(
    ("wanted", "declares", "refused", "stays"),
    [
        (ospb.DEFAULT_USER_KEEP, set(), [], False),
        (ospb.DEFAULT_USER_OMIT, set(), ["os.default_user.omit"], False),
        (ospb.DEFAULT_USER_OMIT, {"os.default_user", "os.default_user.omit"}, [], True),
    ],
)
def test_the_distributions_user(wanted: Any, declares: set[str], refused: list[str], *, stays: bool) -> None:
    """Keeping it needs nobody's help; leaving it out cannot be done after the fact."""
    draft, result = work(bundlepb.BootstrapBundle(os=ospb.OperatingSystem(default_user=wanted)), declares)
    assert [refusal.feature for refusal in result.refusals] == refused
    assert draft.bundle.os.HasField("default_user") == stays


def test_what_render_refuses_is_lowered_with_what_depends_on_it() -> None:
    """A field below an item stands for the item."""
    system = f'users {{ name: "ann" }} files {{ path: "/a" owner: "ann" group: "ann" }} files {{ path: "/b" {ROOTS} }}'
    draft, result = work(
        text(system), Format(EVERYTHING_BUT, rejected=[Violation("os.users[0].gecos", "no colon, please")])
    )
    assert result.refusals == []
    assert [lowered_feature.field_path for lowered_feature in draft.lowered] == ["os.files[0]", "os.users[0]"]
    assert [file.path for file in draft.bundle.os.files] == ["/b"]


def test_what_render_refuses_and_no_pass_takes_is_refused_in_the_provisioners_words() -> None:
    """The user learns the true reason, not that something was not supported."""
    _, result = work(
        text('disks { device: "/dev/b" }'),
        Format(EVERYTHING_BUT, "windows", rejected=[Violation("os.disks[0]", "more than 100 percent")]),
    )
    (refusal,) = result.refusals
    assert refusal.feature == "os.storage.disks"
    assert refusal.reason.startswith("more than 100 percent")
    assert refusal.origin.path == "spec.os.disks[0]"


def test_each_thing_that_render_refuses_in_an_item_is_told() -> None:
    """A node has no feature of its own: what was refused in it has, and each of it has a reason."""
    node = "intent.kubernetes.node"
    said = [
        Violation(f"{node}.labels[1]", "is a label that nobody may give itself", "kubernetes.node.labels", "drop it"),
        Violation(f"{node}.kubelet_arguments[0]", "is unknown", "kubernetes.node.kubelet_arguments"),
    ]
    bundle = bundlepb.BootstrapBundle()
    bundle.intent.kubernetes.node.labels.add(name="a")
    labels = "kubernetes.node.labels"
    _, result = work(bundle, Format([*EVERYTHING_BUT, labels], rejected=said, optional=[labels]))
    assert [(refusal.feature, refusal.remedy) for refusal in result.refusals] == [
        ("kubernetes.node.labels", "drop it"),
        ("kubernetes.node.kubelet_arguments", "change kubeletArguments[0], or leave it out"),
    ]
    assert result.refusals[1].reason.startswith("kubeletArguments[0] is unknown")
    assert result.omitted == []
