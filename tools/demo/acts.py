"""What no other command shows: the matrix, a refusal before any machine exists, and a bundle without its secrets.

Last, the programs of the machines read what was rendered for them, where they have been built.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from slipway.cli.bundle_command import readable
from slipway.cli.explain_table import matrix, reasons, verdict
from slipway.cli.remarks import error_lines
from slipway.cli.remote import RemoteBackend
from slipway.contract.errors import SlipwayError
from slipway.contract.yaml_encode import dump, encode
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tools.demo.findings import Findings
from tools.demo.machines import example
from tools.oracles import outputs
from tools.oracles.failures import EngineError

WORKER = "harbour-worker"
SECRET_WORDS = ("PRIVATE KEY", "BEGIN CERTIFICATE")
_SHOWN = ("machine", "os", "intent", "secrets")
_FACTS = ("role", "kubernetesVersion", "cluster")
_MOST_LINES = 16
"""Of YAML on the screen: what it looks like, and no page of it."""


async def explain_act(backend: RemoteBackend, screen: Console, findings: Findings) -> None:
    """Show what becomes of each field of the native worker by each provisioner."""
    question = example("native.yaml", machines=(WORKER,)).questions[0]
    answer = await backend.explain(bootstrappb.ExplainRequest(subject=question.subject))
    shown = list(range(len(answer.columns)))
    screen.print(matrix(f"{WORKER}, field by field", answer, shown, screen.width))
    for line in reasons(answer, shown):
        screen.print(Text(line, style="dim"))
    verdicts = {verdict(cell) for row in answer.rows for cell in row.cells}
    findings.note("explain_verdicts", sorted(verdicts))
    findings.expect({"native", "lowered", "refused"} <= verdicts, "explain does not show native, lowered and refused")


async def refusal_act(backend: RemoteBackend, screen: Console, findings: Findings) -> None:
    """Ask Talos for a user account, and show the answer."""
    loaded = example("native.yaml", machines=(WORKER,))
    question = loaded.questions[0]
    question.subject.spec.provisioner.name = "talos"
    user = question.subject.spec.os.users.add(name="ops")
    user.origin.document, user.origin.path = "SlipwayConfig/worker", "spec.os.users[0]"
    try:
        await backend.user_data(bootstrappb.GetUserDataRequest(subject=question.subject, accept_attachments=True))
    except SlipwayError as error:
        screen.print("A user account is added to the worker, and Talos is asked for it:\n")
        for line in error_lines(loaded.places, question, error):
            screen.print(Text.assemble(("refused: ", "red"), _without_folder(line)))
        findings.note("refusal", {"reason": error.reason, "fields": [violation.path for violation in error.violations]})
        named = any("spec.os.users[0]" in violation.path for violation in error.violations)
        findings.expect(named, "the refusal does not name the field")
        return
    findings.expect(False, "Talos took a user account")  # reaching this line is the failure


async def bundle_act(backend: RemoteBackend, screen: Console, findings: Findings, out: Path) -> None:
    """Show the beginning of a neutral bundle without its secrets, and write the whole."""
    question = example("native.yaml", machines=(WORKER,)).questions[0]
    answer = await backend.bundle(bootstrappb.GetBundleRequest(subject=question.subject))
    tree = encode(answer.bundle)
    whole, lines = dump(readable(tree)), dump(readable(_part(tree))).splitlines()
    file = out / WORKER / "bundle.yaml"
    file.write_text(whole, encoding="utf-8")
    screen.print("What a provisioner gets, in part; in place of each secret stands its size:\n")
    part = "\n".join(lines[:_MOST_LINES])
    screen.print(Syntax(part, "yaml", background_color="default", theme="ansi_dark"))
    screen.print(Text(f"...\nThe whole, of {len(whole.splitlines())} lines, is in {file}."))
    leaked = [word for word in SECRET_WORDS if word in json.dumps(tree)]
    findings.note("bundle_lines", len(whole.splitlines()))
    findings.expect(bool(tree.get("secrets")), "the bundle refers to no secret, so that none could be redacted")
    findings.expect(not leaked, "the redacted bundle holds secrets")


def _part(tree: dict[str, Any]) -> dict[str, Any]:
    """Leave out what the table above said already: facts of the cluster."""
    part = {key: tree[key] for key in _SHOWN if key in tree}
    if "intent" in part:
        part["intent"] = {key: value for key, value in part["intent"].items() if key not in _FACTS}
    return part


def _without_folder(line: str) -> str:
    """Name the example as a person would who stands in the project's folder."""
    head, separator, rest = line.partition("/examples/")
    return f"examples/{rest}" if separator and " " not in head else line


async def reading_act(screen: Console, findings: Findings, out: Path) -> None:
    """Have each user data read by its program; a refusal is not as told, a program that is not here is said."""
    with screen.status("cloud-init, Ignition, Talos and cloudbase-init are reading ..."):
        try:
            readings = await asyncio.to_thread(outputs.read, out)
        except EngineError as failure:  # such as a sandbox that only root can make
            screen.print(Text(f"  not read: {failure}"))
            findings.note("read", {})
            return
    counted: dict[str, dict[str, int]] = {}
    for reader in dict.fromkeys(reading.reader for reading in readings):
        own = [reading for reading in readings if reading.reader == reader]
        accepted = sum(not entry.unread and not entry.errors for entry in own)
        counted[reader] = {"given": len(own), "taken": accepted}
        outcome = f"takes {accepted} of {len(own)}" if accepted else own[0].unread or "takes none"
        screen.print(Text(f"  {reader:<17}{outcome}"))
    findings.note("read", counted)
    for reading in readings:
        findings.expect(not reading.errors, str(reading))
