"""Machines out of files in Slipway's own words that lie here."""

from functools import cache
from pathlib import Path

from slipway.bootstrapper.documents.machines import MachineQuestion, native_questions
from slipway.bootstrapper.documents.native import NativeCluster, NativeConfig, read_native
from slipway.contract.yaml_source import load_documents


@cache
def machines(file: str) -> dict[str, MachineQuestion]:
    """The machines of a file, by name."""
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    read = [read_native(one) for one in load_documents(text, file=file)]
    configs = [one for one in read if isinstance(one, NativeConfig)]
    return {one.name: one for one in native_questions(configs, [one for one in read if isinstance(one, NativeCluster)])}
