"""The command line of the engines that make machines: user data in, the machine in words out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Protocol

from tools.oracles import fakes, finding
from tools.oracles.failures import EngineError
from tools.oracles.finding import Finding
from tools.oracles.machine_state import MachineState, describe
from tools.oracles.sandbox import File


class Runner(Protocol):
    """Runs a document on a machine."""

    def __call__(
        self, user_data: bytes, /, *, root: str, extra_files: dict[str, File], start: tuple[str, ...], systemd: bool
    ) -> MachineState: ...


def main(name: str, *, validate: Callable[[bytes], list[Finding]], run: Runner) -> None:
    """Shows the machine for the document on standard input; exits 1 for its errors, 2 for the engine's."""
    parser = argparse.ArgumentParser(prog=name, description="Shows what a machine looks like after its first boot.")
    parser.add_argument("--root", default="trixie", help="root file system: trixie or bookworm")
    parser.add_argument("--check", action="store_true", help="only let the engine's own validator read it")
    parser.add_argument(
        "--fake", action="append", default=[], metavar="NAME", help="put a recorded fake command on PATH"
    )
    parser.add_argument("--start", action="append", default=[], metavar="UNIT", help="Ignition: start this service")
    parser.add_argument("--systemd", action="store_true", help="boot with the real systemd as PID 1")
    options = parser.parse_args()
    document = sys.stdin.buffer.read()
    files = {path: item for fake in options.fake for path, item in fakes.command(fake).items()}
    try:
        if options.check:
            findings = validate(document)
            print("\n".join(map(str, findings)) or "no findings")
        else:
            state = run(
                document, root=options.root, extra_files=files, start=tuple(options.start), systemd=options.systemd
            )
            findings = list(state.findings)
            print(describe(state), end="")
    except EngineError as failure:
        print(failure, file=sys.stderr)
        sys.exit(2)
    sys.exit(1 if finding.errors(findings) else 0)
