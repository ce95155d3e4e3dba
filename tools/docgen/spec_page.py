"""docs/reference/spec.md: every key that a person may write in a document of ours."""

from collections.abc import Iterator

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from slipway.bootstrapper.documents.native import API_VERSION, CLUSTER, CONFIG, TEMPLATE
from slipway.contract.field_plans import plan
from slipway.contract.yaml_names import enum_names, fields_by_key
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tools.docgen.descriptors import PACKAGE, comment, short
from tools.docgen.feature_ids import ids_by_field
from tools.docgen.markdown import anchor, code, listed, page, paragraphs, prose, table
from tools.docgen.rule_texts import rules

_MOST_FEATURES = 2
_TIMES = {
    "google.protobuf.Duration": "duration, such as `5m` or `1h30m`",
    "google.protobuf.Timestamp": "time, such as `2026-01-31T12:00:00Z`",
}
_NUMBERS = {
    FieldDescriptor.CPPTYPE_INT32,
    FieldDescriptor.CPPTYPE_INT64,
    FieldDescriptor.CPPTYPE_UINT32,
    FieldDescriptor.CPPTYPE_UINT64,
}

INTRODUCTION = f"""\
A document of ours has `apiVersion: {API_VERSION}`, a `kind`, `metadata.name` (and `metadata.namespace`), and `spec`.

| kind | spec |
| --- | --- |
| `{CONFIG}` | a [MachineBootstrapSpec](#machinebootstrapspec) |
| `{TEMPLATE}` | `template.spec`, a [MachineBootstrapSpec](#machinebootstrapspec) |
| `{CLUSTER}` | a [SlipwayClusterSpec](#slipwayclusterspec): a cluster and its machines, outside a management cluster |

Keys are camelCase, values of enums PascalCase. Text is text: a number or `yes` where text is wanted is an error and not
a guess, so put it in quotes. An unknown key, a wrong type and a duplicate key are errors with file, line, column and
path. `null` means that the key is not there. Keys that exclude each other are marked *one of*.

*Feature* is what a machine asks for when the key is set, where the key has an id of its own; it is what a provisioner
must [take](features.md), what `optionalFeatures` names, and what an operator can deny. Where a key has more than two
ids, because its type stands in many places, the last part of them stands here."""


def spec_page() -> str:
    """Give the page."""
    roots = (specpb.MachineBootstrapSpec.DESCRIPTOR, clusterpb.SlipwayClusterSpec.DESCRIPTOR)
    ids = ids_by_field()
    sections = [_section(entry, ids) for entry in dict.fromkeys(entry for root in roots for entry in _written(root))]
    return page("The spec", "proto/slipway/v1alpha1", INTRODUCTION, *sections)


def _written(root: Descriptor) -> Iterator[Descriptor | EnumDescriptor]:
    """Give the types that a person can write, `root` first, breadth first."""
    types: dict[str, Descriptor | EnumDescriptor] = {root.full_name: root}
    queue: list[Descriptor | EnumDescriptor] = [root]
    while queue:
        descriptor = queue.pop(0)
        yield descriptor
        for field in fields_by_key(descriptor).values() if isinstance(descriptor, Descriptor) else ():
            type_ = field.message_type or field.enum_type
            if type_ is not None and type_.file.package == PACKAGE and type_.full_name not in types:
                types[type_.full_name] = type_
                queue.append(type_)


def _section(type_: Descriptor | EnumDescriptor, ids: dict[str, list[str]]) -> str:
    heading = f"## {short(type_.full_name)}"
    if isinstance(type_, EnumDescriptor):
        rows = [
            [code(name), prose(comment(f"{PACKAGE}.{type_.values_by_number[number].name}"))]
            for number, name in enum_names(type_).items()
        ]
        return "\n\n".join([heading, paragraphs(comment(type_.full_name)), table(["Value", "Meaning"], rows)])
    rows = [
        [code(key), _type(field), prose(comment(field.full_name)), _rules(field), _features(field, ids)]
        for key, field in fields_by_key(type_).items()
    ]
    body = table(["Key", "Type", "Meaning", "Rules", "Feature"], rows)
    return "\n\n".join([heading, paragraphs(comment(type_.full_name)), body])


def _type(field: FieldDescriptor) -> str:
    name = _single(field)
    group = field.containing_oneof
    if group is not None and len(group.fields) > 1:
        return f"{name}; one of {listed(code(entry.json_name) for entry in group.fields)}"
    return f"list of {name}" if field.is_repeated else name


def _single(field: FieldDescriptor) -> str:
    if field.message_type is not None and field.message_type.full_name in _TIMES:
        return _TIMES[field.message_type.full_name]
    type_ = field.message_type or field.enum_type
    if type_ is not None:
        return f"[{short(type_.full_name)}](#{anchor(short(type_.full_name))})"
    if plan(field.containing_type)[field.number].rules.format == "file-mode":
        return 'octal text, such as `"0644"`'
    if field.type == FieldDescriptor.TYPE_BYTES:
        return "bytes in base64"
    if field.cpp_type in _NUMBERS:
        return "whole number"
    return {FieldDescriptor.CPPTYPE_BOOL: "`true` or `false`", FieldDescriptor.CPPTYPE_STRING: "text"}[field.cpp_type]


def _rules(field: FieldDescriptor) -> str:
    secret = ["secret"] if plan(field.containing_type)[field.number].redact else []
    return listed(entry for entry in (rules(field), *secret) if entry)


def _features(field: FieldDescriptor, ids: dict[str, list[str]]) -> str:
    names = ids.get(field.full_name, [])
    own = plan(field.containing_type)[field.number]
    if own.feature_from_value:
        return code(f"{own.feature_from_value}ID")
    return listed(map(code, names)) if len(names) <= _MOST_FEATURES else code(f"…{own.feature}")
