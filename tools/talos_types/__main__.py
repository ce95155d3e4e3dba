"""Writes the table of the types of Talos' machine configuration by version, from its Go module: `make talos-types`.

For each version a small Go module is made that has Talos' machinery of it; only the table is kept, and
the verdicts of Talos' own loader on the patches that tests compare with.
"""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from tools.kubernetes_types.version_columns import write_table
from tools.repository import ROOT
from tools.talos_types.questions import questions

VERSIONS = ("1.11.5", "1.12.6", "1.13.9")
TABLE = ROOT / "provisioners/slipway/provisioners/talos/types.json"
VERDICTS = ROOT / "tests/provisioners/talos/verdicts.json"
_MODULE = "github.com/siderolabs/talos/pkg/machinery"
_MAIN = Path(__file__).with_name("main.go")


def build(version: str, folder: Path) -> Path:
    """Build the Go program with the types of a version."""
    shutil.copy(_MAIN, folder)
    for command in (
        ["mod", "init", "types"],
        ["get", f"{_MODULE}@v{version}"],
        ["mod", "tidy"],
        ["build", "-o", "types", "."],
    ):
        subprocess.run(["go", *command], cwd=folder, check=True)
    return folder / "types"


def main() -> None:
    """Write the table and the verdicts."""
    schemas, verdicts = {}, {}
    text = "\n".join(json.dumps(question) for question in questions()).encode()
    for version in VERSIONS:
        with tempfile.TemporaryDirectory() as name:
            program, minor = build(version, Path(name)), version.rpartition(".")[0]
            schemas[minor] = json.loads(subprocess.run([program, "schema"], capture_output=True, check=True).stdout)
            answers = subprocess.run([program, "strict"], input=text, capture_output=True, check=True).stdout.split()
            verdicts[minor] = "".join("1" if word == b"true" else "0" for word in answers)
    write_table(TABLE, f"{_MODULE} of {', '.join(VERSIONS)} (make talos-types)", schemas)
    VERDICTS.write_text(json.dumps(verdicts, indent=1) + "\n")


if __name__ == "__main__":
    main()
