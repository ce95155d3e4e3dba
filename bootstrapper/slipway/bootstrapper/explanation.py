"""Says for every field of a spec what each format would make of it, before any machine exists.

It is the same compilation as GetUserData's, with placeholders in place of secrets, and with the provisioner's own
verdict at the end. Nothing is created.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from slipway.bootstrapper.assembly.subject import CheckedSubject, check
from slipway.bootstrapper.beside import beside
from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.deliveries import deliveries
from slipway.bootstrapper.delivery.fetching import PLACEHOLDER_TICKET, check_fetched, fetched, is_fetched
from slipway.bootstrapper.delivery.infrastructure import check_carried
from slipway.bootstrapper.explain_diagnostics import delivery, refused_versions, unusable_engines, why_not_chosen
from slipway.bootstrapper.explain_matrix import explain_matrix
from slipway.bootstrapper.importers.document_words import DocumentWords, in_words_of_document, is_of_document
from slipway.bootstrapper.judgement import judge
from slipway.bootstrapper.prepared import Prepared
from slipway.bootstrapper.problems.conversion import violation_of
from slipway.bootstrapper.provisioning.imported_layout import bound_to_other_format
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.bootstrapper.size_doubts import size_doubts
from slipway.bootstrapper.trials import Takers, Trials, stand_ins
from slipway.bootstrapper.verdicts import Column
from slipway.contract.errors import SlipwayError, SpecInvalid, Violation
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import spec_pb2 as specpb

EVERY_ENGINE = "*"
"""What a request names for all engines that are installed."""

MAX_ENGINES = 16
"""Most engines that one request compares (ExplainRequest.engines)."""


async def explain(bootstrapper: Bootstrapper, request: bootstrappb.ExplainRequest) -> bootstrappb.ExplainResponse:
    """Give the matrix of the spec's fields and all formats that are ready.

    The rows that are too many for one message are left out at the end, and a diagnostic says how many.

    Raises:
        SpecInvalid: the spec itself is not sound, or an engine is not installed.
    """
    engines = _compared(bootstrapper, request.engines)
    spec = request.subject.spec
    with in_words_of_document(spec):
        subject = await beside(request.subject.ByteSize(), partial(check, request.subject))
    return await explain_subject(bootstrapper, subject, engines=engines, document=spec)


async def explain_subject(
    bootstrapper: Bootstrapper,
    subject: CheckedSubject,
    *,
    engines: Sequence[str] = (),
    document: specpb.MachineBootstrapSpec | None = None,
) -> bootstrappb.ExplainResponse:
    """Give the same of a machine that is checked already, with a column per engine for formats that take a plan.

    What is refused of a spec that was imported has the names of its document, where that spec is given.
    """
    trials = Trials(bootstrapper, subject)
    by_engine = {name: _with_engine(subject, name) for name in engines}
    engine_trials = {name: Trials(bootstrapper, variant) for name, variant in by_engine.items()}
    columns = []
    for candidate in bootstrapper.candidates():
        if by_engine and candidate.takes_plan:
            for name, variant in by_engine.items():
                columns.append(await _column(bootstrapper, engine_trials[name], candidate, variant, engine=name))
        else:
            columns.append(await _column(bootstrapper, trials, candidate, subject))
    await asyncio.to_thread(_advise, bootstrapper, subject, columns)
    if document is not None and is_of_document(document):
        await asyncio.to_thread(_name_as_in_document, document, columns)
    neutral, _ = await trials.neutral(None)
    response = await asyncio.to_thread(explain_matrix, neutral, columns, subject.layers)
    if not columns:
        response.diagnostics.add(
            severity=diagnosticpb.SEVERITY_WARNING, code="NO_PROVISIONER", message="no provisioner is ready"
        )
    response.diagnostics.extend(subject.diagnostics)
    response.diagnostics.extend(delivery(bootstrapper, subject))
    is_stub = is_fetched(subject.spec) and bootstrapper.fetching is not None
    response.diagnostics.extend(deliveries(columns, is_fetched=is_stub))
    if engines:
        response.diagnostics.extend(unusable_engines(bootstrapper))
    response.diagnostics.extend(refused_versions(bootstrapper))
    response.diagnostics.extend(why_not_chosen(bootstrapper, subject))
    response.diagnostics.extend(await asyncio.to_thread(list, size_doubts(columns)))
    return response


def _compared(bootstrapper: Bootstrapper, names: Sequence[str]) -> list[str]:
    """Give the engines to compare, in the order of the table where all are.

    Raises:
        SpecInvalid: one is not installed, or they are too many.
    """
    if len(names) > MAX_ENGINES:
        raise SpecInvalid(
            "the request names too many bootstrap engines",
            violations=[Violation("engines", f"must have at most {MAX_ENGINES} items", remedy="compare fewer engines")],
        )
    installed = bootstrapper.compiler.engines.names
    violations = [
        bootstrapper.compiler.engines.not_installed(name, f"engines[{index}]")
        for index, name in enumerate(names)
        if name not in (*installed, EVERY_ENGINE)
    ]
    if violations:
        raise SpecInvalid("a bootstrap engine of the request is not installed", violations=violations)
    return installed if EVERY_ENGINE in names else list(dict.fromkeys(names))


def _with_engine(subject: CheckedSubject, name: str) -> CheckedSubject:
    """Give the machine as if its spec named an engine."""
    spec = specpb.MachineBootstrapSpec()
    spec.CopyFrom(subject.spec)
    spec.kubernetes.engine = name
    return replace(subject, spec=spec)


async def _column(
    bootstrapper: Bootstrapper, trials: Trials, candidate: Candidate, subject: CheckedSubject, *, engine: str = ""
) -> Column:
    column = Column(candidate, engine)
    column.rejected += bound_to_other_format(subject.spec, candidate, bootstrapper.candidates())
    try:
        prepared = await trials.prepared(candidate)
        column.compiled = prepared.compiled
        if not column.rejected:
            if not column.compiled.refusals:
                target = column.compiled.bundle.machine.target
                check_carried(candidate.format, target)
                check_fetched(subject.spec, candidate.format, target, bootstrapper.fetching)
            try:
                column.trial = await judge(bootstrapper, prepared, validate_only=False)
            finally:
                refusals = column.trial.refusals or prepared.compiled.refusals
                column.compiled = replace(prepared.compiled, refusals=list(refusals))
            if column.trial.user_data:
                data = _as_delivered(bootstrapper, prepared, column.trial.user_data)
                column.fitted = await bootstrapper.fitted(prepared, data, accept_gzip=True)
    except SlipwayError as error:
        column.error = error
    return column


def _as_delivered(bootstrapper: Bootstrapper, prepared: Prepared, data: bytes) -> bytes:
    """Give user data as the machine gets them: a stub where it is to fetch them."""
    spec, fetching = prepared.subject.spec, bootstrapper.fetching
    if fetching is None or not is_fetched(spec):
        return data
    info, bundle_id, proxy = prepared.candidate.format, prepared.compiled.bundle.id, prepared.neutral.os.proxy
    stub, _ = fetched(spec, info, data, fetching, lambda _: PLACEHOLDER_TICKET, bundle_id=bundle_id, proxy=proxy)
    return stub


def _advise(bootstrapper: Bootstrapper, subject: CheckedSubject, columns: Sequence[Column]) -> None:
    """Name in each column's remedies the others that take what it does not."""
    options = bootstrapper.options(subject)
    tried = {(column.engine, column.candidate.name, column.candidate.format.format): column.trial for column in columns}
    for column in columns:
        if column.compiled is None or not column.compiled.refusals:
            continue
        others = (
            (name, tried[place])
            for name, other in stand_ins(column.candidate, options)
            for place in ((engine, other.name, other.format.format) for engine in dict.fromkeys((column.engine, "")))
            if place in tried
        )
        column.compiled.refusals = Takers(others).advise(column.compiled.refusals)


def _name_as_in_document(spec: specpb.MachineBootstrapSpec, columns: Iterable[Column]) -> None:
    """Have the problems of all columns name fields as the document does that the spec came from."""
    words = DocumentWords(spec)
    for column in columns:
        compiled = column.compiled
        for problems in (column.rejected, *((compiled.refusals, compiled.omitted) if compiled else ())):
            for number, problem in enumerate(problems):
                first = words.violations(violation_of(problem, imported=True))[0]
                renamed = {"field": "", "message": first.description, "remedy": first.remedy, "alternative": ""}
                problems[number] = replace(problem, **renamed)
