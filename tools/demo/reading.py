"""Last act: where the programs of the machines have been built, they read what was rendered for them."""

import asyncio
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tools.demo.findings import Findings
from tools.oracles import outputs
from tools.oracles.failures import EngineError


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
