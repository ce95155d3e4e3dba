"""Writes the table of Kubernetes' types by version, from the published Go modules: `make kubernetes-types`.

For each version a small Go module is made that has those of its Kubernetes; nothing of it is kept but the table, and
what the strict decoder of the newest version says of the documents that tests compare with.
"""

import itertools
import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.kubernetes_types.mutations import questions
from tools.repository import ROOT

VERSIONS = ("1.30.5", "1.31.5", "1.32.3", "1.33.5", "1.34.10", "1.35.0", "1.36.3")
TABLE = ROOT / "bootstrapper/slipway/bootstrapper/kubernetes_documents/types.json"
VERDICTS = ROOT / "tests/bootstrapper/kubernetes_documents/verdicts.json"
_MODULES = ("api", "apimachinery", "apiserver", "client-go", "component-base", "kube-proxy", "kubelet")
_MAIN = Path(__file__).with_name("main.go")


def build(version: str, folder: Path) -> Path:
    """Build the Go program with the types of a version."""
    shutil.copy(_MAIN, folder)
    of_module = f"v0.{version.removeprefix('1.')}"
    for command in (
        ["mod", "init", "types"],
        ["get", *(f"k8s.io/{name}@{of_module}" for name in _MODULES)],
        ["mod", "tidy"],
        ["build", "-o", "types", "."],
    ):
        subprocess.run(["go", *command], cwd=folder, check=True)
    return folder / "types"


def merged(columns: Sequence[Mapping[str, str]]) -> dict[str, object]:
    """Give by name the word of all versions, or the runs of versions that have the same word."""
    names = sorted({name for column in columns for name in column})
    return {name: _cell([column.get(name, "") for column in columns]) for name in names}


def _cell(words: Sequence[str]) -> object:
    if len(set(words)) == 1:
        return words[0]
    runs = [
        (word, [index for index, _ in group]) for word, group in itertools.groupby(enumerate(words), lambda p: p[1])
    ]
    return [[word, indices[0], indices[-1]] for word, indices in runs if word]


def table(schemas: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    """Join the types of all versions."""
    names = sorted({name for schema in schemas for name in schema["types"]})
    return {
        "source": f"k8s.io/{{{','.join(_MODULES)}}} of {', '.join(VERSIONS)} (make kubernetes-types)",
        "versions": [version.rpartition(".")[0] for version in VERSIONS],
        "kinds": merged([schema["kinds"] for schema in schemas]),
        "types": {name: merged([schema["types"].get(name, {}) for schema in schemas]) for name in names},
    }


def main() -> None:
    """Write the table and the verdicts."""
    schemas, verdicts = [], {}
    for version in VERSIONS:
        with tempfile.TemporaryDirectory() as name:
            program = build(version, Path(name))
            schemas.append(json.loads(subprocess.run([program, "schema"], capture_output=True, check=True).stdout))
            text = "\n".join(json.dumps(question) for question in questions()).encode()
            answers = subprocess.run([program, "strict"], input=text, capture_output=True, check=True).stdout.split()
            verdicts[version.rpartition(".")[0]] = "".join("1" if word == b"true" else "0" for word in answers)
    TABLE.write_text(json.dumps(table(schemas), separators=(",", ":")) + "\n")
    VERDICTS.write_text(json.dumps(verdicts, indent=1) + "\n")


if __name__ == "__main__":
    main()
