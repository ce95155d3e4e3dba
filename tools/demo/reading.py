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
    for reader in dict.fromkeys(one.reader for one in readings):
        own = [one for one in readings if one.reader == reader]
        taken = sum(not one.unread and not one.errors for one in own)
        counted[reader] = {"given": len(own), "taken": taken}
        said = f"takes {taken} of {len(own)}" if taken else own[0].unread or "takes none"
        screen.print(Text(f"  {reader:<17}{said}"))
    findings.note("read", counted)
    for one in readings:
        findings.expect(not one.errors, str(one))
