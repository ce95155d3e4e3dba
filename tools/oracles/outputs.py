"""Whether the programs of the machines take the user data in a folder of ``slipway render -o``, or of the demo.

    python -m tools.oracles.outputs DIR

One table says which program reads which format, so that no output goes unread because its test forgot it.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.oracles import availability, cloud_init, ignition_parsers, talos, windows
from tools.oracles.failures import EngineError, EngineMissing
from tools.oracles.finding import Finding, errors

_GZIP = b"\x1f\x8b"


@dataclasses.dataclass(frozen=True, slots=True)
class Reader:
    """The program that reads some formats on a machine, or its own validator.

    Attributes:
        name: of the program, for people.
        formats: ids, each whole or, with a slash at the end, the beginning of one.
        engines: what must have been built.
        check: what the program says about a document.
    """

    name: str
    formats: tuple[str, ...]
    engines: tuple[str, ...]
    check: Callable[[bytes], Sequence[Finding]]

    def reads(self, format_id: str) -> bool:
        """Whether the program is for a format."""
        return any(
            format_id == entry or (entry.endswith("/") and format_id.startswith(entry)) for entry in self.formats
        )


def _cloudbase_init(script: bytes) -> list[Finding]:
    return [*windows.validate(script), *windows.check_powershell(script)]


def _newest_talos(config: bytes) -> list[Finding]:
    return talos.validate(config, version=talos.NEWEST, mode=talos.Mode.CLOUD)


def _older_talos(config: bytes) -> list[Finding]:
    return talos.validate(config, version=talos.OLDER, mode=talos.Mode.CLOUD)


READERS = (
    Reader("cloud-init", ("cloud-config",), ("root-trixie",), cloud_init.validate),
    Reader("Ignition", ("ignition/",), ("ignition-parsers",), ignition_parsers.validate),
    Reader("Talos 1.13", ("talos/v1.13", "talos/v1.12"), ("talos-1.13",), _newest_talos),
    Reader("Talos 1.11", ("talos/v1.11", "talos/v1.10", "talos/v1.9"), ("talos-1.11",), _older_talos),
    Reader("cloudbase-init", ("cloudbase-init",), ("windows",), _cloudbase_init),
    Reader("unattend schema", ("unattend",), ("checkers",), windows.check_unattend),
)


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """What came of one file.

    Attributes:
        file: its path in the folder.
        reader: name of the program; empty when none is known for the format.
        unread: why nobody has read it, else empty.
        errors: what the program refuses it for.
    """

    file: str
    reader: str
    unread: str = ""
    errors: tuple[Finding, ...] = ()

    def __str__(self) -> str:
        text = self.unread or "; ".join(map(str, self.errors)) or "taken"
        return f"{self.file}: {self.reader or 'no reader'}: {text}"


def read(folder: Path) -> list[Reading]:
    """Have every user data that the summary of a folder names read by its program.

    Raises:
        OSError: there is no summary, or a file that it names.
    """
    entries = json.loads((folder / "summary.json").read_bytes())
    rendered = [entry for entry in entries if entry["status"] == "rendered"]
    return [_read(folder, entry["file"], entry["format"]) for entry in rendered]


def _read(folder: Path, file: str, format_id: str) -> Reading:
    reader = next((entry for entry in READERS if entry.reads(format_id)), None)
    if reader is None:
        return Reading(file, "", unread=f"no program for {format_id} is known here")
    data = (folder / file).read_bytes()
    try:
        for engine in reader.engines:
            availability.require(engine)
        findings = reader.check(gzip.decompress(data) if data.startswith(_GZIP) else data)
    except EngineMissing as missing:
        return Reading(file, reader.name, unread=str(missing))
    return Reading(file, reader.name, errors=tuple(errors(findings)))


def main(arguments: Sequence[str]) -> int:
    """Print a line for each file; 1 when a program refuses one, 2 when one was not read."""
    if len(arguments) != 1:
        print("usage: python -m tools.oracles.outputs DIR", file=sys.stderr)
        return 2
    try:
        readings = read(Path(arguments[0]))
    except (OSError, EngineError) as failure:
        print(failure, file=sys.stderr)
        return 2
    print("\n".join(map(str, readings)) or "no user data")
    if any(reading.errors for reading in readings):
        return 1
    return 2 if any(reading.unread for reading in readings) or not readings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
