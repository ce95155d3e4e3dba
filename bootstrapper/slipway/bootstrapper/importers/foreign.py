"""Foreign documents are checked against types of our own before anything else looks at them.

The types are pydantic models; its errors know neither lines nor what a person meant, and repeat values. Here
a document becomes a model, or a SourceError with file, line, column, path, and a proposal for a misspelt
field.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from slipway.contract.source_position import (
    UNKNOWN_FIELD,
    FieldPath,
    Position,
    SourceError,
    SourceProblem,
    did_you_mean,
    unknown_field,
)
from slipway.contract.yaml_document import Source, Tree


class Foreign(BaseModel):
    """A part of a foreign document. Field names are camelCase, null means unset, types are strict."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        hide_input_in_errors=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_unset(cls, data: Any) -> Any:
        """Drop null fields, as Go's decoder does; a null under an unknown key stays an error."""
        if not isinstance(data, dict):
            return data
        known = {field.alias or name for name, field in cls.model_fields.items()}
        return {key: value for key, value in data.items() if value is not None or key not in known}


class Opaque(Foreign):
    """A part of which only some fields are read; the others may be anything."""

    model_config = ConfigDict(extra="ignore")


_MOST_PROBLEMS = 1_000
"""Problems of a part of a document that are named. A proposal for each of fifty thousand fields took 5 seconds."""

Model = TypeVar("Model", bound=BaseModel)


def read(
    model: type[Model],
    tree: Tree,
    *,
    source: Source,
    path: FieldPath = (),
    moved: Mapping[FieldPath, FieldPath] | None = None,
) -> Model:
    """Check a tree against a model.

    Args:
        model: the model.
        tree: the tree.
        source: where the tree's document stands.
        path: path of the tree in its document.
        moved: for a path in a tree that was converted, its path in the document.

    Raises:
        SourceError: the tree does not fit; the first 1,000 problems are in it, none repeats a value.
    """
    try:
        return model.model_validate(tree)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=True, include_input=True)
        problems = [_problem(model, detail, source, path, moved or {}) for detail in details[:_MOST_PROBLEMS]]
        problems.sort(key=lambda problem: problem.position or Position(0, 0))
        if surplus := len(details) - len(problems):
            problems.append(source.problem(path, f"{surplus} more problems are not shown: correct these first"))
        raise SourceError(problems) from None


def _problem(
    model: type[BaseModel],
    detail: Mapping[str, Any],
    source: Source,
    path: FieldPath,
    moved: Mapping[FieldPath, FieldPath],
) -> SourceProblem:
    location: FieldPath = tuple(detail["loc"])
    if detail["type"] == "extra_forbidden":
        name, known = str(location[-1]), _fields_at(model, location[:-1])
        message, code = unknown_field(name, known), "" if did_you_mean(name, known) else UNKNOWN_FIELD
    else:
        message, code = _message(detail), ""
    prefixes = (location[:length] for length in range(len(location), 0, -1))
    place = next((moved[prefix] for prefix in prefixes if prefix in moved), location)
    problem = source.problem((*path, *place), message)
    return replace(problem, code=code) if code else problem


_MESSAGES = {
    "missing": "required",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be a mapping of fields",
    "model_type": "must be a mapping of fields",
    "model_attributes_type": "must be a mapping of fields",
    "string_too_short": "must not be empty",
    "string_too_long": "longer than {max_length} characters",
    "too_long": "more than {max_length} entries",
    "too_short": "fewer than {min_length} entries",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be one of {expected}",
    # Validators of ours raise ValueError with a text that repeats nothing.
    "value_error": "{error}",
}


def _message(detail: Mapping[str, Any]) -> str:
    if detail["type"] == "string_type" and isinstance(detail["input"], bool | int | float):
        return "must be text: put the value in quotes"
    template = _MESSAGES.get(detail["type"], "not a value that is allowed here")
    return template.format_map(detail.get("ctx", {}))


def _fields_at(model: type[BaseModel], location: FieldPath) -> Iterable[str]:
    """Give the names of the fields that are known at a place below a model."""
    current: Any = model
    for part in location:
        if not _is_model(current):
            return []
        if isinstance(part, int):
            continue
        names = {field.alias or name: field for name, field in current.model_fields.items()}
        if part not in names:
            return []
        current = _model_in(names[part].annotation)
    return [field.alias or name for name, field in current.model_fields.items()] if _is_model(current) else []


def _model_in(annotation: Any) -> Any:
    """Give the model that a field's type holds, through Optional, lists and maps."""
    if _is_model(annotation):
        return annotation
    return next((model for each in get_args(annotation) if (model := _model_in(each))), None)


def _is_model(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseModel)
