"""Go prints a struct by rules of its own; every document type inherits those rules from here.

The rules (encoding/json with omitempty): a required field is
always printed; a struct is printed even if empty; a pointer is left out only if nil; any other field is
left out if it is the zero value.
"""

from typing import Any

from pydantic import AliasGenerator, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from slipway.bootstrapper.engines.documents.spliced import Spliced


class _Printed:
    """Marks a field that Go prints although it has its zero value."""


PRINTED = _Printed()

Tree = dict[str, "Tree"] | list["Tree"] | str | int | float | bool | Spliced | None
"""A document as the serialiser takes it."""


class Document(BaseModel):
    """A struct of an output document: immutable, without unknown fields, with its real names when printed."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        alias_generator=AliasGenerator(serialization_alias=to_camel),
    )

    def tree(self) -> dict[str, Tree]:
        """Give the plain tree of this document after Go's rules of omission; keys are not sorted yet."""
        printed: dict[str, Tree] = {}
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if _is_printed(field, value):
                printed[field.serialization_alias or name] = _plain(value)
        return printed


def _is_printed(field: FieldInfo, value: Any) -> bool:
    if isinstance(value, Document) or field.is_required() or PRINTED in field.metadata:
        return True
    is_pointer = field.default is None
    return value is not None if is_pointer else bool(value)


def _plain(value: Any) -> Tree:
    if isinstance(value, Document):
        return value.tree()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    plain: Tree = value
    return plain
