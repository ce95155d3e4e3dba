"""Commands that only record how they were called, so that a document's scripts run for real.

A fake answers with the statuses it was told, call by call, so that a test can let the first ``kubeadm`` fail
and the second succeed.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path

from tools.oracles.machine_state import Call
from tools.oracles.sandbox import File

RECORD = "/var/lib/engine-fakes"

_PROGRAM = """\
#!/usr/bin/python3 -IS
import base64, fcntl, json, os, sys
told = {told}
os.makedirs({record!r}, 0o755, exist_ok=True)
with open({record!r} + "/calls", "a+") as calls:
    fcntl.flock(calls, fcntl.LOCK_EX)
    calls.seek(0)
    earlier = sum(json.loads(line)["argv"][0] == told["name"] for line in calls)
    status = told["statuses"][min(earlier, len(told["statuses"]) - 1)]
    given = b""
    if told["stdin"]:
        given = sys.stdin.buffer.read()
    entry = {{"argv": [told["name"], *map(os.fsdecode, sys.argv[1:])], "status": status,
              "stdin": base64.b64encode(given).decode()}}
    calls.write(json.dumps(entry) + "\\n")
sys.stdout.write(told["stdout"])
sys.stdout.flush()
sys.stderr.write(told["stderr"])
sys.exit(status)
"""


def command(  # noqa: PLR0913 keyword-only, each with a default
    name: str, *, statuses: Sequence[int] = (0,), stdout: str = "", stderr: str = "",
    reads_stdin: bool = False,
    directory: str = "/usr/local/bin",
) -> dict[str, File]:  # fmt: skip
    """A fake command as ``extra_files`` of an engine.

    Args:
        name: its name on PATH.
        statuses: the exit status of the first call, the second ...; the last one for all further calls.
        stdout: what each call prints.
        stderr: what each call prints on standard error.
        reads_stdin: record standard input up to its end.
        directory: where to put it; ``/usr/bin`` or ``/usr/sbin`` replaces the real command for absolute
            calls, too.
    """
    settings = {
        "name": name,
        "statuses": list(statuses),
        "stdout": stdout,
        "stderr": stderr,
        "stdin": reads_stdin,
    }
    text = _PROGRAM.format(told=repr(settings), record=RECORD)
    return {f"{directory}/{name}": File(text.encode(), 0o755)}


def read_calls(tree: Path) -> tuple[Call, ...]:
    """The calls recorded in a machine's tree, in their order."""
    record = tree / RECORD.lstrip("/") / "calls"
    if not record.is_file():
        return ()
    entries = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    return tuple(Call(tuple(entry["argv"]), base64.b64decode(entry["stdin"]), entry["status"]) for entry in entries)
