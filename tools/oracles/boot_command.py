"""Boots a machine for the conformance suite, by the real cloud-init or the real Ignition: for its ``--boot-cmd``.

    slipway conformance run ... --boot-cmd "python -m tools.oracles.boot_command"

It finds ``user-data``, and the paths that the suite asks for in ``paths``, in its working directory, and writes a
MachineState with these files to standard output. The real systemd of the machine starts what the user data enables.
"""

from __future__ import annotations

import json
import os
import sys
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tools.oracles import cloud_init, finding, ignition
from tools.oracles.machine_state import Kind, MachineState, Node

_NOT_SERVED = 3
_TOO_NEW = "unsupported config version"
"""What Ignition says of a config of a specification that it does not know."""

_SYSTEMS: dict[str, Callable[..., MachineState]] = {"cloud-config": cloud_init.run, "ignition": ignition.run}


def main() -> int:
    """Boot, report, and return 0; 3 where no machine here knows the format, 1 where the first-boot system failed."""
    format_id = os.environ.get("SLIPWAY_FORMAT", "")
    run = _SYSTEMS.get(format_id.partition("/")[0])
    if run is None:
        print(f"no machine here boots with {format_id}", file=sys.stderr)
        return _NOT_SERVED
    state = run(Path("user-data").read_bytes(), systemd=True)
    problems = finding.errors(state.findings)
    if any(_TOO_NEW in str(problem) for problem in problems):
        print(f"the {state.engine} here is older than {format_id}", file=sys.stderr)
        return _NOT_SERVED
    if problems:
        print(f"{state.engine}: {problems[0]}", file=sys.stderr)
        return 1
    json.dump(report(state, Path("paths").read_text(encoding="utf-8").splitlines()), sys.stdout)
    return 0


def report(state: MachineState, paths: list[str]) -> dict[str, Any]:
    """Give the MachineState of the suite, as JSON, with those of the paths that are files of the machine."""
    nodes = {**state.engine_files, **state.files, **state.run}
    files = [_file(path, nodes[path]) for path in paths if path in nodes and nodes[path].kind is Kind.FILE]
    return {"features": ["os.files"], "os": {"files": files}}


def _file(path: str, node: Node) -> dict[str, Any]:
    content = {"data": b64encode(node.content).decode()}
    return {"path": path, "content": content, "mode": node.mode, "owner": node.owner, "group": node.group}


if __name__ == "__main__":
    sys.exit(main())
