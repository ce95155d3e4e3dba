"""The matrix of an explanation: a column for each format, a row for each field, and one verdict where they meet."""

from collections.abc import Iterable, Sequence

from slipway.bootstrapper.assembly.layers import Layers
from slipway.bootstrapper.problems.places import spec_path
from slipway.bootstrapper.problems.problem import OF_MACHINE
from slipway.bootstrapper.problems.remedies import remedy_of_error
from slipway.bootstrapper.verdicts import Column, Row, Verdicts
from slipway.contract.feature_uses import uses
from slipway.contract.items import origin_of
from slipway.contract.source_position import with_remedy
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb

HIDDEN = ("kubernetes.role", "kubernetes.version", "kubernetes.cluster", "kubernetes.credentials")
"""Features that every machine uses: they are facts, not fields of the spec."""

_NOT_SUPPORTED = ("is not supported", "are not supported")

MAX_ROWS_BYTES = 3 * 1024 * 1024
"""Most bytes of the rows of an answer: with the rest of it they stay below what one message may have (4 MiB)."""


def explain_matrix(
    neutral: bundlepb.BootstrapBundle, columns: Sequence[Column], layers: Layers
) -> bootstrappb.ExplainResponse:
    """Give the answer; the work is bounded as the answer is: what is left out is not looked at."""
    response = bootstrappb.ExplainResponse(columns=[_head(column) for column in columns])
    verdicts = [Verdicts(column) for column in columns]
    fields = _fields(neutral, verdicts)
    size = 0
    for number, field in enumerate(fields):
        row = _row(field, verdicts, layers.control(field.use.path))
        size += row.ByteSize()
        if size > MAX_ROWS_BYTES:
            response.diagnostics.append(_left_out(len(fields) - number))
            break
        response.rows.append(row)
    return response


def _fields(neutral: bundlepb.BootstrapBundle, verdicts: Sequence[Verdicts]) -> Sequence[Row]:
    """Give the fields of the spec, and of the facts those that are refused by any check.

    That a spec has commands at all is no field of its own: each of them is.
    """
    return [
        row
        for row in map(Row.of, uses(neutral))
        if not (row.use.id.startswith(HIDDEN) or row.use.path == "commands")
        or any(column.cell(row).verdict == bootstrappb.VERDICT_REFUSED for column in verdicts if column.names_fields)
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


def _left_out(rows: int) -> diagnosticpb.Diagnostic:
    return diagnosticpb.Diagnostic(
        severity=diagnosticpb.SEVERITY_WARNING,
        code="ROWS_LEFT_OUT",
        message=f"{rows} more rows are not shown: the answer would be larger than one message may be; "
        "ask for a part of the spec to see them",
    )


def _row(field: Row, verdicts: Iterable[Verdicts], control: diagnosticpb.Origin | None) -> bootstrappb.ExplainRow:
    use = field.use
    row = bootstrappb.ExplainRow(feature=use.id, cells=[column.cell(field) for column in verdicts])
    row.origin.CopyFrom(origin_of(use.item) if control is None else control)
    if not row.origin.path:
        row.origin.path = spec_path(use.path)
    return row
