"""The how-to page of the service: its ConfigMap has variables that the program takes."""

import pytest
import yaml

from slipway.directory_service.__main__ import main
from slipway.directory_service.server import NAME
from slipway.directory_service.settings import DirectorySettings
from tests.services.directory_service.test_directory_component import FOLDER, pod


def test_its_flags_and_variables_are_those_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The arguments of the manifest and the variables of the how-to page are valid together."""
    page = (FOLDER.parents[1] / "docs/how-to/run-the-directory-service.md").read_text(encoding="utf-8")
    (settings,) = [
        document
        for block in page.split("```yaml\n")[1:]
        for document in yaml.safe_load_all(block.partition("```")[0])
        if isinstance(document, dict) and document.get("kind") == "ConfigMap"
    ]
    for name, value in settings["data"].items():
        if name.isupper() or "_" in name:
            monkeypatch.setenv(name, value)
    (container,) = pod()["containers"]
    with main.make_context(NAME, [arg for arg in container["args"] if "$(" not in arg]) as context:
        flags = {name: value for name, value in context.params.items() if value is not None}
    read = DirectorySettings.load(flags)
    mounts = [mount["mountPath"] for mount in container["volumeMounts"]]
    assert str(read.directory_password_file.parent) in mounts
    assert read.directory_units is not None
    assert read.directory_ca_file is not None
    for path in (read.directory_units, read.directory_ca_file):
        assert str(path.parent) in mounts
        assert path.name in settings["data"]
    assert {f"[::]:{port['containerPort']}" for port in container["ports"]} == {
        read.health_address,
        read.metrics_address,
    }
