"""What the contents of a bundle are, all secrets in their places: the suite's own reading of content.proto."""

import base64
from collections.abc import Iterable

from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import secret_pb2 as secretpb

_USUAL = {"owner": "root", "group": "root", "mode": 0o644}

_SHORT = {0x22: '\\"', 0x5C: "\\\\", 0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0C: "\\f", 0x0D: "\\r"}
_NEVER = {*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF}


def literal_text(text: contentpb.MachineText) -> str | None:
    """Give a text, its parts joined; None where only the machine knows one of them."""
    if text.HasField("value"):
        return text.value
    if not text.segments or any(segment.WhichOneof("value") != "text" for segment in text.segments):
        return None
    return "".join(segment.text for segment in text.segments)


class Contents:
    """Gives the bytes of contents of one bundle."""

    def __init__(self, bundle: bundlepb.BootstrapBundle) -> None:
        """Know the bundle's secrets."""
        self._secrets = {(secret.name, secret.key): secret.value for secret in bundle.secrets.secrets}

    def bytes_of(self, content: contentpb.Content) -> bytes | None:
        """Give the bytes of a content, texts of extensions as written; None when only the machine knows a part."""
        if content.WhichOneof("source") == "data":
            return content.data
        parts = []
        for segment in content.segments:
            kind = segment.WhichOneof("value")
            if kind == "data":
                parts.append(segment.data)
            elif kind == "extension":
                parts.append(segment.extension.text.encode())
            elif kind == "secret_ref":
                parts.append(_spliced(self._value(segment.secret_ref), segment.encoding))
            else:
                return None
        return b"".join(parts)

    def secret(self, value: secretpb.SecretValue) -> str:
        """Give the text of a secret value."""
        if value.WhichOneof("source") == "value":
            return value.value
        return self._value(value.secret_ref).decode(errors="replace")

    def _value(self, reference: secretpb.SecretReference) -> bytes:
        return self._secrets.get((reference.name, reference.key), b"")

    def joined(self, files: list[ospb.File]) -> list[ospb.File]:
        """Give files of which each appended one that has a file before it is joined with that."""
        found: dict[tuple[str, bool], ospb.File] = {}
        for file in files:
            before = found.get((file.path, False)) or found.get((file.path, True))
            if file.append and before is not None:
                before.content.CopyFrom(
                    contentpb.Content(
                        data=(self.bytes_of(before.content) or b"") + (self.bytes_of(file.content) or b"")
                    )
                )
                continue
            copy = ospb.File()
            copy.CopyFrom(file)
            if copy.append:
                # What a file has that is there already stays; what is as usual may be left out.
                for name, usual in _USUAL.items():
                    if getattr(copy, name) == usual:
                        copy.ClearField(name)  # type: ignore[arg-type]  # the stubs want a literal
            found[file.path, file.append] = copy
        return list(found.values())


def extension_features(feature: str, segments: Iterable[contentpb.Segment | contentpb.TextSegment]) -> set[str]:
    """Give the features of the texts of extensions in a content or command line that has this feature."""
    ids = {segment.extension.id for segment in segments if segment.HasField("extension")}
    return {f"{feature}.extensions", *(f"ext.{id_}" for id_ in ids)} if ids else set()


def _spliced(raw: bytes, encoding: contentpb.SpliceEncoding.ValueType) -> bytes:
    if encoding == contentpb.SPLICE_ENCODING_BASE64:
        return base64.b64encode(raw)
    if encoding == contentpb.SPLICE_ENCODING_JSON_STRING:
        return json_string(raw.decode()).encode()
    return raw


def json_string(text: str) -> str:
    """Give a text as a JSON string with its quotes, safe for YAML too.

    It is the encoding JSON_STRING, written from content.proto a second time, to find what the first time got wrong.
    """
    return '"' + "".join(_SHORT.get(ord(char)) or _escaped(char) for char in text) + '"'


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) in _NEVER else char
