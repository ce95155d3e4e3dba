"""Says for every field of a spec what each format would make of it, before any machine exists.

It is the same compilation as GetUserData's, with placeholders in place of secrets, and with the provisioner's own
verdict at the end. Nothing is created.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from slipway.bootstrapper.assembly.layers import Layers
from slipway.bootstrapper.assembly.subject import CheckedSubject, check
from slipway.bootstrapper.beside import beside
from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.deliveries import deliveries
from slipway.bootstrapper.delivery.fetching import PLACEHOLDER_TICKET, check_fetched, fetched, is_fetched
from slipway.bootstrapper.delivery.infrastructure import check_carried
from slipway.bootstrapper.delivery.stubs.table import MOST_BYTES
from slipway.bootstrapper.importers.document_words import DocumentWords, in_words_of_document, is_of_document
from slipway.bootstrapper.judgement import judge
from slipway.bootstrapper.prepared import Prepared
from slipway.bootstrapper.problems.conversion import violation_of
from slipway.bootstrapper.problems.places import spec_path
from slipway.bootstrapper.problems.problem import OF_MACHINE
from slipway.bootstrapper.problems.remedies import remedy_of_error
from slipway.bootstrapper.provisioning.imported_layout import bound_to_other_format
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.bootstrapper.size_doubts import size_doubts
from slipway.bootstrapper.trials import Takers, Trials, stand_ins
from slipway.bootstrapper.verdicts import Column, Row, Verdicts
from slipway.contract.errors import SlipwayError, SpecInvalid, Violation
from slipway.contract.feature_uses import uses
from slipway.contract.items import origin_of
from slipway.contract.source_position import with_remedy
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import spec_pb2 as specpb

HIDDEN = ("kubernetes.role", "kubernetes.version", "kubernetes.cluster", "kubernetes.credentials")
"""Features that every machine uses: they are facts, not fields of the spec."""


NOT_CHOSEN = frozenset({"PROVISIONER_NOT_ALLOWED", "PROVISIONER_NOT_FOUND", "UNSUPPORTED_FORMAT", "UNSUPPORTED_TARGET"})
"""Reasons for which a spec's own wish for a provisioner leads nowhere: codes of the diagnostics that say so."""

EVERY_ENGINE = "*"
"""What a request names for all engines that are installed."""

MAX_ENGINES = 16
"""Most engines that one request compares (ExplainRequest.engines)."""

VERSION_NOT_ALLOWED = "PROVISIONER_VERSION_NOT_ALLOWED"
"""Code of the diagnostic about a version that the operator does not allow."""

_NOT_SUPPORTED = ("is not supported", "are not supported")

MAX_ROWS_BYTES = 3 * 1024 * 1024
"""Most bytes of the rows of an answer: with the rest of it they stay below what one message may have (4 MiB)."""


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
    response = await asyncio.to_thread(_matrix, neutral, columns, subject.layers)
    if not columns:
        response.diagnostics.add(
            severity=diagnosticpb.SEVERITY_WARNING, code="NO_PROVISIONER", message="no provisioner is ready"
        )
    response.diagnostics.extend(subject.diagnostics)
    response.diagnostics.extend(_delivery(bootstrapper, subject))
    is_stub = is_fetched(subject.spec) and bootstrapper.fetching is not None
    response.diagnostics.extend(deliveries(columns, is_fetched=is_stub))
    if engines:
        response.diagnostics.extend(_unusable(bootstrapper))
    response.diagnostics.extend(_refused_versions(bootstrapper))
    response.diagnostics.extend(_not_chosen(bootstrapper, subject))
    response.diagnostics.extend(await asyncio.to_thread(list, size_doubts(columns)))
    return response


def _unusable(bootstrapper: Bootstrapper) -> Iterator[diagnosticpb.Diagnostic]:
    """Give a warning for each engine that is installed, and not compared since it cannot be used."""
    for engine in bootstrapper.compiler.engines.unusable:
        yield diagnosticpb.Diagnostic(
            severity=diagnosticpb.SEVERITY_WARNING, code="ENGINE_UNUSABLE", message=engine.sentence
        )


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


def _refused_versions(bootstrapper: Bootstrapper) -> Iterator[diagnosticpb.Diagnostic]:
    """Report each version of an allowed provisioner that has no column since the operator does not allow it."""
    allowed, rules = bootstrapper.policy.allowed_provisioners, bootstrapper.policy.versions
    refused = {
        (instance.info.name, instance.info.implementation_version): rules.refusal(instance.info)
        for instance in bootstrapper.provisioners.instances()
        if allowed is None or instance.info.name in allowed
    }
    for (name, version), reason in sorted(refused.items()):
        if reason:
            yield diagnosticpb.Diagnostic(
                severity=diagnosticpb.SEVERITY_WARNING,
                code=VERSION_NOT_ALLOWED,
                message=f"provisioner {name} {version} is not used: {reason}",
            )


