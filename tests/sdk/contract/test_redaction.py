"""Tests of redaction: what is marked goes, whatever is not known goes, everything else stays."""

from typing import Any

import pytest
from google.protobuf import unknown_fields
from hypothesis import HealthCheck, given, settings

from slipway.contract.field_plans import plan
from slipway.contract.redaction import redacted, redacted_with_sizes
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.sdk.contract.messages import messages

TYPES = [
    bundlepb.BootstrapBundle,
    bootstrappb.GetUserDataRequest,
    bootstrappb.GetUserDataResponse,
    bootstrappb.ImportKubeadmConfigRequest,
    provisionerpb.RenderRequest,
    provisionerpb.RenderResponse,
]


def leaves(message: Any, path: str = "", *, marked: bool = False) -> list[tuple[str, bool, Any]]:
    """Give every value that is set, and whether it or something around it is marked."""
    found = []
    for field, value in message.ListFields():
        here = marked or field.GetOptions().debug_redact
        for index, entry in enumerate(value if field.is_repeated else [value]):
            where = f"{path}.{field.name}[{index}]"
            if field.message_type is not None:
                found += [(where, here, None), *leaves(entry, where, marked=here)]
            else:
                found.append((where, here, entry))
    return found


@pytest.mark.parametrize("cls", TYPES)
def test_exactly_what_is_marked_goes(cls: Any) -> None:
    """Every unmarked value is still there and unchanged, and no marked one is; the original is left alone."""

    @given(message=messages(cls))
    @settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
    def holds(message: Any) -> None:
        before = message.SerializeToString(deterministic=True)
        wanted = [(path, value) for path, marked, value in leaves(message) if not marked]
        assert [(path, value) for path, _, value in leaves(redacted(message))] == wanted
        assert message.SerializeToString(deterministic=True) == before

    holds()


@pytest.mark.parametrize("cls", TYPES)
def test_sizes_take_the_place_of_values(cls: Any) -> None:
    """What is set is seen to be set, and only its size is told."""

    @given(message=messages(cls))
    @settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
    def holds(message: Any) -> None:
        shown = {path: value for path, marked, value in leaves(redacted_with_sizes(message)) if marked}
        for path, marked, value in leaves(message):
            if marked:
                size = len(value.encode() if isinstance(value, str) else value)
                assert shown[path] == (f"<{size} bytes>" if isinstance(value, str) else f"<{size} bytes>".encode())

    holds()


def test_unknown_fields_go() -> None:
    """They come from a younger contract, and nobody here can tell whether they are secret."""
    known = provisionerpb.Attachment(name="n").SerializeToString()
    shown = provisionerpb.Attachment.FromString(known + b"\xfa\x7f\x0atop-secret")
    assert len(unknown_fields.UnknownFieldSet(shown)) > 0
    copy = redacted(shown)
    assert len(unknown_fields.UnknownFieldSet(copy)) == 0
    assert b"top-secret" not in copy.SerializeToString()


def test_presence_and_oneofs_stay_sound() -> None:
    """A set empty message stays set; a member of a oneof that is taken out leaves the oneof unset."""
    content = contentpb.Content(text="x")
    assert redacted(content).WhichOneof("source") is None
    assert redacted_with_sizes(content).text == "<1 bytes>"
    bundle = bundlepb.BootstrapBundle()
    bundle.os.ntp.SetInParent()
    assert redacted(bundle).os.HasField("ntp")


def test_marks_are_read_from_the_descriptors() -> None:
    """The test above proves nothing if nothing is marked."""
    assert plan(secretpb.Secret.DESCRIPTOR)[4].redact
    assert plan(contentpb.Content.DESCRIPTOR)[1].redact
    assert not plan(secretpb.Secret.DESCRIPTOR)[1].redact
