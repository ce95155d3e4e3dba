"""Turn a Content into bytes, and secrets into what refers to them.

Every provisioner needs this; a provisioner that is not written in Python needs these forty lines again.
"""

import base64
import json
import re
from collections.abc import Iterable

from slipway.contract.errors import BundleInvalid, Violation
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import secret_pb2 as secretpb

_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


class SecretIndex:
    """The secrets of a bundle, by name and key. Its repr shows none of them."""

    def __init__(self, material: secretpb.SecretMaterial | Iterable[secretpb.Secret]) -> None:
        """Index the material."""
        secrets = material.secrets if isinstance(material, secretpb.SecretMaterial) else material
        self._secrets = {(secret.name, secret.key): secret for secret in secrets}

    def __repr__(self) -> str:
        return f"SecretIndex({len(self._secrets)} secrets)"

    def __contains__(self, reference: secretpb.SecretReference) -> bool:
        return (reference.name, reference.key) in self._secrets

    def value(self, reference: secretpb.SecretReference, *, path: str = "") -> bytes:
        """Give the bytes that `reference` refers to.

        Raises:
            BundleInvalid: nothing of that name and key is there; `path` is the reference's own field path.
        """
        secret = self._secrets.get((reference.name, reference.key))
        if secret is None:
            raise BundleInvalid(
                "the bundle refers to a secret that it does not hold",
                violations=[Violation(path, "refers to a secret that is not in secrets")],
            )
        return secret.value


def content_bytes(content: contentpb.Content, secrets: SecretIndex, *, path: str = "content") -> bytes:
    """Give the bytes of a content whose every part is known now.

    Raises:
        BundleInvalid: a part is a machine fact or text of an extension, or refers to a ConfigMap, or to a secret that
            is not there.
    """
    kind = content.WhichOneof("source")
    if kind == "text":
        return content.text.encode()
    if kind == "data":
        return content.data
    if kind == "secret_ref":
        return secrets.value(content.secret_ref, path=f"{path}.secret_ref")
    if kind == "config_map_ref":
        raise BundleInvalid(
            "the bundle refers to a ConfigMap",
            violations=[Violation(f"{path}.config_map_ref", "must be resolved before it is in a bundle")],
        )
    return b"".join(
        segment_bytes(segment, secrets, path=f"{path}.segments[{index}]")
        for index, segment in enumerate(content.segments)
    )


def segment_bytes(segment: contentpb.Segment, secrets: SecretIndex, *, path: str) -> bytes:
    """Give the bytes of one segment: a literal as it is, a secret spliced as its encoding says.

    Raises:
        BundleInvalid: the segment is a machine fact or text of an extension, or refers to a secret that is not there.
    """
    kind = segment.WhichOneof("value")
    if kind == "data":
        return segment.data
    if kind == "text":
        return segment.text.encode()
    if kind == "secret_ref":
        return splice(secrets.value(segment.secret_ref, path=f"{path}.secret_ref"), segment.encoding, path=path)
    raise BundleInvalid(
        "a part of the content is known only on the machine",
        violations=[Violation(path, "is a machine fact or text of an extension, and this format takes neither")],
    )


def json_string(text: str) -> str:
    """Give a text as a JSON string that is a YAML double-quoted scalar as well.

    YAML forbids some characters that JSON allows, and folds others, which are line breaks to it: they are escaped. No
    other character beyond ASCII is, since YAML does not know JSON's surrogate pairs.
    """
    return _NOT_IN_YAML.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def splice(raw: bytes, encoding: contentpb.SpliceEncoding.ValueType, *, path: str = "") -> bytes:
    """Encode bytes for the place where they are spliced in.

    Raises:
        BundleInvalid: a JSON string was asked for and the bytes are no UTF-8, or the encoding is unknown.
    """
    if encoding == contentpb.SPLICE_ENCODING_JSON_STRING:
        try:
            return json_string(raw.decode()).encode()
        except UnicodeDecodeError:
            raise BundleInvalid(
                "a value that is spliced in as a JSON string is no UTF-8",
                violations=[Violation(path, "must be UTF-8 to be spliced in as a JSON string")],
            ) from None
    if encoding == contentpb.SPLICE_ENCODING_BASE64:
        return base64.b64encode(raw)
    if encoding not in (contentpb.SPLICE_ENCODING_UNSPECIFIED, contentpb.SPLICE_ENCODING_RAW):
        raise BundleInvalid(
            "an encoding of a segment is unknown",
            violations=[Violation(f"{path}.encoding".removeprefix("."), "is not an encoding of this contract")],
        )
    return raw


def literal(data: bytes) -> contentpb.Content:
    """Make a content of literal bytes, in the form that a bundle has."""
    return contentpb.Content(segments=[contentpb.Segment(data=data)] if data else [])


def normal_segments(content: contentpb.Content) -> list[contentpb.Segment]:
    """Give the segments of a content in the form that a bundle has: literals as `data`, neighbours joined."""
    kind = content.WhichOneof("source")
    if kind == "text":
        segments = [contentpb.Segment(data=content.text.encode())]
    elif kind == "data":
        segments = [contentpb.Segment(data=content.data)]
    elif kind == "secret_ref":
        segments = [contentpb.Segment(secret_ref=content.secret_ref)]
    else:
        segments = [_normal(segment) for segment in content.segments]
    joined: list[contentpb.Segment] = []
    for segment in segments:
        if segment.WhichOneof("value") == "data":
            if not segment.data:
                continue
            if joined and joined[-1].WhichOneof("value") == "data":
                joined[-1] = contentpb.Segment(data=joined[-1].data + segment.data)
                continue
        joined.append(segment)
    return joined


def _normal(segment: contentpb.Segment) -> contentpb.Segment:
    """Give a segment as a bundle has it: a literal is bytes, and always raw."""
    kind = segment.WhichOneof("value")
    if kind in {"text", "data"}:
        return contentpb.Segment(data=segment.text.encode() if kind == "text" else segment.data)
    return segment
