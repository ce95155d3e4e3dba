"""Puts an item in front of a refused one: the refusal has to name the place behind it, however authors count."""

import re
from collections.abc import Iterable

from google.protobuf.message import Message

from slipway.conformance.answer import Answer
from slipway.conformance.faults import faults, fits
from slipway.conformance.subject import Subject
from slipway.conformance.trial import Trial
from slipway.contract.features import compute_features
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

_REASON = "UNSUPPORTED_FEATURE"
_LISTED = re.compile(r"(?:bundle\.)?os\.([a-z_]+)\[([0-9]+)\]")


def _first_items(trials: Iterable[Trial]) -> dict[str, Message]:
    """Give an item of each list below `os` that a case has, by the name of the list: of the first one that has it."""
    accepted: dict[str, Message] = {}
    for trial in trials:
        for field, value in trial.case.bundle.os.ListFields():
            if field.is_repeated and field.message_type is not None:
                accepted.setdefault(field.name, value[0])
    return accepted


class Displacement:
    """Displaces refused items of one format, and remembers what it has tried."""

    def __init__(self, subject: Subject, trials: Iterable[Trial]) -> None:
        """Put items of cases that the format renders in front of others."""
        self._subject = subject
        self._accepted = _first_items(trials)
        self._tried: set[tuple[str, str]] = set()

    async def problem(self, request: provisionerpb.RenderRequest, got: Answer, about: str) -> str:
        """Give what is wrong with a refusal once a further item stands in front of what was refused.

        Args:
            request: what was refused.
            got: the refusal.
            about: what was refused of it; of the same features it is tried once.
        """
        key = (about, got.info.metadata.get("features", ""))
        if got.info.reason != _REASON or key in self._tried:
            return ""
        self._tried.add(key)
        for place in dict.fromkeys(map(_place, got.fields)):
            if place is None or place[0] not in self._accepted:
                continue
            kind, index = place
            other = _displaced(request, kind, index, self._accepted[kind])
            if not fits(other.bundle, request.bundle, faults(request.bundle)):
                continue
            again = await self._subject.render(other)
            places = set(map(_place, again.fields))
            if again.info.reason == _REASON and None not in places and (kind, index + 1) not in places:
                return f"behind another item of os.{kind} the refusal names another place than that of the item"
        return ""


def _displaced(
    request: provisionerpb.RenderRequest, kind: str, index: int, item: Message
) -> provisionerpb.RenderRequest:
    other = provisionerpb.RenderRequest()
    other.CopyFrom(request)
    entries = getattr(other.bundle.os, kind)
    rest = list(entries[index:])
    del entries[index:]
    entries.extend([item, *rest])
    del other.bundle.required_features[:]
    compute_features(other.bundle)
    return other


def _place(path: str) -> tuple[str, int] | None:
    """Give the list below `os` and the index in it that a path leads through; None where it leads elsewhere."""
    match = _LISTED.match(path)
    return (match[1], int(match[2])) if match else None
