"""What the SDK refuses before and behind a provisioner's render, in the contract's own reasons."""

from collections.abc import Callable

import pytest

from slipway.contract.errors import (
    BundleInvalid,
    BundleTooLarge,
    FeaturesNotComputed,
    SlipwayError,
    UnsupportedFeature,
    UnsupportedFormat,
    UnsupportedTarget,
    UserDataTooLarge,
)
from slipway.sdk import RenderContext, UserData, refuse, testing
from slipway.sdk.limits import check_path_depth
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.sdk.sdk.example import Example, ask


def _append(*, value: bool) -> Callable[[provisionerpb.RenderRequest], object]:
    def change(request: provisionerpb.RenderRequest) -> None:
        request.bundle.os.files[0].append = value

    return change


@pytest.mark.parametrize(
    ("change", "error", "path", "reason"),
    [
        (lambda r: r.bundle.ClearField("features_computed"), FeaturesNotComputed, "features_computed", "sentinel"),
        (lambda r: r.bundle.os.links.add(path="/a"), UnsupportedFeature, "os.links[0]", "found by the own walk"),
        (
            lambda r: r.bundle.required_features.add(id="os.future", paths=["os.future"]),
            UnsupportedFeature,
            "os.future",
            "younger than this program: only the list knows it",
        ),
        (
            lambda r: r.bundle.required_features.add(id="os.future"),
            UnsupportedFeature,
            "required_features",
            "even without a path there is something to show",
        ),
        (_append(value=True), UnsupportedFeature, "os.files[0].append", "outside the declared bounds"),
        (
            lambda r: r.bundle.os.files[0].content.segments.add(secret_ref={"name": "nowhere", "key": "k"}),
            BundleInvalid,
            "os.files[0].content.segments[1].secret_ref",
            "a secret that is not there, which this provisioner does not look for",
        ),
        (
            lambda r: setattr(r.bundle.plan.entrypoint, "execution", 99),
            BundleInvalid,
            "plan.entrypoint.execution",
            "a number that is no value has no feature, and is not guessed",
        ),
        (
            lambda r: setattr(r.bundle.os.files[0].content.segments[0], "encoding", 99),
            BundleInvalid,
            "os.files[0].content.segments[0].encoding",
            "the same, deep within a list",
        ),
        (
            lambda r: r.bundle.plan.entrypoint.argv.extend(["/bin/sh", "a\0b"]),
            BundleInvalid,
            "plan.entrypoint.argv[3]",
            "the program would see only what is before the NUL",
        ),
        (
            lambda r: r.bundle.os.files.append(testing.file("/a" * 65, b"")),
            BundleInvalid,
            "os.files[1].path",
            "the folders above a path cost the square of their number",
        ),
        (lambda r: setattr(r, "format", "example/2"), UnsupportedFormat, "format", "not served"),
        (lambda r: r.target.Clear(), BundleInvalid, "target.os_family", "the target must be resolved"),
        (
            lambda r: setattr(r.target, "os_family", clusterpb.OS_FAMILY_WINDOWS),
            UnsupportedTarget,
            "target.os_family",
            "not served",
        ),
        (
            lambda r: r.bundle.os.files.append(testing.file("/big", bytes(2 * 1024 * 1024))),
            BundleTooLarge,
            "bundle",
            "over 2 MiB",
        ),
    ],
)
def test_requests_that_are_refused(
    change: Callable[[provisionerpb.RenderRequest], object], error: type[SlipwayError], path: str, reason: str
) -> None:
    """Each broken rule has its own error, and names the field."""
    with pytest.raises(error) as caught:
        ask(change=change)
    assert [violation.path for violation in caught.value.violations] == [path], reason


