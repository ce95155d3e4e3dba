"""Tests of contents: from what a person wrote, over segments, to the bytes on the machine."""

import base64
import itertools
import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from slipway.contract.content import SecretIndex, content_bytes, json_string, literal, normal_segments, splice
from slipway.contract.errors import BundleInvalid
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.sdk.contract.messages import TEXTS, messages

REFERENCE = secretpb.SecretReference(name="s", key="k")
SECRETS = SecretIndex(secretpb.SecretMaterial(secrets=[secretpb.Secret(name="s", key="k", value=b'pa"ss')]))
FACT = contentpb.MachineFact(kind=contentpb.FACT_KIND_REGION)


@given(data=st.binary())
def test_literals_arrive_as_they_are(data: bytes) -> None:
    """Every byte value, and nothing at all, whether written as data or made into a literal."""
    assert content_bytes(literal(data), SECRETS) == data
    assert content_bytes(contentpb.Content(data=data), SECRETS) == data
    assert len(literal(data).segments) == bool(data)


@given(content=messages(contentpb.Content))
def test_the_normal_form_means_the_same(content: contentpb.Content) -> None:
    """Only data, references, facts and templates are left, no two literals stand side by side, none is empty."""
    segments = normal_segments(content)
    kinds = [segment.WhichOneof("value") for segment in segments]
    assert "text" not in kinds
    assert all(pair != ("data", "data") for pair in itertools.pairwise(kinds))
    assert all(segment.data for segment, kind in zip(segments, kinds, strict=True) if kind == "data")
    assert normal_segments(contentpb.Content(segments=segments)) == segments
    if not set(kinds) - {"data"} and content.WhichOneof("source") != "config_map_ref":
        assert content_bytes(contentpb.Content(segments=segments), SECRETS) == content_bytes(content, SECRETS)


def test_a_config_map_is_never_an_empty_file() -> None:
    """A bundle refers to none; what does so by mistake is an error, with its path."""
    content = contentpb.Content(config_map_ref=contentpb.ConfigMapReference(name="a", key="b"))
    with pytest.raises(BundleInvalid) as caught:
        content_bytes(content, SECRETS, path="os.files[0].content")
    assert [violation.path for violation in caught.value.violations] == ["os.files[0].content.config_map_ref"]


def test_literals_are_always_raw() -> None:
    """An encoding beside a literal changes nothing, so joining literals cannot change them either."""
    one = contentpb.Segment(data=b"a", encoding=contentpb.SPLICE_ENCODING_BASE64)
    two = contentpb.Segment(text="b", encoding=contentpb.SPLICE_ENCODING_JSON_STRING)
    content = contentpb.Content(segments=[one, two])
    assert normal_segments(content) == [contentpb.Segment(data=b"ab")]
    assert content_bytes(content, SECRETS) == b"ab"


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        (contentpb.SPLICE_ENCODING_UNSPECIFIED, b'pa"ss'),
        (contentpb.SPLICE_ENCODING_RAW, b'pa"ss'),
        (contentpb.SPLICE_ENCODING_JSON_STRING, b'"pa\\"ss"'),
        (contentpb.SPLICE_ENCODING_BASE64, base64.b64encode(b'pa"ss')),
    ],
)
def test_secrets_are_spliced_as_told(encoding: contentpb.SpliceEncoding.ValueType, expected: bytes) -> None:
    """A secret stands where it is referred to, in the encoding of its place."""
    segments = [
        contentpb.Segment(data=b"<"),
        contentpb.Segment(secret_ref=REFERENCE, encoding=encoding),
        contentpb.Segment(data=b">"),
    ]
    assert content_bytes(contentpb.Content(segments=segments), SECRETS) == b"<" + expected + b">"
    assert content_bytes(contentpb.Content(secret_ref=REFERENCE), SECRETS) == b'pa"ss'


@given(text=TEXTS)
def test_a_json_string_is_one_of_yaml_too(text: str) -> None:
    """Two very different parsers read the same text, control characters and YAML's line breaks included."""
    written = json_string(text)
    assert json.loads(written) == text
    assert yaml.load(written, Loader=yaml.CSafeLoader) == text  # a safe loader
    assert "\n" not in written


@pytest.mark.parametrize("text", ["\x7f", "\x80", "\x85", "\x9f", "\u2028", "\u2029", "\ufeff", "\ufffe", "😀", "ü"])
def test_only_what_yaml_can_not_read_is_escaped(text: str) -> None:
    """Beyond the basic plane nothing is, for YAML does not know surrogate pairs."""
    assert (json_string(text) == f'"{text}"') == (text in {"😀", "ü"})
    assert yaml.load(json_string(text), Loader=yaml.CSafeLoader) == text  # a safe loader


def test_what_can_not_be_known_is_refused() -> None:
    """A fact, an absent secret and bytes in a JSON string are told by their path, and never by a value."""
    cases = [
        (contentpb.Segment(fact=FACT), "c.segments[1]"),
        (contentpb.Segment(extension=contentpb.ExtensionText(text="{{ x }}")), "c.segments[1]"),
        (contentpb.Segment(secret_ref=secretpb.SecretReference(name="s", key="x")), "c.segments[1].secret_ref"),
    ]
    for segment, path in cases:
        content = contentpb.Content(segments=[contentpb.Segment(data=b"x"), segment])
        with pytest.raises(BundleInvalid) as caught:
            content_bytes(content, SECRETS, path="c")
        assert [violation.path for violation in caught.value.violations] == [path]
    with pytest.raises(BundleInvalid) as caught:
        splice(b"\xff-top-secret", contentpb.SPLICE_ENCODING_JSON_STRING, path="p")
    assert "top-secret" not in str(caught.value) + str(caught.value.violations)
    assert caught.value.__cause__ is None


def test_an_index_shows_no_secret() -> None:
    """Its repr may be in a log or a traceback."""
    assert "pa" not in repr(SECRETS)
    assert REFERENCE in SECRETS
    assert secretpb.SecretReference(name="s") not in SECRETS
