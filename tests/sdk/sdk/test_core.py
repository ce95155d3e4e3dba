"""What the SDK does around a provisioner's render: every check of the contract, the same in every mode."""

import asyncio
import hashlib
from collections.abc import Sequence

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from slipway.contract.errors import (
    AttachmentsNotAccepted,
    UserDataTooLarge,
)
from slipway.sdk import ProvisionerCore, RenderContext, UserData, in_process, testing
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.sdk.sdk.example import Example, ask


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