def test_every_path_that_has_folders_is_counted() -> None:
    """Each item that a machine gets at a path is refused when that is too deep, all at once, before any work."""
    deep, allowed = "/a" * 65, "/a" * 64
    system = ospb.OperatingSystem(
        files=[ospb.File(path=deep), ospb.File(path=allowed)],
        directories=[ospb.Directory(path=deep), ospb.Directory(path=allowed)],
        links=[ospb.Link(path=allowed), ospb.Link(path=deep)],
        mounts=[ospb.Mount(path=deep), ospb.Mount(path=allowed)],
        swaps=[ospb.Swap(path=deep), ospb.Swap(path="C:" + "\\a" * 65)],
        users=[ospb.User(home=allowed), ospb.User(home=deep)],
    )
    with pytest.raises(BundleInvalid) as caught:
        check_path_depth(bundlepb.BootstrapBundle(os=system))
    assert {violation.path for violation in caught.value.violations} == {
        "os.files[0].path", "os.directories[0].path", "os.links[1].path", "os.mounts[0].path", "os.swaps[0].path",
        "os.swaps[1].path", "os.users[1].home",
    }  # fmt: skip


def test_unknown_values_of_facts_are_no_refusal() -> None:
    """What is not rendered may be younger than the provisioner: who the machine is, how the plan is carried out."""

    def change(request: provisionerpb.RenderRequest) -> None:
        request.bundle.machine.role = 99  # type: ignore[assignment]
        request.bundle.execution.on_pre_failure = 99  # type: ignore[assignment]

    assert ask(change=change).user_data


def test_a_declared_bound_is_no_refusal() -> None:
    """A value within the declared bounds is taken."""
    assert ask(change=_append(value=False)).user_data


def test_all_refusals_of_a_render_arrive_at_once() -> None:
    """The bootstrapper lowers refused items and calls once more only, so it must learn of all of them."""

    def render(bundle: bundlepb.BootstrapBundle, target: clusterpb.Target, ctx: RenderContext) -> UserData:
        ctx.refuse("os.files[0]", "os.files", "is odd")
        ctx.refuse("os.files[3]", "os.files", "is even")
        return UserData(b"never seen")

    with pytest.raises(UnsupportedFeature) as caught:
        ask(Example(render))
    assert [violation.path for violation in caught.value.violations] == ["os.files[0]", "os.files[3]"]
    assert caught.value.metadata == {"features": "os.files"}


def test_refuse_stops_at_once() -> None:
    """The helper raises the error that the contract has for it."""
    with pytest.raises(UnsupportedFeature) as caught:
        refuse("os.files[0]", "os.files", "is odd", format_id="example/1")
    assert caught.value.violations[0].path == "os.files[0]"


def test_validate_only_refuses_too() -> None:
    """A check has the same verdict as a render: size included."""

    def change(request: provisionerpb.RenderRequest) -> None:
        request.validate_only = True
        request.max_user_data_bytes = 3

    with pytest.raises(UserDataTooLarge):
        ask(change=change)


def test_a_broken_bundle_is_told_from_a_defect() -> None:
    """When render fails on a bundle that breaks its schema, the bundle is to blame; else the exception stays."""

    def render(bundle: bundlepb.BootstrapBundle, target: clusterpb.Target, ctx: RenderContext) -> UserData:
        raise ZeroDivisionError

    with pytest.raises(BundleInvalid) as caught:
        ask(Example(render), lambda request: setattr(request.bundle.os.files[0], "path", "relative"))
    assert [violation.path for violation in caught.value.violations] == ["os.files[0].path"]
    with pytest.raises(ZeroDivisionError):
        ask(Example(render))


def test_dangling_reference_is_named() -> None:
    """A reference to a secret that the bundle does not hold is an error of the bundle, with the path."""

    def render(bundle: bundlepb.BootstrapBundle, target: clusterpb.Target, ctx: RenderContext) -> UserData:
        return UserData(ctx.content(bundle.os.files[0].content, "os.files[0].content"))

    segment = contentpb.Segment(secret_ref=secretpb.SecretReference(name="s", key="k"))
    with pytest.raises(BundleInvalid) as caught:
        ask(Example(render), lambda request: request.bundle.os.files[0].content.segments.append(segment))
    assert caught.value.violations[0].path == "os.files[0].content.segments[1].secret_ref"