def _not_chosen(bootstrapper: Bootstrapper, subject: CheckedSubject) -> Iterator[diagnosticpb.Diagnostic]:
    """Report why no provisioner is chosen for the machine as its spec asks, whichever else renders it."""
    try:
        bootstrapper.chosen(subject)
    except SlipwayError as error:
        for violation in error.violations if error.reason in NOT_CHOSEN else ():
            yield diagnosticpb.Diagnostic(
                severity=diagnosticpb.SEVERITY_WARNING,
                code=error.reason,
                message=with_remedy(violation.description, violation.remedy),
                field_path=violation.path,
            )


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


def _delivery(bootstrapper: Bootstrapper, subject: CheckedSubject) -> Iterator[diagnosticpb.Diagnostic]:
    """Report how the user data reaches the machine, where the spec says it and the operator allows something."""
    if is_fetched(subject.spec) and bootstrapper.fetching is not None:
        yield diagnosticpb.Diagnostic(
            severity=diagnosticpb.SEVERITY_INFO,
            code="DELIVERY_FETCH",
            message=f"the machine gets a stub of at most {MOST_BYTES} bytes and fetches its user data, since "
            "delivery.mode is Fetch: what is renderable is so with the stub",
            field_path="spec.delivery.mode",
        )


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


def _fields(neutral: bundlepb.BootstrapBundle, verdicts: Sequence[Verdicts]) -> Sequence[Row]:
    """Give the fields of the spec, and of the facts those that are refused by any check.

    That a spec has commands at all is no field of its own: each of them is.
    """
    return [
        row
        for row in map(Row.of, uses(neutral))
        if not (row.use.id.startswith(HIDDEN) or row.use.path == "commands")
        or any(one.cell(row).verdict == bootstrappb.VERDICT_REFUSED for one in verdicts if one.names_fields)
    ]


def _head(column: Column) -> bootstrappb.ExplainColumn:
    refusals = column.refusals
    reason = column.error.message if column.error else ""
    if column.error and not refusals:
        remedy = next((violation.remedy for violation in column.error.violations if violation.remedy), "")
        reason = with_remedy(reason, remedy or remedy_of_error(column.error))
    if not reason and refusals:
        # No row is about the machine as a whole.
        of_machine = next((problem for problem in refusals if problem.feature in OF_MACHINE), None)
        reason = f"{person_path(of_machine.path)} {of_machine.sentence}" if of_machine else _count(len(refusals))
    return bootstrappb.ExplainColumn(
        provisioner=column.candidate.name,
        version=column.candidate.version,
        format=column.candidate.format.format,
        renderable=not reason,
        refusal=reason,
        engine=column.engine,
    )


def _count(fields: int) -> str:
    return f"1 field {_NOT_SUPPORTED[0]}" if fields == 1 else f"{fields} fields {_NOT_SUPPORTED[1]}"


def counts_fields(refusal: str) -> bool:
    """Whether the refusal of a column reports only how many fields it refuses, as its rows do."""
    return refusal.endswith(_NOT_SUPPORTED)


def _matrix(
    neutral: bundlepb.BootstrapBundle, columns: Sequence[Column], layers: Layers
) -> bootstrappb.ExplainResponse:
    """Give the answer; the work is bounded as the answer is: what is left out is not looked at."""
    response = bootstrappb.ExplainResponse(columns=[_head(column) for column in columns])
    verdicts = [Verdicts(column) for column in columns]
    fields = _fields(neutral, verdicts)
    size = 0
    for number, each in enumerate(fields):
        row = _row(each, verdicts, layers.control(each.use.path))
        size += row.ByteSize()
        if size > MAX_ROWS_BYTES:
            response.diagnostics.append(_left_out(len(fields) - number))
            break
        response.rows.append(row)
    return response


def _left_out(rows: int) -> diagnosticpb.Diagnostic:
    return diagnosticpb.Diagnostic(
        severity=diagnosticpb.SEVERITY_WARNING,
        code="ROWS_LEFT_OUT",
        message=f"{rows} more rows are not shown: the answer would be larger than one message may be; "
        "ask for a part of the spec to see them",
    )


def _row(field: Row, verdicts: Iterable[Verdicts], control: diagnosticpb.Origin | None) -> bootstrappb.ExplainRow:
    use = field.use
    row = bootstrappb.ExplainRow(feature=use.id, cells=[one.cell(field) for one in verdicts])
    row.origin.CopyFrom(origin_of(use.item) if control is None else control)
    if not row.origin.path:
        row.origin.path = spec_path(use.path)
    return row
