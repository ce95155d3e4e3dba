"""Empty lists in the differences by role: the wire cannot carry them, so they are refused where they stand."""

import pytest

from slipway.bootstrapper.documents.native import NativeConfig, read_native
from slipway.contract.source_position import SourceError
from slipway.contract.yaml_source import load_documents


def _read(spec: str, *, kind: str = "SlipwayConfig") -> NativeConfig:
    text = f"apiVersion: bootstrap.slipway.dev/v1alpha1\nkind: {kind}\nmetadata: {{name: w}}\nspec: {spec}\n"
    (document,) = load_documents(text, file="w.yaml")
    read = read_native(document)
    assert isinstance(read, NativeConfig)
    return read


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ("{join: {os: {sysctls: []}}}", "spec.join.os.sysctls"),
        ("{init: {commands: {pre: []}}}", "spec.init.commands.pre"),
        ("{join: {os: {ntp: {servers: []}}}}", "spec.join.os.ntp.servers"),
    ],
)
def test_an_empty_list_is_refused(spec: str, path: str) -> None:
    """It would leave the list of the spec as it is, without a word."""
    with pytest.raises(SourceError) as caught:
        _read(spec)
    (problem,) = caught.value.problems
    assert (problem.path, problem.position.line if problem.position else 0) == (path, 4)
    assert "takes nothing away" in problem.message


def test_a_template_is_read_alike() -> None:
    """Its spec stands deeper."""
    with pytest.raises(SourceError) as caught:
        _read("{template: {spec: {init: {os: {files: []}}}}}", kind="SlipwayConfigTemplate")
    assert [one.path for one in caught.value.problems] == ["spec.template.spec.init.os.files"]


def test_an_empty_list_elsewhere_is_no_list() -> None:
    """At the top there is nothing to take away; taints without items mean something."""
    read = _read("{os: {sysctls: []}, init: {kubernetes: {node: {taints: {items: []}}}}}")
    assert read.spec.init.kubernetes.node.HasField("taints")
