"""Machines that are asked for in this process, and what they are refused for."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.compilation.machine_classes import MAX_BYTES, CheckedSubjects, CompiledClass
from slipway.bootstrapper.compilation.recently_used import RecentlyUsed
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.cli.remedies import what_to_do
from slipway.contract.errors import SlipwayError
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb

EXAMPLES = sorted(Path("examples").glob("*.yaml"))


IMPERATIVE = re.compile(
    r"(accept|add|build|change|choose|correct|create|drop|format|give|have|keep|leave|make|mount|move|name|obtain|"
    r"partition|pin|provide|put|remove|say|set|shorten|start|take|try|use|wait|write|did you mean)\b",
    re.IGNORECASE,
)
"""How a remedy begins: with what the person does."""


ENTRY = """
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayCluster
metadata: {name: c}
spec:
  cluster: {kubernetesVersion: v1.34.2, endpoint: {host: api.example.com}}
  machines: [{name: m, role: %s, config: k}]
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayConfig
metadata: {name: k}
spec: %s
"""


_EMBEDDED = cache(lambda: embedded_bootstrapper(store=PlaceholderStore()))


def bootstrapper() -> Bootstrapper:
    """Give the one of the command line, with placeholders for secrets; it remembers no earlier machine."""
    made = _EMBEDDED()
    compiler = replace(made.compiler, classes=RecentlyUsed[CompiledClass](MAX_BYTES))
    return replace(made, compiler=compiler, subjects=CheckedSubjects())


def asked(question: MachineQuestion, provisioner: str, format_id: str = "") -> bootstrappb.GetUserDataRequest:
    """Ask for a machine in a format."""
    request = bootstrappb.GetUserDataRequest(
        subject=question.subject, credentials=question.secrets, accept_attachments=True, accept_gzip=True
    )
    request.subject.spec.provisioner.name = provisioner
    if format_id:
        request.subject.spec.provisioner.format = format_id
    return request


async def refused(request: bootstrappb.GetUserDataRequest) -> SlipwayError | None:
    """Give the refusal, or None."""
    try:
        await bootstrapper().user_data(request)
    except SlipwayError as error:
        return error
    return None


def check(error: SlipwayError) -> None:
    """Insist on something to do for every field, or for the whole."""
    for one in error.violations:
        remedy = what_to_do(error, bootstrappb.Subject(), one)
        assert IMPERATIVE.match(remedy), (one.path, one.description, remedy)
        assert one.remedy or error.reason != "UNSUPPORTED_FEATURE", "those of features are told by the bootstrapper"
    assert IMPERATIVE.match(what_to_do(error, bootstrappb.Subject()))


def question(spec: str, *, role: str = "Worker") -> MachineQuestion:
    """Give the machine of a spec."""
    return read_document_set({"spec.yaml": ENTRY % (role, spec)}, variables={}).questions[0]


def found(example: Path) -> list[MachineQuestion]:
    """Give the machines of an example."""
    return read_document_set({str(example): example.read_text()}, variables={}).questions
