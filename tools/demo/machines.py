"""First act: every machine of the examples, by every provisioner."""

from dataclasses import replace
from pathlib import Path

from rich.console import Console

from slipway.cli.entry_table import entry_table
from slipway.cli.loading import Loaded, load
from slipway.cli.options import Inputs
from slipway.cli.output_folder import OutputFolder
from slipway.cli.remote import RemoteBackend
from slipway.cli.rendering import ALL, Entry, Rendered, ask, wishes
from tools.demo.findings import Findings

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
FILES = ("cluster-aws.yaml", "cluster-flatcar.yaml", "native.yaml")
OWN_FORMATS = {
    "lighthouse-windows": "windows", "lighthouse": "cloud-init", "tern": "ignition", "harbour": "talos",
}  # fmt: skip
"""The provisioner for machines whose name begins so: that of the template, or the most particular one."""


def example(name: str, *, machines: tuple[str, ...] = ()) -> Loaded:
    """Load one of our example files."""
    return load(Inputs((EXAMPLES / name,), {}, set_missing=True, machines=machines))


async def machines_act(backend: RemoteBackend, screen: Console, findings: Findings, out: Path) -> None:
    """Render every machine of every example by every provisioner; write files; show one table."""
    instances = await backend.provisioners()
    results = list[Rendered]()
    with screen.status("") as status:
        for name in FILES:
            for question in example(name).questions:
                for provisioner, format_id in wishes(instances, ALL, ""):
                    status.update(f"{question.name} by {provisioner} ...")
                    results.append(await ask(backend, question, provisioner, format_id, instances=instances))
    OutputFolder(out).write(results)
    entries = [result.entry for result in results]
    screen.print(entry_table(entries, screen, most_fields=1))
    done = sum(entry.status == "rendered" for entry in entries)
    machines = {entry.machine for entry in entries}
    screen.print(
        f"\n{len(machines)} machines of {len(FILES)} files: {done} user data in {out}/, "
        f"{len(entries) - done} refusals, each with field, reason and what to do in {out}/summary.json."
    )
    _judge(entries, findings)


def _judge(entries: list[Entry], findings: Findings) -> None:
    findings.note("entries", [replace(entry, diagnostics=[]).tree() for entry in entries])
    failed = [f"{entry.machine} by {entry.provisioner}" for entry in entries if entry.status == "failed"]
    findings.expect(not failed, f"failed in place of rendered or refused: {', '.join(failed)}")
    for entry in entries:
        unnamed = [refusal for refusal in entry.refusals if not refusal["field"] or not refusal["reason"]]
        findings.expect(not unnamed, f"{entry.machine} by {entry.provisioner}: a refusal names no field")
        own = next(name for start, name in OWN_FORMATS.items() if entry.machine.startswith(start))
        accepted = entry.provisioner != own or entry.status == "rendered"
        findings.expect(accepted, f"{entry.machine} was not rendered by {own}")
