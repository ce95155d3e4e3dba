"""Leaves secrets out of a document that a person will keep, and reports where."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from google.protobuf.message import Message

from slipway.contract.field_plans import FieldPlan, plan
from slipway.contract.redaction import left_out
from slipway.contract.source_position import FieldPath
from slipway.contract.yaml_names import fields_by_key
from slipway.v1alpha1 import secret_pb2 as secretpb

_SECRET_VALUE = secretpb.SecretValue.DESCRIPTOR.full_name


def leave_out(tree: dict[str, Any], message: Message, path: FieldPath = ()) -> list[FieldPath]:
    """Put the size in place of every secret in the plain tree of a message, and give where they stood.

    A secret is what the contract has a type of its own for (passwords, tokens), and a URL that carries credentials.
    What files, scripts and arguments hold stays: without it the document would be of no use.
    """
    return list(_leave_out(tree, message, path))


def _leave_out(tree: dict[str, Any], message: Message, path: FieldPath) -> Iterator[FieldPath]:
    plans = plan(message.DESCRIPTOR)
    owner = message.DESCRIPTOR.full_name
    keys = {field.name: key for key, field in fields_by_key(message.DESCRIPTOR).items()}
    for descriptor, value in message.ListFields():
        key = keys.get(descriptor.name)
        if key is None:
            continue
        field = plans[descriptor.number]
        holder: Any = tree[key] if field.repeated else tree
        for index, entry in enumerate(value if field.repeated else [value]):
            place = index if field.repeated else key
            where = (*path, key, index) if field.repeated else (*path, key)
            if isinstance(entry, Message):
                if isinstance(holder[place], dict):
                    yield from _leave_out(holder[place], entry, where)
            elif _is_secret(owner, field, entry):
                holder[place] = left_out(entry)
                yield where


def _is_secret(owner: str, field: FieldPlan, value: Any) -> bool:
    if owner == _SECRET_VALUE:
        return field.name == "value"
    return field.rules.format == "url" and _carries_credentials(value)


def _carries_credentials(url: str) -> bool:
    """Return whether a URL names a user, or has a query, where signatures stand."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return True
    return "@" in parts.netloc or bool(parts.query)
