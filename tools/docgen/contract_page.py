"""docs/reference/contract.md: the clauses, the error table, and every message of the contract, for OS maintainers.

The clauses are the data of the conformance suite, the reasons those of the error table, the messages those of the proto
files with their comments and options.
"""

from collections.abc import Iterator

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, FileDescriptor, ServiceDescriptor
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, MethodOptions

from slipway.conformance import clauses
from slipway.contract.field_plans import plan
from slipway.v1alpha1 import options_pb2 as optionspb
from slipway.v1alpha1.reasons import RULES
from tools.docgen.descriptors import comment, contract_files, short
from tools.docgen.markdown import anchor, code, listed, page, paragraphs, prose, table
from tools.docgen.rule_texts import rules

MESSAGES = """\
## Message reference

The contract is the protobuf package `slipway.v1alpha1` in [proto/](../../proto/slipway/v1alpha1). Everything in this
part stands in the proto files too, and in the descriptor set that comes with the package,
`slipway/v1alpha1/slipway.binpb`.

*Feature* is the id that a bundle uses when the field is set; an id that starts with a dot is a suffix of the nearest
one above ([features](features.md)). *Secret* marks fields that are never logged."""


def contract_page() -> str:
    """Give the page."""
    contents = "\n".join(
        f"- [{file.name.rpartition('/')[2]}](#{anchor(file.name)}): {_first(comment(file.name))}"
        for file in contract_files()
    )
    return page(
        "The contract",
        "services/slipway/conformance/contract_text, proto/slipway/v1alpha1/errors.yaml and proto/slipway/v1alpha1",
        clauses.introduction().strip(),
        _groups(),
        *map(_chapter, clauses.chapters()),
        _situations(),
        MESSAGES,
        contents,
        *map(_file, contract_files()),
    )


def _groups() -> str:
    rows = [
        [
            code(group.id),
            f"[{title}](#{anchor(title)})",
            chapter.title.partition(": ")[2],
            str(len(_of_chapter(group, chapter))),
        ]
        for chapter in clauses.chapters()
        for group in _groups_of(chapter)
        for title in [_title(group, chapter)]
    ]
    return table(["Group", "", "Chapter", "Clauses"], rows)


def _chapter(chapter: clauses.Chapter) -> str:
    parts = [_group(group, chapter) for group in _groups_of(chapter)]
    return "\n\n".join([f"## {chapter.title}", chapter.introduction, *parts])


def _groups_of(chapter: clauses.Chapter) -> list[clauses.Group]:
    """Give the groups that have clauses in a chapter, those first that are in it as a whole."""
    groups = [group for group in clauses.groups() if _of_chapter(group, chapter)]
    return sorted(groups, key=lambda group: group.chapter != chapter.id)


def _of_chapter(group: clauses.Group, chapter: clauses.Chapter) -> list[clauses.Clause]:
    return [clause for clause in group.clauses if clause.chapter == chapter.id]


def _title(group: clauses.Group, chapter: clauses.Chapter) -> str:
    return group.title if group.chapter == chapter.id else group.elsewhere[chapter.id]


def _group(group: clauses.Group, chapter: clauses.Chapter) -> str:
    parts = [f"### {_title(group, chapter)}"]
    if group.chapter == chapter.id:
        parts.append(group.introduction)
    parts += map(_clause, _of_chapter(group, chapter))
    return "\n\n".join([*parts, _reasons()] if group.id == "ERR" else parts)


def _clause(clause: clauses.Clause) -> str:
    binds = f"*Binds {clause.binds}.* " if clause.binds != "provisioner" else ""
    untested = f" *Not tested: {clause.untestable}.*" if clause.untestable else ""
    return f'<a id="{clause.id.lower()}"></a>**{clause.id}** {binds}{" ".join(clause.text.split())}{untested}'


def _situations() -> str:
    rows = [
        [situation.when, situation.answer, listed(f"[{id_}](#{id_.lower()})" for id_ in situation.clauses)]
        for situation in clauses.situations()
    ]
    return "## What must I answer when ...\n\n" + table(["When", "Then", "Clauses"], rows)


def _reasons() -> str:
    """Give the error table, without what only services of Slipway itself answer with: they are in errors.md too."""
    rows = [
        [code(reason), rule.code.name, "yes" if rule.retryable else "no", rule.meaning, rule.recovery]
        for reason, rule in sorted(RULES.items())
    ]
    heads = ["Reason", "Code", "Retry", "Meaning", "What the caller does"]
    return (
        "#### Reasons\n\nAll reasons of the domain `slipway.dev`, with their metadata in [errors](errors.md).\n\n"
        + table(heads, rows)
    )


