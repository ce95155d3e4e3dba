"""The rules of texts, contents and secret values: of several ways to say something exactly one is used, and fully.

They hold wherever such a message stands, so they are found by walking the descriptors: a field that is added to the
contract is checked on the day it is added.

No text of a spec holds a NUL character, but contents of files, which may be anything. It ends a string in every program
on the machine: what stands behind it would be lost there without a word.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from slipway.contract.errors import Violation
from slipway.contract.field_plans import plan
from slipway.contract.grammars import grammars
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import secret_pb2 as secretpb

_MAY_BE_REFERRED_TO = frozenset({("slipway.dev/cluster-ca", "tls.crt")})
"""Secrets of Slipway's own that a spec may refer to: what every machine of the cluster knows anyway."""

_RAW = frozenset({contentpb.SPLICE_ENCODING_UNSPECIFIED, contentpb.SPLICE_ENCODING_RAW})

_CONTENTS = frozenset(
    each.DESCRIPTOR.full_name for each in (contentpb.Content, contentpb.Segment, contentpb.ExtensionText)
)
"""Messages whose own text is a file's content; what they hold arrives byte for byte."""


def violations(message: Message, path: str = "") -> Iterator[Violation]:
    """Give every text, content or secret value in `message` that says nothing, or says it twice, by field path."""
    for descriptor, value in message.ListFields():
        field = plan(message.DESCRIPTOR)[descriptor.number]
        if field.message is None:
            continue
        where = f"{path}.{field.name}" if path else field.name
        rule = _RULES.get(field.message.full_name, violations)
        for index, entry in enumerate(value if field.repeated else [value]):
            yield from rule(entry, f"{where}[{index}]" if field.repeated else where)


def _content(content: contentpb.Content, path: str) -> Iterator[Violation]:
    if content.WhichOneof("source") and content.segments:
        yield Violation(
            path, "cannot have segments together with text, data, secretRef or configMapRef", remedy="keep one of them"
        )
    if content.WhichOneof("source") == "config_map_ref":
        yield Violation(
            f"{path}.config_map_ref",
            "refers to a ConfigMap that is not at hand",
            remedy="write its text in place, or, where documents are read, add the ConfigMap to them",
        )
    yield from _reference(content.secret_ref, f"{path}.secret_ref")
    for index, segment in enumerate(content.segments):
        kind = segment.WhichOneof("value")
        where = f"{path}.segments[{index}]"
        if kind is None:
            yield Violation(where, "says nothing: set text, data, secretRef or fact")
        yield from _reference(segment.secret_ref, f"{where}.secret_ref")
        if kind in {"text", "data", "extension"} and segment.encoding not in _RAW:
            yield Violation(f"{where}.encoding", "a literal is always Raw")


def _text(text: Any, path: str) -> Iterator[Violation]:
    """The rule of MachineText and Argument: a value, or segments."""
    if text.HasField("value") == bool(text.segments):
        yield Violation(path, "must have exactly one of value and segments", remedy="set one of them, and no other")
    yield from _segments(text.segments, f"{path}.segments")


def _segments(segments: Iterable[contentpb.TextSegment], path: str) -> Iterator[Violation]:
    one_line = grammars()["one-line"]
    for index, segment in enumerate(segments):
        if segment.WhichOneof("value") is None:
            yield Violation(f"{path}[{index}]", "says nothing: set text or fact")
        elif segment.text and not one_line.check(segment.text):
            yield Violation(f"{path}[{index}].text", f"must be {one_line.description}")


def _sourced(names: str) -> Callable[[Any, str], Iterator[Violation]]:
    def rule(message: Any, path: str) -> Iterator[Violation]:
        if message.WhichOneof("source") is None:
            yield Violation(path, f"says nothing: set {names}")
        yield from violations(message, path)

    return rule


def _reference(reference: secretpb.SecretReference, path: str) -> Iterator[Violation]:
    if "/" in reference.name and (reference.name, reference.key) not in _MAY_BE_REFERRED_TO:
        yield Violation(
            f"{path}.name",
            "is a secret of Slipway's own or of a provisioner's; of those a spec can refer to "
            "slipway.dev/cluster-ca, key tls.crt, only",
        )


_RULES: dict[str, Callable[[Any, str], Iterator[Violation]]] = {
    "slipway.v1alpha1.Content": _content,
    "slipway.v1alpha1.MachineText": _text,
    "slipway.v1alpha1.Argument": _text,
    "slipway.v1alpha1.SecretReference": _reference,
    "slipway.v1alpha1.SecretValue": _sourced("value or secretRef"),
    "slipway.v1alpha1.OpaqueDocument": _sourced("text or data"),
}


def nul_violations(message: Message, path: str = "") -> Iterator[Violation]:
    """Give every text field with a NUL character, by its field path."""
    for field, value in message.ListFields():
        where = f"{path}.{field.name}" if path else field.name
        is_text = field.type == FieldDescriptor.TYPE_STRING and message.DESCRIPTOR.full_name not in _CONTENTS
        if not is_text and field.message_type is None:
            continue
        for index, entry in enumerate(value if field.is_repeated else [value]):
            here = f"{where}[{index}]" if field.is_repeated else where
            if isinstance(entry, Message):
                yield from nul_violations(entry, here)
            elif "\x00" in entry:
                yield Violation(here, "cannot hold a NUL character")
