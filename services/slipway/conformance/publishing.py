"""What a report needs to be shown elsewhere: the text of a badge, and a schema for whoever reads reports."""

import json
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from slipway.conformance.clauses import chapters
from slipway.conformance.v1alpha1 import report_pb2 as reportpb

_VERDICTS = {
    reportpb.VERDICT_CONFORMANT: ("conformant", "brightgreen"),
    reportpb.VERDICT_CONFORMANT_AS_FAR_AS_CHECKED: ("conformant as far as checked", "yellowgreen"),
    reportpb.VERDICT_NOT_CONFORMANT: ("not conformant", "red"),
    reportpb.VERDICT_UNSPECIFIED: ("not all checks were made", "lightgrey"),
}
_TYPES: dict[int, dict[str, Any]] = {
    FieldDescriptor.TYPE_STRING: {"type": "string"},
    FieldDescriptor.TYPE_BOOL: {"type": "boolean"},
    FieldDescriptor.TYPE_UINT32: {"type": "integer", "minimum": 0},
}


def as_badge(report: reportpb.Report) -> str:
    """Give the badge of a report as JSON, in the form of an endpoint of shields.io: what was tried, and the verdict."""
    words, colour = _VERDICTS[report.verdict]
    titles = {chapter.id: chapter.title.partition(": ")[2] for chapter in chapters()}
    tried = [titles[id_] for id_ in report.chapters]
    about = [*report.profiles, *(tried if len(tried) < len(titles) else [])]
    badge = {
        "schemaVersion": 1,
        "label": f"slipway {report.contract_version}",
        "message": f"{words} ({', '.join(about)})" if about else words,
        "color": colour,
    }
    return json.dumps(badge, indent=2, ensure_ascii=False) + "\n"


def schema() -> dict[str, Any]:
    """Give the JSON schema of a report, which is the proto-JSON form of its message."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ConformanceReport",
        **_message(reportpb.Report.DESCRIPTOR),
    }


def _message(descriptor: Descriptor) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {field.json_name: _field(field) for field in descriptor.fields},
    }


def _field(field: FieldDescriptor) -> dict[str, Any]:
    if field.message_type is not None:
        entry = _message(field.message_type)
    elif field.enum_type is not None:
        entry = {"enum": [value.name for value in field.enum_type.values]}
    else:
        entry = _TYPES[field.type]
    return {"type": "array", "items": entry} if field.is_repeated else entry
