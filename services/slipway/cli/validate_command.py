"""slipway validate."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from slipway.bootstrapper.assembly.subject import check
from slipway.bootstrapper.documents.engines import check_engine
from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.bootstrapper.engines.table import installed_engines
from slipway.cli.exit_codes import FAILED
from slipway.cli.failures import reported
from slipway.cli.loading import Loaded, load
from slipway.cli.options import input_options, inputs_from, output_option
from slipway.cli.output import emit, note, show, table
from slipway.cli.remarks import doubt_lines, error_lines, note_files, question_lines, together_lines
from slipway.cli.rendering import role_name
from slipway.contract.errors import SlipwayError
from slipway.contract.source_position import SourceError
from slipway.embedded.bootstrapper import served


@click.command("validate", short_help="Check specs and manifests, and that their machines are consistent.")
@input_options
@output_option()
@reported
def validate(output: str, **values: Any) -> None:
    """Check every document and every machine: keys, types, rules, paths. Nothing is rendered.

    Machines of one cluster are also checked beside each other, from whichever files they come: names, who begins the
    cluster, networks, and Kubernetes versions that are too far apart. What is likely a slip, such as the name of a
    provisioner that does not come with Slipway, is a warning. Whether a provisioner supports the specs is another
    question: slipway explain answers it.

    \b
    Examples:
      slipway validate -f spec.yaml
      slipway validate -f cluster.yaml -f pools.yaml --set CLUSTER_NAME=a -o json

    \b
    Exit codes:
      0  everything is valid
      1  something is not; problems have file, line, column and field path
      2  usage error
    """  # noqa: D301  # click's mark for lines that stay
    try:
        loaded = load(inputs_from(values))
    except SourceError as error:
        # Programs read an answer, whatever it is; a person has the lines of the error.
        if output != "table":
            emit({"machines": [], "problems": [str(problem) for problem in error.problems], "warnings": []}, output)
        raise
    note_files(loaded)
    unusable = (engine.sentence for engine in installed_engines().unusable)
    remarks = [*question_lines(loaded), *(("warning", line) for line in (*doubt_lines(loaded, served()), *unusable))]
    for kind, line in dict.fromkeys(remarks):
        note(line, kind)
    warnings = [line for kind, line in dict.fromkeys(remarks) if kind == "warning"]
    by_machine = together_lines(loaded)
    together = [line for lines in by_machine.values() for line in lines]
    trees = [_tree(loaded, question, by_machine.get(question.name, ())) for question in loaded.questions]
    for line in dict.fromkeys(problem for tree in trees for problem in tree["problems"]):
        note(line, "invalid")
    if output == "table":
        rows = [[str(tree[name]) for name in _COLUMNS] for tree in trees]
        show(table("", _COLUMNS, rows))
    else:
        emit({"machines": trees, "problems": together, "warnings": warnings}, output)
    if any(tree["problems"] for tree in trees):
        sys.exit(FAILED)


_COLUMNS = ("machine", "role", "cluster", "kubernetes", "infrastructure", "config", "verdict")


def _tree(loaded: Loaded, question: MachineQuestion, together: Sequence[str]) -> dict[str, Any]:
    machine, cluster, spec = question.subject.machine, question.subject.cluster, question.subject.spec
    problems = [*_problems(loaded, question), *together]
    return {
        "machine": machine.name,
        "role": role_name(machine.role),
        "cluster": cluster.name,
        "kubernetes": machine.kubernetes_version or cluster.kubernetes_version,
        "infrastructure": spec.target.infrastructure or machine.target.infrastructure,
        "config": question.standing.config,
        "replicas": question.replicas,
        "verdict": "invalid" if problems else "valid",
        "problems": problems,
    }


def _problems(loaded: Loaded, question: MachineQuestion) -> Iterator[str]:
    try:
        check(question.subject)
        check_engine(question)
    except SlipwayError as error:
        yield from error_lines(loaded.places, question, error)
