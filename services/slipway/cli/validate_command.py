"""slipway validate."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from slipway.bootstrapper.assembly.subject import check
from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.documents.engines import check_engine
from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.bootstrapper.engines.table import installed_engines
from slipway.bootstrapper.importers.document_words import DocumentWords, is_of_document
from slipway.bootstrapper.kubernetes_refusals import kubernetes_refusals
from slipway.cli.exit_codes import FAILED
from slipway.cli.failures import reported
from slipway.cli.loading import Loaded, load
from slipway.cli.options import input_options, inputs_from, output_option
from slipway.cli.output import emit, note, show, table
from slipway.cli.remarks import doubt_lines, error_lines, note_files, question_lines, together_lines
from slipway.cli.rendering import role_name
from slipway.contract.errors import SlipwayError, UnsupportedFeature, Violation
from slipway.contract.source_position import SourceError
from slipway.embedded.bootstrapper import embedded_bootstrapper, served


@click.command("validate", short_help="Check specs and manifests, and that their machines are consistent.")
@input_options
@output_option()
@reported
def validate(output: str, **values: Any) -> None:
    """Check every document and every machine: keys, types, rules, paths. Nothing is rendered.

    What every render would refuse is invalid too, such as a flag that the kubelet of the version does not have.
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
    verdicts = asyncio.run(_verdicts(loaded))
    trees = [
        _tree(question, [*verdict.problems, *by_machine.get(question.name, ())])
        for question, verdict in zip(loaded.questions, verdicts, strict=True)
    ]
    likely = dict.fromkeys(line for verdict in verdicts for line in verdict.warnings)
    for line in likely:
        note(line, "warning")
    warnings += likely
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


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What is wrong with a machine, and what is only with some provisioners; a line for each."""

    problems: Sequence[str] = ()
    warnings: Sequence[str] = ()


async def _verdicts(loaded: Loaded) -> list[_Verdict]:
    bootstrapper = embedded_bootstrapper(store=None)
    return [await _verdict(bootstrapper, loaded, question) for question in loaded.questions]


async def _verdict(bootstrapper: Bootstrapper, loaded: Loaded, question: MachineQuestion) -> _Verdict:
    try:
        subject = check(question.subject)
        check_engine(question)
        refusals = await kubernetes_refusals(bootstrapper, subject)
    except SlipwayError as error:
        return _Verdict(problems=error_lines(loaded.places, question, error))
    otherwise = ", unless this provisioner makes nodes without a plan"
    if refusals.others:
        otherwise = f", or choose {' or '.join(refusals.others)}"
    likely = [replace(each, remedy=f"{each.remedy}{otherwise}") for each in refusals.likely]
    return _Verdict(problems=_lines(loaded, question, refusals.certain), warnings=_lines(loaded, question, likely))


def _lines(loaded: Loaded, question: MachineQuestion, violations: Sequence[Violation]) -> list[str]:
    """Give the lines of what is refused, in the words of the document that the machine's spec was imported from."""
    if not violations:
        return []
    spec = question.subject.spec
    if is_of_document(spec):
        words = DocumentWords(spec)
        violations = [named for violation in violations for named in words.violations(violation)]
    error = UnsupportedFeature("the machine is refused", violations=violations)
    return error_lines(loaded.places, question, error)


def _tree(question: MachineQuestion, problems: Sequence[str]) -> dict[str, Any]:
    machine, cluster, spec = question.subject.machine, question.subject.cluster, question.subject.spec
    return {
        "machine": machine.name,
        "role": role_name(machine.role),
        "cluster": cluster.name,
        "kubernetes": machine.kubernetes_version or cluster.kubernetes_version,
        "infrastructure": spec.target.infrastructure or machine.target.infrastructure,
        "config": question.standing.config,
        "replicas": question.replicas,
        "verdict": "invalid" if problems else "valid",
        "problems": list(problems),
    }
