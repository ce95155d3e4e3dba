"""k0s' own check of its configuration: what ``k0s config validate`` says, by the program that starts the cluster."""

from __future__ import annotations

import subprocess
import tempfile

from tools.oracles import go_programs
from tools.oracles.failures import EngineBroken
from tools.oracles.finding import Finding, error

PROGRAM = "k0s-1.27"
_REFUSED = 1
_SECONDS = 60.0
_APART = 'mount -t tmpfs tmpfs /run && exec "$0" "$@"'


def validate(config: bytes) -> list[Finding]:
    """What k0s refuses in a configuration; a field that it does not know is an error, as when it starts.

    It leaves a copy in /run, so it gets a /run of its own.

    Raises:
        EngineBroken: it did not come to a verdict.
    """
    program = str(go_programs.PROGRAMS[PROGRAM].require())
    with tempfile.NamedTemporaryFile(prefix="slipway-k0s-", suffix=".yaml") as file:
        file.write(config)
        file.flush()
        command = ["unshare", "--mount", "sh", "-c", _APART, program, "config", "validate", f"--config={file.name}"]
        done = subprocess.run(command, capture_output=True, check=False, timeout=_SECONDS)
    errors = done.stderr.decode(errors="replace").strip()
    if done.returncode == 0:
        return []
    if done.returncode != _REFUSED:
        raise EngineBroken(f"k0s ended with {done.returncode}: {errors[-1000:]}")
    return [error("k0s", line) for line in errors.splitlines()] or [error("k0s", "it refuses the document")]
