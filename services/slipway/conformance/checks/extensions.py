"""RND: the contents of extensions: what stands in one is in the user data, and nothing of it or of a secret is lost."""

import asyncio
import json
from collections.abc import Iterator

from slipway.conformance import cases, documents, requests
from slipway.conformance.check import Checks
from slipway.conformance.checks.meaning import read
from slipway.conformance.checks.variety import rendered
from slipway.conformance.contents import Contents
from slipway.conformance.outcome import NotRun, Unverified, all_hold
from slipway.conformance.refusal import REFUSALS
from slipway.conformance.session import Session
from slipway.conformance.trial import Trial
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()
_AT_ONCE = 4
_MOST = 60
"""How many changes of one document are tried."""

_MARK = "conformance-mark"
"""Stands in the place of a text until it is known what to write there."""


@CHECKS.check_format("RND-019")
async def contents_of_extensions(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Each value of an extension's document is in the user data, and another one makes other user data."""
    declared = {support.id for support in info.features if support.id.startswith("ext.")}
    trials = [trial for trial in await rendered(session, info) if trial.case.bundle.extensions]
    problems = [problem for trial in trials for problem in await _tried(session, info, trial)]
    all_hold(list(dict.fromkeys(problems)))
    texts = {f"ext.{id_}" for id_ in cases.extensions_in_texts()}
    tried = {f"ext.{extension.id}" for trial in trials for extension in trial.case.bundle.extensions}
    if not declared - texts:
        raise NotRun("the format declares no extension that is a document")
    if missing := sorted(declared - texts - tried):
        raise Unverified(f"there is no document of {', '.join(missing)}: give one with --extension")


async def _tried(session: Session, info: provisionerpb.FormatInfo, trial: Trial) -> list[str]:
    """Change what stands in the last extension of a case, one thing at a time, and give what is wrong."""
    extension = trial.request.bundle.extensions[-1]
    tree = documents.read(Contents(trial.request.bundle).bytes_of(extension.content) or b"", extension.media_type)
    gate = asyncio.Semaphore(_AT_ONCE)

    async def check(other: object, *, changes: bool) -> str:
        request = provisionerpb.RenderRequest()
        request.CopyFrom(trial.request)
        content = request.bundle.extensions[-1].content
        content.Clear()
        content.segments.add(data=documents.written(other, extension.media_type))
        async with gate:
            got = await session.subject.render(request)
        where = f"with another content of ext.{extension.id}"
        if got.code in REFUSALS:
            named = any(path.startswith("extensions[") for path in got.fields)
            return "" if named else f"{where} the refusal does not name the extension by its path"
        if not got.ok:
            return f"{where} it ended with {got.described()}"
        if changes and got.response.user_data == trial.answer.response.user_data:
            return f"{where} the user data are the same: it is lost"
        comparison = await read(session, info, request, got.response)
        return next((f"{where} {problem}" for problem in (*comparison.problems, *comparison.surplus)), "")

    changed = [(other, True) for other in documents.values(tree)] + [(less, False) for less in documents.lacking(tree)]
    every = changed[:: max(1, -(-len(changed) // _MOST))] if tree is not None else []
    return [*filter(None, await asyncio.gather(*(check(other, changes=changes) for other, changes in every)))]


async def secrets_in_documents(session: Session, info: provisionerpb.FormatInfo, values: dict[str, bytes]) -> list[str]:
    """Give what is wrong where a text of an extension's document is a secret, spliced in as a JSON string.

    Such a text may be refused only where the same bytes, without a secret, are refused.

    Args:
        session: the run.
        info: the format.
        values: the secrets, by what they are for people.
    """
    problems = []
    for trial in await rendered(session, info):
        for request, marked in _marked(trial) if trial.case.bundle.extensions else ():
            for what, value in values.items():
                problems += [f"{what}: {text}" for text in await _spliced(session, info, (request, marked), value)]
    return list(dict.fromkeys(problems))


def _marked(trial: Trial) -> Iterator[tuple[provisionerpb.RenderRequest, list[bytes]]]:
    """Give the request of a case, and what stands before and behind a text in the document of its last extension."""
    extension = trial.request.bundle.extensions[-1]
    tree = documents.read(Contents(trial.request.bundle).bytes_of(extension.content) or b"", extension.media_type)
    for other in documents.marked(tree, _MARK):
        before, mark, behind = documents.written(other, extension.media_type).partition(json.dumps(_MARK).encode())
        if mark:
            yield trial.request, [before, behind]


async def _spliced(
    session: Session,
    info: provisionerpb.FormatInfo,
    marked: tuple[provisionerpb.RenderRequest, list[bytes]],
    value: bytes,
) -> list[str]:
    request, (before, behind) = marked
    held = requests.files(secrets=[requests.secret("conformance", "spliced", value)])
    made = requests.merged(request, held, info)
    extension = made.bundle.extensions[-1]
    content = contentpb.Content()
    content.segments.add(data=before)
    segment = content.segments.add(encoding=contentpb.SPLICE_ENCODING_JSON_STRING)
    segment.secret_ref.name, segment.secret_ref.key = "conformance", "spliced"
    content.segments.add(data=behind)
    as_text = contentpb.Content()
    as_text.segments.add(data=Contents(made.bundle).bytes_of(content))
    extension.content.CopyFrom(as_text)
    if not (await session.subject.render(made)).ok:
        return []
    extension.content.CopyFrom(content)
    got = await session.subject.render(made)
    if not got.ok:
        return [f"in ext.{extension.id} it ended with {got.described()}, and the same bytes without a secret are taken"]
    comparison = await read(session, info, made, got.response)
    return [f"in ext.{extension.id} {text}" for text in (*comparison.problems, *comparison.surplus)]
