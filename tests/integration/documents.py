"""Reads native documents, with texts that a test fills in."""

import json
from pathlib import Path

from slipway.bootstrapper.documents.machines import MachineQuestion, native_questions
from slipway.bootstrapper.documents.native import NativeCluster, NativeConfig, read_native
from slipway.contract.yaml_source import load_documents


def questions(path: Path, **texts: str) -> dict[str, MachineQuestion]:
    """Read the machines of a file, by name; "${NAME}" in quotes stands for one of the texts."""
    document = path.read_text(encoding="utf-8")
    for name, text in texts.items():
        document = document.replace(f'"${{{name}}}"', json.dumps(text))
    native = [read_native(one) for one in load_documents(document, file=path.name)]
    configs = [one for one in native if isinstance(one, NativeConfig)]
    clusters = [one for one in native if isinstance(one, NativeCluster)]
    return {one.name: one for one in native_questions(configs, clusters)}
