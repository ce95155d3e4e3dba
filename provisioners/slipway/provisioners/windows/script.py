"""The PowerShell script that both formats share: static functions, one call an item, and the entry point.

The static functions are kept as script files, so that people and linters can read them. The one place where a value
becomes a part of the script is its quoting: Windows PowerShell reads a script without a byte order mark in the
machine's code page, takes typographic quotes for quotes, and ends a statement at a line break. So a literal here is
printable ASCII between single quotes, in which only the quote itself means anything; every other text travels as base64
and is decoded on the machine.
"""

import base64
import hashlib
import subprocess
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from slipway.sdk import RenderContext
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import plan_pb2 as planpb

# A program of static functions is in the script only when one of them is called.
_FUNCTIONS = {
    "files": ("Add-Folder", "Write-File"),
    "accounts": ("Add-Group", "Add-User", "Get-LocalUser"),
    "system": ("Add-Authority", "Enable-TimeSync", "Disable-TimeSync"),
}
_DECODE = "([System.Text.Encoding]::UTF8.GetString([System.Convert]::FromBase64String({0})))"


def quoted(text: str) -> str:
    """Give an expression whose value is the text."""
    if text.isascii() and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return _DECODE.format(quoted(encoded(text.encode())))


def encoded(data: bytes) -> str:
    """Give standard base64 without line breaks."""
    return base64.b64encode(data).decode("ascii")


def call(function: str, *values: str | bool) -> str:
    """Give a call of one of our own functions, one statement on one line."""
    return " ".join(
        [
            function,
            *(("$true" if value else "$false") if isinstance(value, bool) else quoted(value) for value in values),
        ]
    )


@cache
def program(name: str) -> tuple[str, ...]:
    """Give the lines of a program without comments, indentation and empty lines.

    No text in it spans lines, so no line means anything else without its indentation.
    """
    source = files(__package__).joinpath("programs", f"{name}.ps1").read_text(encoding="ascii")
    lines = (line.strip() for line in source.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


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
