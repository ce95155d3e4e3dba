"""Judges a refusal of what was changed in a bundle that is rendered as it was: it is by name, and of the right item."""

from collections import Counter
from collections.abc import Collection, Iterator
from functools import cache

from google.protobuf.message import Message

from slipway.conformance.answer import Answer
from slipway.conformance.changes import item_path, value_at
from slipway.conformance.field_paths import names_item
from slipway.contract.feature_uses import uses
from slipway.contract.grammars import grammars
from slipway.contract.items import within
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import spec_pb2 as specpb

REFUSALS = frozenset({"FAILED_PRECONDITION", "INVALID_ARGUMENT"})
_LONGEST_ID = 253
"""Most bytes of a feature's id, as the entries of `optional_features` have it."""
_LONG = 8
"""A shorter text stands in a sentence by chance."""


def _well_formed(feature: str) -> bool:
    return len(feature.encode()) <= _LONGEST_ID and grammars()["feature-id"].check(feature)


def wrong(request: provisionerpb.RenderRequest, before: bundlepb.BootstrapBundle, got: Answer) -> str:
    """Give what is wrong with the refusal of a request; nothing when it is right.

    Args:
        request: what was refused.
        before: its bundle as the provisioner has rendered it, without the change.
        got: the answer.
    """
    named = [path for path in got.fields if not names_item(request, path)]
    if not got.fields or named:
        return "the refusal does not name an item by its path"
    if not _is_to_blame(before, request.bundle, got.fields):
        return "the refusal names an item, and not the one that was changed"
    if _is_quoted(before, request.bundle, got):
        return "the refusal holds a value of the request (SEC-002)"
    if got.info.reason == "UNSUPPORTED_FEATURE":
        features = set(got.info.metadata.get("features", "").split(","))
        ids = {use.id for use in uses(request.bundle)}
        # The malformed id of an extension need not be repeated.
        if not features & ids and all(map(_well_formed, ids)):
            return "the metadata key `features` names no feature that is in use"
    return ""


def _is_quoted(before: bundlepb.BootstrapBundle, after: bundlepb.BootstrapBundle, got: Answer) -> bool:
    """Whether a text that was changed stands in an error; names of fields and features and the contract's words may."""
    error = f"{got.message}\n{got.status}"
    names = "\n".join([*got.fields, *(use.id for use in uses(after))])
    new = Counter(_texts(after)) - Counter(_texts(before))
    return any(len(text) >= _LONG and text in error and text not in names and text not in _words() for text in new)


@cache
def _words() -> frozenset[str]:
    """Give the words of which a grammar takes one: "no extended partitions" tells nothing of a request."""
    alternatives = {part for grammar in grammars().values() for part in grammar.expression.split("|")}
    return frozenset(filter(str.isalpha, alternatives))


def blamed(paths: Collection[str], bundle: bundlepb.BootstrapBundle, got: Answer) -> set[str]:
    """Give those of some paths that an answer names, or of which it names the item."""
    items = {item_path(bundle, field) for field in got.fields} | set(got.fields)
    return {path for path in paths if any(within(path, item) or within(item, path) for item in items)}


def _is_to_blame(before: bundlepb.BootstrapBundle, after: bundlepb.BootstrapBundle, paths: Collection[str]) -> bool:
    """Whether one of some items has changed, or says something that an item that has changed says, or has said."""
    items = [item_path(after, path.removeprefix("bundle.")) for path in paths]
    if any(value_at(before, item) != value_at(after, item) for item in items):
        return True
    old, new = Counter(_texts(before)), Counter(_texts(after))
    different = (old - new) + (new - old)
    return any(different.keys() & set(_texts(value_at(after, item))) for item in items) or any(
        text in document
        for item in items
        for document in _documents(value_at(after, item))
        for text in different
        if text
    )


def _documents(value: object) -> Iterator[str]:
    """Give the text of an extension, which may name any other item."""
    if isinstance(value, specpb.Extension):
        yield b"".join(segment.data for segment in value.content.segments).decode(errors="replace")


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, Message):
        for field, held in value.ListFields():
            for entry in held if field.is_repeated else [held]:
                yield from _texts(entry)
    elif isinstance(value, str):
        yield value
