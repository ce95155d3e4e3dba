"""The PowerShell script that both formats share: static functions, one call an item, and the entry point."""

import hashlib
import subprocess
from collections.abc import Sequence

from slipway.provisioners.windows.programs import program
from slipway.provisioners.windows.quoting import call, quoted
from slipway.sdk import RenderContext
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import plan_pb2 as planpb

# A program of static functions is in the script only when one of them is called.
_FUNCTIONS = {
    "files": ("Add-Folder", "Write-File"),
    "accounts": ("Add-Group", "Add-User", "Get-LocalUser"),
    "system": ("Add-Authority", "Enable-TimeSync", "Disable-TimeSync"),
}


def body(
    calls: Sequence[str], entry: planpb.EntryPoint | None, *, finish: Sequence[str], ctx: RenderContext
) -> list[str]:
    """Give the lines that carry out the calls once, and then start the entry point, if there is one.

    Args:
        calls: one statement an item.
        entry: the entry point; None where the bundle has none, so that nothing is started (contract, EXE-001).
        finish: what is done when it ended with exit code 0, or when there is none.
        ctx: where refusals go.
    """
    lines = [line for name, used in _FUNCTIONS.items() if _call(calls, used) for line in program(name)]
    if entry is not None:
        lines += program("entry")
    if calls:
        # Items are not made again: the user's own commands may have changed them since.
        lines += [f"if (-not (Test-Path -LiteralPath {_mark(calls)})) {{", *calls]
        lines += [f"[System.IO.File]::WriteAllText({_mark(calls)}, '')", "}"]
    if entry is None:
        return [*lines, *finish, "exit 0"]
    if not entry.argv:
        ctx.refuse("plan.entrypoint.argv", "plan.entrypoint", "must name the program to start")
        return lines
    # Arguments are one line in the quoting of the Microsoft C runtime, which programs take apart by themselves.
    start = call("Start-Entry", entry.argv[0], subprocess.list2cmdline(entry.argv[1:]))
    return [*lines, f"$code = {start}", "if ($code -ne 0) {", "exit 1", "}", *finish, "exit 0"]


def entry_point(bundle: bundlepb.BootstrapBundle) -> planpb.EntryPoint | None:
    """Give the entry point of a bundle; None when it has none."""
    return bundle.plan.entrypoint if bundle.plan.HasField("entrypoint") else None


def _call(calls: Sequence[str], functions: tuple[str, ...]) -> bool:
    return any(statement.startswith(functions) for statement in calls)


def _mark(calls: Sequence[str]) -> str:
    digest = hashlib.sha256("\n".join(calls).encode()).hexdigest()
    return quoted(f"C:\\ProgramData\\slipway\\setup-{digest[:16]}.done")


def text(lines: Sequence[str]) -> bytes:
    """Give the script: ASCII, so that no code page and no byte order mark can change it."""
    return ("\n".join(lines) + "\n").encode("ascii")
