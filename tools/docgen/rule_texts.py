"""What options.proto says of a field, in words."""

from collections.abc import Iterator

from google.protobuf.descriptor import FieldDescriptor

from slipway.contract.field_plans import FieldPlan, plan
from slipway.contract.validation import DEFAULT_MAX_BYTES, DEFAULT_MAX_ITEMS
from tools.docgen.markdown import code, listed

_UNITS = {"google.protobuf.Duration": " seconds"}


def rules(field: FieldDescriptor, *, grammar_page: str = "grammars.md") -> str:
    """Give every rule that binds the values of a field, as Markdown."""
    return listed(_rules(plan(field.containing_type)[field.number], field, grammar_page))


def _rules(compiled: FieldPlan, field: FieldDescriptor, grammar_page: str) -> Iterator[str]:
    rules = compiled.rules
    if rules.required:
        yield "required"
    if rules.format:
        yield f"[{rules.format}]({grammar_page}#{rules.format})"
    if rules.HasField("minimum"):
        yield f"at least {rules.minimum}"
    if rules.HasField("maximum") and rules.format != "file-mode":
        yield f"at most {rules.maximum}{_UNITS.get(field.message_type.full_name, '') if field.message_type else ''}"
    if field.is_repeated:
        yield f"≤ {rules.max_items or DEFAULT_MAX_ITEMS} entries"
    if field.type in {FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES}:
        yield f"≤ {_size(rules.max_bytes or DEFAULT_MAX_BYTES)}" + (" each" if field.is_repeated else "")
    if rules.unique_by:
        yield f"no two with the same {' and '.join(code(name) for name in rules.unique_by)}"


def _size(count: int) -> str:
    for unit, factor in (("MiB", 2**20), ("KiB", 2**10)):
        if count >= factor and count % factor == 0:
            return f"{count // factor} {unit}"
    return f"{count} bytes"
