"""slipway explain."""

import asyncio
import sys
from typing import Any

import click

from slipway.bootstrapper.assembly.paths import describe
from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.bootstrapper.explain_diagnostics import NOT_CHOSEN
from slipway.bootstrapper.explanation import EVERY_ENGINE
from slipway.cli.connecting import connected
from slipway.cli.engine_matrix import by_engine, engine_matrix
from slipway.cli.exit_codes import FAILED
from slipway.cli.explain_table import matrix, reasons, verdict
from slipway.cli.failures import reported
from slipway.cli.loading import Loaded, load
from slipway.cli.options import (
    Connection,
    connection_from,
    connection_options,
    input_options,
    inputs_from,
    output_option,
)
from slipway.cli.output import console, emit, say, show
from slipway.cli.remarks import note_answer, note_error, note_files
from slipway.cli.rendering import diagnostic_tree
from slipway.contract.errors import SlipwayError
from slipway.contract.source_position import did_you_mean
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb

_ALL = "all"


@click.command("explain", short_help="Show the result of every field for each provisioner.")
@input_options
@click.option(
    "--format", "formats", multiple=True, metavar="FORMAT|NAME",
    help="Only this format, or the formats of this provisioner; may be given several times.",
)  # fmt: skip
@click.option(
    "--provisioner", default="", metavar="NAME|all",
    help="Only the formats of this provisioner; or all, with the result for each bootstrap engine.",
)  # fmt: skip
@click.option(
    "--engine", "engines", multiple=True, metavar="ENGINE|all",
    help="Show the result of the spec with this bootstrap engine, or with all; may be given several times.",
)  # fmt: skip
@output_option("How to print the matrix.")
@connection_options
@reported
def explain(formats: tuple[str, ...], provisioner: str, engines: tuple[str, ...], output: str, **values: Any) -> None:
    """Show, as a dry run, the result of every field of every machine for each provisioner and format.

    native: supported as it is. lowered: rewritten into something that the provisioner supports. omitted: left out, as
    spec.optionalFeatures, or the importer of a template, allows. refused: not supported; reason and remedy are below
    the matrix. Formats with equal results share a column. With --engine, or --provisioner all, the first table shows
    which bootstrap engine can be used with which provisioner. Below the matrix is how the user data of each format
    reach the machine: inline, compressed, or fetched, with their size and the limit. Nothing is created and no secret
    is needed.

    \b
    Examples:
      slipway explain -f spec.yaml
      slipway explain -f cluster.yaml --set-missing --machine demo-md-0 -o json
      slipway explain -f spec.yaml --format ignition/3.3.0 --format talos
      slipway explain -f spec.yaml --engine all

    \b
    Exit codes:
      0  every machine can be rendered by at least one provisioner
      1  a machine can be rendered by none, or a file is invalid
      2  usage error
    """  # noqa: D301  # click's mark for lines that stay
    loaded = load(inputs_from(values))
    note_files(loaded)
    if provisioner == _ALL:
        engines = engines or (_ALL,)
    elif provisioner:
        formats = (*formats, provisioner)
    names = [EVERY_ENGINE if name == _ALL else name for name in engines]
    answers = asyncio.run(_explain(loaded, connection_from(values), names))
    _check_formats(formats, answers)
    trees = []
    for machine, answer in answers.items():
        shown = [
            index
            for index, column in enumerate(answer.columns)
            if not formats or {column.format, column.provisioner}.intersection(formats)
        ]
        trees.append(_tree(machine, answer, shown))
        if output == "table":
            _show(machine, answer, shown)
    if output != "table":
        emit(trees, output)
    rendered = {
        tree["machine"]
        for tree in trees
        if any(column["renderable"] for column in tree["columns"])
        and not any(diagnostic["code"] in NOT_CHOSEN for diagnostic in tree["diagnostics"])
    }
    if rendered != {question.name for question in loaded.questions}:
        sys.exit(FAILED)


def _show(machine: str, answer: bootstrappb.ExplainResponse, shown: list[int]) -> None:
    """Print the matrix of each engine, and where there are engines, first which of them each format can have."""
    if any(column.engine for column in answer.columns):
        show(engine_matrix(machine, answer, shown))
        say("")
    for title, part, indices in by_engine(machine, answer, shown):
        show(matrix(title, part, indices, console().width))
        say(*(f"  {line}" for line in reasons(part, indices)), "")


async def _explain(
    loaded: Loaded, connection: Connection, engines: list[str]
) -> dict[str, bootstrappb.ExplainResponse]:
    answers = {}
    async with connected(connection, dry=True) as backend:
        for question in loaded.questions:
            try:
                answer = await backend.explain(bootstrappb.ExplainRequest(subject=question.subject, engines=engines))
            except SlipwayError as error:
                note_error(loaded, question, error)
            else:
                answers[question.name] = _name_fields(question, answer)
                note_answer(loaded, question, answer.diagnostics)
    return answers


def _name_fields(question: MachineQuestion, answer: bootstrappb.ExplainResponse) -> bootstrappb.ExplainResponse:
    """Name the fields that the server knows by their paths in a spec as the user wrote them."""
    for row in answer.rows:
        if not row.origin.document:
            document, _, path = question.as_written(row.origin.path).rpartition(": ")
            row.origin.document, row.origin.path = document, path
    for diagnostic in answer.diagnostics:
        if diagnostic.field_path and not diagnostic.origin.path:
            document, _, path = question.as_written(diagnostic.field_path).rpartition(": ")
            diagnostic.origin.document, diagnostic.origin.path = document, path
    return answer


def _check_formats(formats: tuple[str, ...], answers: dict[str, bootstrappb.ExplainResponse]) -> None:
    known = {
        name for answer in answers.values() for column in answer.columns for name in (column.format, column.provisioner)
    }
    for name in formats:
        if known and name not in known:
            meant = did_you_mean(name, known)
            hint = f"did you mean {meant}?" if meant else f"there are {', '.join(sorted(known))}"
            raise click.UsageError(f"no format or provisioner {name}; {hint}")


def _tree(machine: str, answer: bootstrappb.ExplainResponse, shown: list[int]) -> dict[str, Any]:
    columns = [answer.columns[index] for index in shown]
    return {
        "machine": machine,
        "columns": [
            {
                "provisioner": column.provisioner,
                "version": column.version,
                "format": column.format,
                "engine": column.engine,
                "renderable": column.renderable,
                "refusal": column.refusal,
            }
            for column in columns
        ],
        "rows": [
            {
                "field": describe(row.origin),
                "feature": row.feature,
                "cells": [
                    {
                        "format": answer.columns[index].format,
                        "engine": answer.columns[index].engine,
                        "verdict": verdict(row.cells[index]),
                        "into": list(row.cells[index].into),
                        "reason": row.cells[index].reason,
                        "remedy": row.cells[index].remedy,
                    }
                    for index in shown
                ],
            }
            for row in answer.rows
        ],
        "diagnostics": [diagnostic_tree(diagnostic) for diagnostic in answer.diagnostics],
    }
