"""Cases that are data: read from YAML, turned into requests, and judged."""

from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files

import yaml
from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message

from slipway.conformance import requests
from slipway.conformance.answer import Answer
from slipway.conformance.outcome import all_hold
from slipway.conformance.v1alpha1 import case_pb2 as casepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import spec_pb2 as specpb


@cache
def cases(name: str) -> tuple[casepb.Case, ...]:
    """Give the cases of a file; contents in the form that a bundle has."""
    text = (files(__package__) / "case_files" / f"{name}.yaml").read_text(encoding="utf-8")
    found = ParseDict(yaml.safe_load(text), casepb.CaseFile())
    for case in found.cases:
        for content in _contents(case.bundle):
            _normalise(content)
    return tuple(found.cases)


def of_clause(clause: str) -> list[casepb.Case]:
    """Give the cases of a clause, from the file of answers.

    Raises:
        LookupError: there are none, and a check of nothing would pass.
    """
    found = [case for case in cases("answers") if case.clause == clause]
    if not found:
        raise LookupError(f"{clause} has no cases")
    return found


def of_extensions(extensions: Iterable[specpb.Extension]) -> Iterator[casepb.Case]:
    """Give a case for each extension that the user of the suite gave a document of."""
    for number, extension in enumerate(extensions):
        case = casepb.Case(clause="FEA-009", name=f"extension-{number + 1}", purpose="a document of the user's")
        case.bundle.extensions.add().CopyFrom(extension)
        _normalise(case.bundle.extensions[0].content)
        yield case


@cache
def extensions_in_texts() -> frozenset[str]:
    """Give the ids of extensions that are the language of a text, as far as a case has one."""
    contents = [content for case in cases("features") for content in _contents(case.bundle)]
    held = [segment.extension.id for content in contents for segment in content.segments]
    return frozenset(held) - {""}


def request(
    case: casepb.Case, base: provisionerpb.RenderRequest, info: provisionerpb.FormatInfo
) -> provisionerpb.RenderRequest:
    """Give the request of a case for a format."""
    made = requests.merged(base, case.bundle, info)
    if case.HasField("format"):
        made.format = case.format
    if case.HasField("request_tag"):
        made.request_tag = case.request_tag
    if case.HasField("max_user_data_bytes"):
        made.max_user_data_bytes = case.max_user_data_bytes
    made.validate_only = case.validate_only
    made.bundle.required_features.extend(case.required_features)
    made.bundle.features_computed = not case.features_not_computed
    requests.cleared(made, case.clear)
    return made


def judge(case: casepb.Case, answer: Answer) -> list[str]:
    """Give what is wrong with an answer to a case that names the allowed ones."""
    reasons = [_mismatch(one, answer) for one in case.expected]
    if not all(reasons):
        return []
    return [f"{case.name}: {reasons[0]}"]


def judged(case: casepb.Case, answer: Answer) -> None:
    """Accept an answer to a case.

    Raises:
        Broken: it is none of those that the case allows.
    """
    all_hold(judge(case, answer))


def _mismatch(expected: casepb.Expected, answer: Answer) -> str:
    wanted = f"{expected.code}/{expected.reason}" if expected.reason else expected.code
    if (answer.code, answer.info.reason) != (expected.code, expected.reason):
        return f"it ended with {answer.described()}, and {wanted} is asked for"
    below = (f"{expected.field}.", f"{expected.field}[")
    if expected.field and not any(one == expected.field or one.startswith(below) for one in answer.fields):
        return f"BadRequest does not name {expected.field}"
    missing = [key for key in expected.metadata if not answer.info.metadata.get(key)]
    return f"ErrorInfo.metadata lacks {', '.join(missing)}" if missing else ""


def _contents(message: Message) -> Iterator[contentpb.Content]:
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for entry in value if field.is_repeated else [value]:
            if isinstance(entry, contentpb.Content):
                yield entry
            else:
                yield from _contents(entry)


def _normalise(content: contentpb.Content) -> None:
    kind = content.WhichOneof("source")
    if kind == "text":
        data = content.text.encode()
        content.ClearField("text")
        if data:
            content.segments.add(data=data)
    elif kind == "data":
        data = content.data
        content.ClearField("data")
        content.segments.add(data=data)
    for segment in content.segments:
        if segment.WhichOneof("value") == "text":
            segment.data = segment.text.encode()