def _file(file: FileDescriptor) -> str:
    parts = [f"### {file.name}", paragraphs(comment(file.name))]
    parts += [_service(service) for service in file.services_by_name.values()]
    types: list[Descriptor | EnumDescriptor] = [*file.message_types_by_name.values(), *file.enum_types_by_name.values()]
    order = list(_reading_order(file))
    types.sort(key=lambda entry: order.index(entry.full_name))
    parts += [_message(type_) if isinstance(type_, Descriptor) else _enum(type_) for type_ in types]
    parts += [_extensions(file)]
    return "\n\n".join(part for part in parts if part)


def _reading_order(file: FileDescriptor) -> Iterator[str]:
    """Give the types of a file: messages in their order, each enum behind the first message that needs it."""
    enums = dict(file.enum_types_by_name)
    for message in file.message_types_by_name.values():
        yield message.full_name
        for field in message.fields:
            known_enum = enums.pop(field.enum_type.name, None) if field.enum_type is not None else None
            if known_enum is not None:
                yield known_enum.full_name
    yield from (enum.full_name for enum in enums.values())


def _service(service: ServiceDescriptor) -> str:
    rows = []
    for method in service.methods:
        options = method.GetOptions()
        stream = "stream of " if method.server_streaming else ""
        level = MethodOptions.IdempotencyLevel.Name(options.idempotency_level).lower().replace("_", " ")
        calls = f"{_link(method.input_type)} → {stream}{_link(method.output_type)}"
        rows.append([code(method.name), calls, level, prose(comment(method.full_name))])
    return "\n\n".join(
        [
            f"#### {service.name}",
            paragraphs(comment(service.full_name)),
            table(["Call", "Messages", "Idempotency", ""], rows),
        ]
    )


def _message(message: Descriptor) -> str:
    rows = [
        [str(field.number), code(field.name), _type(field), prose(comment(field.full_name)), _options(field)]
        for field in message.fields
    ]
    body = table(["No.", "Field", "Type", "Meaning", "Rules"], rows) if rows else "It has no fields."
    return "\n\n".join([f"#### {short(message.full_name)}", paragraphs(comment(message.full_name)), body])


def _enum(enum: EnumDescriptor) -> str:
    rows = [
        [
            str(value.number),
            code(value.name),
            prose(comment(f"{enum.file.package}.{value.name}")),
            _value_feature(value),
        ]
        for value in enum.values
    ]
    return "\n\n".join(
        [
            f"#### {short(enum.full_name)}",
            paragraphs(comment(enum.full_name)),
            table(["No.", "Value", "Meaning", "Feature"], rows),
        ]
    )


def _extensions(file: FileDescriptor) -> str:
    rows = [
        [str(extension.number), code(extension.name), _type(extension), prose(comment(extension.full_name))]
        for extension in file.extensions_by_name.values()
    ]
    return "#### Options\n\n" + table(["No.", "Option", "Type", "Meaning"], rows) if rows else ""


def _type(field: FieldDescriptor) -> str:
    type_ = field.message_type or field.enum_type
    name = (
        _link(type_)
        if type_ is not None
        else FieldDescriptorProto.Type.DESCRIPTOR.values_by_number[field.type].name.removeprefix("TYPE_").lower()
    )
    group = field.containing_oneof
    if group is not None and len(group.fields) > 1:
        return f"{name}, one of {code(group.name)}"
    presence = "optional " if group is not None else ""
    return f"{'repeated ' if field.is_repeated else presence}{name}"


def _link(type_: Descriptor | EnumDescriptor) -> str:
    name = short(type_.full_name)
    return name if type_.file.package != "slipway.v1alpha1" else f"[{name}](#{anchor(name)})"


def _options(field: FieldDescriptor) -> str:
    compiled = plan(field.containing_type)[field.number]
    texts = []
    if compiled.feature:
        texts.append(f"feature {code(compiled.feature)}")
    if compiled.feature_from_value:
        texts.append(f"feature {code(compiled.feature_from_value + 'VALUE')}")
    if compiled.rules.internal:
        texts.append("filled in by Slipway")
    if compiled.redact:
        texts.append("secret")
    if field.GetOptions().HasExtension(optionspb.rules) and not compiled.rules.internal:
        texts.append(rules(field))
    return listed(entry for entry in texts if entry)


def _value_feature(value: object) -> str:
    feature: str = value.GetOptions().Extensions[optionspb.value_feature]  # type: ignore[attr-defined]  # a descriptor of an enum value
    return code(feature)


def _first(text: str) -> str:
    return prose(" ".join(text.split("\n\n", maxsplit=1)[0].split()))
