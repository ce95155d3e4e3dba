"""What the SDK does around a provisioner's render: every check of the contract, the same in every mode."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from slipway.contract.errors import (
    AttachmentsNotAccepted,
    BundleInvalid,
    BundleTooLarge,
    FeaturesNotComputed,
    SlipwayError,
    UnsupportedFeature,
    UnsupportedFormat,
    UnsupportedTarget,
    UserDataTooLarge,
)
from slipway.sdk import Provisioner, ProvisionerCore, RenderContext, UserData, in_process, refuse, testing
from slipway.sdk.limits import check_path_depth
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb

Render = Callable[[bundlepb.BootstrapBundle, clusterpb.Target, RenderContext], UserData]


class Example:
    """A provisioner that a test makes up: by default it only counts the files."""

    name = "example"
    version = "1.2.3"
    documentation_url = ""

    def __init__(self, render: Render | None = None, *, emits_attachments: bool = False) -> None:
        self._render = render
        self._emits_attachments = emits_attachments

    def formats(self) -> Sequence[provisionerpb.FormatInfo]:
        return [
            provisionerpb.FormatInfo(
                format="example/1",
                media_type="text/x-example",
                kubernetes_input=provisionerpb.KUBERNETES_INPUT_PLAN,
                features=[
                    provisionerpb.FeatureSupport(id="os.files"),
                    provisionerpb.FeatureSupport(id="os.files.append", allowed_values=["false"]),
                    provisionerpb.FeatureSupport(id="plan.entrypoint"),
                ],
                default_target=clusterpb.Target(os_family=clusterpb.OS_FAMILY_LINUX),
                os_families=[clusterpb.OS_FAMILY_LINUX],
                emits_attachments=self._emits_attachments,
            )
        ]

    def render(self, bundle: bundlepb.BootstrapBundle, target: clusterpb.Target, ctx: RenderContext) -> UserData:
        if self._render:
            return self._render(bundle, target, ctx)
        return UserData(b"files: %d" % len(bundle.os.files))


def ask(
    provisioner: Provisioner | None = None,
    change: Callable[[provisionerpb.RenderRequest], object] = lambda request: None,
) -> provisionerpb.RenderResponse:
    """Render a small bundle after `change` has been made to the request."""
    provisioner = provisioner or Example()
    request = testing.request(provisioner, testing.bundle(ospb.OperatingSystem(files=[testing.file("/etc/a", b"x")])))
    change(request)
    return ProvisionerCore(provisioner).render_now(request)


def test_answer_carries_what_the_caller_checks() -> None:
    """Tag, format, media type, hash and version are there without the author doing anything."""
    response = ask()
    assert response.user_data == b"files: 1"
    assert response.sha256 == hashlib.sha256(b"files: 1").digest()
    assert (response.request_tag, response.format, response.media_type, response.implementation_version) == (
        "tag-1",
        "example/1",
        "text/x-example",
        "1.2.3",
    )
    assert not response.HasField("expire_time")


def test_info_tells_the_formats() -> None:
    """GetProvisionerInfo says who it is, that features are told, and gives each format as declared."""
    info = asyncio.run(in_process(Example()).get_info())
    assert (info.name, info.implementation_version, info.features_advertised) == ("example", "1.2.3", True)
    assert [entry.format for entry in info.formats] == ["example/1"]


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


def test_validate_only_gives_the_verdict_without_the_data() -> None:
    """The same path is gone through, and nothing secret leaves."""

    def render(bundle: bundlepb.BootstrapBundle, target: clusterpb.Target, ctx: RenderContext) -> UserData:
        ctx.remark("SOMETHING", "is worth saying", path="os.files[0]")
        return UserData(b"data", (provisionerpb.Attachment(name="a", content=b"b"),))

    def change(request: provisionerpb.RenderRequest) -> None:
        request.validate_only = True
        request.accept_attachments = True

    response = ask(Example(render, emits_attachments=True), change)
    assert not response.user_data
    assert not response.sha256
    assert not response.attachments
    assert [(d.code, d.field_path, d.severity) for d in response.diagnostics] == [
        ("SOMETHING", "os.files[0]", diagnosticpb.SEVERITY_WARNING)
    ]


def test_validate_only_refuses_too() -> None:
    """A check has the same verdict as a render: size included."""

    def change(request: provisionerpb.RenderRequest) -> None:
        request.validate_only = True
        request.max_user_data_bytes = 3

    with pytest.raises(UserDataTooLarge):
        ask(change=change)


def test_too_large_user_data_is_explained_by_origin() -> None:
    """The person learns size, limit, and which of their lines are the largest; a secret counts where it is used."""
    files = [testing.file("/a", b"x" * 10), testing.file("/b", b"x" * 30), testing.file("/c", b"")]
    files[1].origin.path = "spec.files[7]"
    files[2].content.segments.add(secret_ref=secretpb.SecretReference(name="s", key="k"))
    provisioner = Example(lambda bundle, target, ctx: UserData(b"x" * 41))
    of = testing.bundle(ospb.OperatingSystem(files=files), secrets=[testing.secret("s", "k", b"y" * 20)])
    request = testing.request(provisioner, of)
    request.max_user_data_bytes = 40
    with pytest.raises(UserDataTooLarge) as caught:
        ProvisionerCore(provisioner).render_now(request)
    assert caught.value.metadata == {
        "size": "41",
        "limit": "40",
        "breakdown": "spec.files[7]=30,os.files[2]=20,os.files[0]=10",
    }


def test_default_limit_is_one_mebibyte() -> None:
    """Without a limit of the caller's the contract's own holds, to the byte."""
    largest = 1024 * 1024
    assert len(ask(Example(lambda bundle, target, ctx: UserData(bytes(largest)))).user_data) == largest
    with pytest.raises(UserDataTooLarge):
        ask(Example(lambda bundle, target, ctx: UserData(bytes(largest + 1))))


@pytest.mark.parametrize(
    ("operator_only", "accept", "refused", "reason"),
    [
        (False, True, False, "the caller can place it"),
        (False, False, True, "the machine needs it and the caller cannot place it"),
        (True, False, False, "the caller may drop what is for the operator"),
    ],
)
def test_attachments(*, operator_only: bool, accept: bool, refused: bool, reason: str) -> None:
    """Attachments are hashed, and refused when the machine needs them and the caller cannot place them."""
    attachment = provisionerpb.Attachment(name="setup.ps1", content=b"b", operator_only=operator_only)
    provisioner = Example(lambda bundle, target, ctx: UserData(b"a", (attachment,)), emits_attachments=True)
    change = lambda request: setattr(request, "accept_attachments", accept)  # noqa: E731  # one use
    if refused:
        with pytest.raises(AttachmentsNotAccepted) as caught:
            ask(provisioner, change)
        assert caught.value.metadata == {"attachments": "setup.ps1"}, reason
    else:
        assert ask(provisioner, change).attachments[0].sha256 == hashlib.sha256(b"b").digest(), reason


def test_undeclared_attachments_are_a_defect() -> None:
    """A format that says it makes none must not make one: the caller relies on it."""
    attachment = provisionerpb.Attachment(name="a", content=b"b")
    with pytest.raises(AssertionError):
        ask(Example(lambda bundle, target, ctx: UserData(b"a", (attachment,))))


def test_expiry_is_the_earliest_of_all_secrets() -> None:
    """A machine is of no use once the first of its secrets has expired."""

    def change(request: provisionerpb.RenderRequest) -> None:
        for key, seconds in (("a", 50), ("b", 20), ("c", 90)):
            request.bundle.secrets.secrets.add(name="s", key=key, expire_time=Timestamp(seconds=seconds))
        request.bundle.secrets.secrets.add(name="s", key="never")

    assert ask(change=change).expire_time.seconds == 20


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


def test_large_bundles_are_rendered_beside_the_loop() -> None:
    """A long render must not keep health checks waiting: it runs in another thread, with the same answer."""
    threads = []

    def render(bundle: bundlepb.BootstrapBundle, target: clusterpb.Target, ctx: RenderContext) -> UserData:
        import threading

        threads.append(threading.current_thread() is threading.main_thread())
        return UserData(b"a")

    provisioner = Example(render)
    core = in_process(provisioner)
    for size in (10, 1024 * 1024):
        of = testing.bundle(ospb.OperatingSystem(files=[testing.file("/a", bytes(size))]))
        assert asyncio.run(core.render(testing.request(provisioner, of))).user_data == b"a"
    assert threads == [True, False]


def test_user_data_hides_its_bytes() -> None:
    """Whoever prints the author's result by mistake must not print secrets."""
    assert "s3cret" not in repr(UserData(b"s3cret", (provisionerpb.Attachment(content=b"s3cret"),)))


@pytest.mark.parametrize("formats", [[], ["a", "a"]])
def test_formats_must_be_there_and_distinct(formats: list[str]) -> None:
    """A provisioner with no format, or the same twice, cannot be started."""

    class Wrong(Example):
        def formats(self) -> Sequence[provisionerpb.FormatInfo]:
            return [provisionerpb.FormatInfo(format=name) for name in formats]

    with pytest.raises(ValueError, match="format"):
        ProvisionerCore(Wrong())
