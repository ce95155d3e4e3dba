"""Writes the table of the types of Ignition's configs by spec version: `make ignition-types`.

They are those of the Go modules of the program `tools/oracles/go/ignition`.
"""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from tools.kubernetes_types.version_columns import write_table
from tools.repository import ROOT

TABLE = ROOT / "provisioners/slipway/provisioners/ignition/types.json"
_MODULES = ROOT / "tools/oracles/go/ignition"
_MAIN = Path(__file__).with_name("main.go")


def main() -> None:
    """Write the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in (_MAIN, _MODULES / "go.mod", _MODULES / "go.sum"):
            shutil.copy(file, folder)
        output = subprocess.run(["go", "run", "-mod=mod", "."], cwd=folder, capture_output=True, check=True).stdout
    schemas = json.loads(output)
    source = "github.com/coreos/ignition v0.35.0 and v2.26.0 (make ignition-types)"
    write_table(TABLE, source, {version: schemas[version] for version in sorted(schemas)})


if __name__ == "__main__":
    main()
