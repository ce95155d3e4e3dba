"""Windows user data: cloudbase-init's own dispatch, PowerShell's grammar, and answer files.

There is no Windows here. cloudbase-init's parsers and dispatcher are the real ones (1.1.9), what they would execute is
recorded. The grammar is not PowerShell itself: it takes some broken text and refuses some good text, so it is a gate
only for our own style of one statement a line. Of answer files no schema is published; ours describes what we emit.
"""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.oracles import roots, sandbox
from tools.oracles.failures import EngineBroken
from tools.oracles.finding import Finding, error, warning
from tools.oracles.sandbox import Command, File

CLOUDBASE_INIT = "cloudbase-init"
POWERSHELL = "powershell"
UNATTEND = "unattend"
_HERE = Path(__file__).parent
_XMLLINT_REFUSES = {1, 3}  # not well-formed, not valid
_PYTHON = ("/usr/bin/python3", "-B")


@dataclasses.dataclass(frozen=True, slots=True)
class Execution:
    """A script that would run; ``shell`` is cloudbase-init's own name for the way, such as PowershellSysnative."""

    shell: str
    content: bytes = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that would be written; ``path`` as Windows normalises it, ``mode`` is all that cloudbase-init knows."""

    path: str
    mode: int
    append: bool
    content: bytes = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True, slots=True)
class SystemCall:
    """A change of the system itself: host name, user, group, time zone ..."""

    name: str
    arguments: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Dispatch:
    """What cloudbase-init made of user data, in the order in which it would do it.

    ``done`` is false where the plugin would run again at the next boot. No step and no finding means: ignored.
    """

    steps: tuple[Execution | WrittenFile | SystemCall, ...]
    findings: tuple[Finding, ...]
    done: bool
    reboot: bool

    @property
    def executions(self) -> list[Execution]:
        """The scripts that would run."""
        return [step for step in self.steps if isinstance(step, Execution)]

    @property
    def files(self) -> list[WrittenFile]:
        """The files that would be written."""
        return [step for step in self.steps if isinstance(step, WrittenFile)]


def dispatch(user_data: bytes, *, meta_data: Mapping[str, str] | None = None, exit_status: int = 0) -> Dispatch:
    """Lets cloudbase-init's user data plugin dispatch the user data.

    Args:
        user_data: as the cloud hands it out.
        meta_data: what the cloud tells the machine, for jinja.
        exit_status: of each recorded script: 1001 and 1003 ask for a reboot, 1002 and 1003 to run again.

    Raises:
        EngineMissing: the root was not built.
        EngineBroken: the recorder itself failed.
    """
    environment = {"ENGINE_META_DATA": json.dumps(dict(meta_data or {"local_hostname": "win1"}))}
    answer = _ask(
        "cloudbase_init_recorder.py", user_data, environment={**environment, "ENGINE_STATUS": str(exit_status)}
    )
    findings = [
        (warning if entry["level"] == "WARNING" else error)(CLOUDBASE_INIT, entry["message"].strip())
        for entry in answer["log"]
    ]
    if answer["error"]:
        findings.append(error(CLOUDBASE_INIT, answer["error"]))
    steps = tuple(map(_step, answer["record"]))
    return Dispatch(steps, tuple(findings), bool(answer.get("done")), bool(answer.get("reboot")))


def validate(user_data: bytes) -> list[Finding]:
    """What cloudbase-init complains about, and an error for user data of which it makes nothing at all."""
    made = dispatch(user_data)
    ignored = [] if made.steps else [error(CLOUDBASE_INIT, "nothing would be done")]
    return [*made.findings, *ignored]


def check_powershell(script: bytes) -> list[Finding]:
    """The places where PowerShell's grammar does not hold, by line and column."""
    answer = _ask("powershell_grammar.py", script, environment={})
    return [error(POWERSHELL, place["message"], f"{place['line']}:{place['column']}") for place in answer["errors"]]


def check_unattend(document: bytes) -> list[Finding]:
    """What does not hold of our schema of the answer files that we emit; the document is only read, never resolved."""
    schema = File((_HERE / "unattend.rng").read_bytes())
    command = Command(("xmllint", "--nonet", "--noout", "--relaxng", "/engine/unattend.rng", "/engine/document.xml"))
    with sandbox.opened(roots.ROOTS["checkers"].require()) as box:
        files = {"/engine/unattend.rng": schema, "/engine/document.xml": File(document)}
        (outcome,) = box.session([command], files=files)
    if outcome.status == 0:
        return []
    lines = outcome.output.decode(errors="replace").replace("/engine/document.xml:", "").splitlines()
    if outcome.status not in _XMLLINT_REFUSES:
        raise EngineBroken(f"xmllint ended with {outcome.status}: {lines[:3]}")
    return [error(UNATTEND, line) for line in lines if line[:1].isdigit()] or [error(UNATTEND, lines[-1])]


def _ask(program: str, document: bytes, *, environment: Mapping[str, str]) -> dict[str, Any]:
    command = Command(
        (*_PYTHON, f"/engine/{program}"),
        timeout=60.0,
        stdin=document,
        environment={**sandbox.ENVIRONMENT, "PYTHONPATH": "/opt/engine", "HOME": "/root", **environment},
    )
    files = {f"/engine/{program}": File((_HERE / program).read_bytes())}
    with sandbox.opened(roots.ROOTS["windows"].require()) as box:
        (outcome,) = box.session([command], files=files)
    try:
        answer: dict[str, Any] = json.loads(outcome.output.splitlines()[-1])
    except (ValueError, IndexError):
        raise EngineBroken(f"{program}: {outcome.output.decode(errors='replace')[-1500:]}") from None
    return answer


def _step(entry: Mapping[str, Any]) -> Execution | WrittenFile | SystemCall:
    if entry["do"] == "execute":
        return Execution(entry["shell"], base64.b64decode(entry["content"]))
    if entry["do"] == "write_file":
        return WrittenFile(entry["path"], entry["mode"], entry["append"], base64.b64decode(entry["content"]))
    arguments: Sequence[str] = entry["arguments"]
    return SystemCall(entry["do"], tuple(arguments))


if __name__ == "__main__":
    import sys

    for complaint in (complaints := validate(sys.stdin.buffer.read())):
        print(complaint)
    sys.exit(1 if complaints else 0)
