"""RND: contents that are no files: what arrives in a file arrives in a script, or in a file of a component, too."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from google.protobuf.message import Message

from slipway.conformance import material, requests
from slipway.conformance.bounds import outside
from slipway.conformance.changes import scalars
from slipway.conformance.check import Checks
from slipway.conformance.checks.extensions import secrets_in_documents
from slipway.conformance.checks.meaning import read
from slipway.conformance.checks.splicing import BYTES, ESCAPES
from slipway.conformance.outcome import NotRun, all_hold
from slipway.conformance.rounds import named
from slipway.conformance.session import Session
from slipway.conformance.trial import feature_trials
from slipway.conformance.variations import Steps, held_by
from slipway.contract.features import compute_features
from slipway.contract.field_plans import plan
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import spec_pb2 as specpb

CHECKS = Checks()
_DOCUMENTS = frozenset({"manifest", "policy"})
"""Contents that are documents, so that not every text can stand there."""

_REFUSALS = {"FAILED_PRECONDITION", "INVALID_ARGUMENT"}
_SECRETS = (
    (bytes(range(256)), "a secret of every byte"),
    (b"\xff\xfe in front, \xc3", "a secret that is no text"),
    (b'it\'s "one" #1: $x %s {{ v }}\n', "a secret with quotes"),
)
_PEM = b"-----BEGIN "
_VALUES: Sequence[tuple[Callable[[bytes], bytes], str]] = (
    (lambda value: value + b"1", "a longer secret"),
    (lambda value: value + b"12", "a secret that is longer by two"),
    (lambda value: b" " + value + b" ", "a secret with blanks around it"),
    (lambda value: value + b"'\"\\ #: $x%", "a secret with signs that need quoting"),
    (lambda value: value + b"\n", "a secret with a line break behind it"),
    (lambda value: value[:1], "a secret of one byte"),
)
_ENDS: Sequence[tuple[Callable[[bytes], bytes], str]] = (
    (lambda value: value + b"\n", "a longer authority"),
    (lambda value: value + b"\n\n", "an authority that is longer by two"),
    (lambda value: value + material.pair("the next one")[0], "an authority and the one that comes after it"),
)
"""Of three lengths each remainder of 3 is one, by which base64 ends otherwise. Who renews an authority has two."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A content of a case: what it is called, where it stands, and the request that it is in."""

    name: str
    path: Steps
    request: provisionerpb.RenderRequest


@CHECKS.check_format("RND-015")
async def other_contents(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Whatever a file can hold arrives in each other content as it is, or is refused."""
    problems = []
    for place in await _contents(session, info):
        for data, reason in BYTES:
            content = contentpb.Content(segments=[contentpb.Segment(data=data)] if data else [])
            problems += await _arrives(session, info, place, content, reason)
    all_hold(problems)


@CHECKS.check_format("RND-016")
async def other_secrets(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Secrets of any bytes arrive in each other content as they are, or are refused."""
    problems = []
    for place in await _contents(session, info):
        for value, reason in _SECRETS:
            content = contentpb.Content(segments=[contentpb.Segment(data=b"before ")])
            segment = content.segments.add()
            segment.secret_ref.name, segment.secret_ref.key = "conformance", "inserted"
            held = requests.files(secrets=[requests.secret("conformance", "inserted", value)])
            wider = _Place(place.name, place.path, requests.merged(place.request, held, info))
            problems += await _arrives(session, info, wider, content, reason)
    problems += await secrets_in_documents(session, info, {what: value for value, what in ESCAPES})
    all_hold(problems)


@CHECKS.check_format("RND-018")
async def secrets_of_any_value(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A secret arrives whole wherever it stands, with blanks around it, of any length: as it is, or it is refused."""
    problems, tried = [], set()
    for trial in await feature_trials(session, info):
        held = {(secret.name, secret.key) for secret in trial.case.bundle.secrets.secrets}
        fields = frozenset(
            named(path) for path, _, _ in scalars(trial.case.bundle, ("secrets",)) if "secret_ref" in path
        )
        if not held or fields in tried or not trial.answer.ok or trial.outside:
            continue
        tried.add(fields)
        for change, what in _VALUES:
            problems += await _holds(session, info, trial.request, held, (change, what))
    request = await session.base(info)
    authorities = {(held.name, held.key) for held in request.bundle.secrets.secrets if held.value.startswith(_PEM)}
    if not tried and not authorities:
        raise NotRun("the format takes nothing that holds a secret, but contents")
    for change, what in _ENDS:
        problems += await _holds(session, info, request, authorities, (change, what))
    all_hold(problems)


async def _holds(
    session: Session,
    info: provisionerpb.FormatInfo,
    request: provisionerpb.RenderRequest,
    held: Collection[tuple[str, str]],
    to: tuple[Callable[[bytes], bytes], str],
) -> list[str]:
    """Give what is wrong with a request of which some secrets have another value; a refusal is right, too."""
    made = provisionerpb.RenderRequest()
    made.CopyFrom(request)
    for secret in made.bundle.secrets.secrets:
        if (secret.name, secret.key) in held:
            secret.value = to[0](secret.value)
    got = await session.subject.render(made)
    if got.code in _REFUSALS or not held:
        return []
    if not got.ok:
        return [f"{to[1]}: it ended with {got.described()}"]
    comparison = await read(session, info, made, got.response)
    return [f"{to[1]}: {text}" for text in (*comparison.problems, *comparison.surplus)]


async def _contents(session: Session, info: provisionerpb.FormatInfo) -> list[_Place]:
    """Give one place of each kind, of the cases that the format renders."""
    places: dict[str, _Place] = {}
    for trial in await feature_trials(session, info):
        if trial.answer.ok and not trial.outside:
            for path, name in _contents_of(trial.request.bundle, ()):
                places.setdefault(name, _Place(name, path, trial.request))
    return list(places.values())


def _contents_of(message: Message, path: Steps) -> Iterator[tuple[Steps, str]]:
    plans = plan(message.DESCRIPTOR)
    for field, value in message.ListFields():
        known = plans.get(field.number)
        if field.message_type is None or known is None or isinstance(message, ospb.File | specpb.Extension):
            continue
        for index, entry in enumerate(value if field.is_repeated else [value]):
            steps = (*path, (field.name, index if field.is_repeated else None))
            if not isinstance(entry, contentpb.Content):
                yield from _contents_of(entry, steps)
            elif field.name not in _DOCUMENTS and not known.rules.format:
                yield steps, f"{message.DESCRIPTOR.name}.{field.name}"


async def _arrives(
    session: Session, info: provisionerpb.FormatInfo, place: _Place, content: contentpb.Content, reason: str
) -> list[str]:
    """Give what is wrong with a bundle that has a content in a place; a refusal by name is right, too."""
    request = provisionerpb.RenderRequest()
    request.CopyFrom(place.request)
    held_by(request.bundle, place.path).CopyFrom(content)
    compute_features(request.bundle)
    if outside(request.bundle, info):
        return []
    got = await session.subject.render(request)
    if got.code in _REFUSALS:
        return []
    if not got.ok:
        return [f"{place.name}: {reason}: it ended with {got.described()}"]
    comparison = await read(session, info, request, got.response)
    return [f"{place.name}: {reason}: {text}" for text in comparison.problems]
