"""Where a document says of which format its import was."""

import pytest

from slipway.bootstrapper.documents.native import NativeConfig, read_native
from slipway.contract.source_position import SourceError
from slipway.contract.yaml_source import load_documents

NOTE = "annotations: {bootstrap.slipway.dev/imported-format: ignition}"


def _read(text: str) -> NativeConfig:
    (document,) = load_documents(f"apiVersion: bootstrap.slipway.dev/v1alpha1\n{text}", file="f.yaml")
    found = read_native(document)
    assert isinstance(found, NativeConfig)
    return found


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"kind: SlipwayConfig\nmetadata: {{name: a, {NOTE}}}\nspec: {{COMMANDS}}", "spec"),
        (
            f"""kind: SlipwayConfigTemplate\nmetadata: {{name: a}}
spec: {{template: {{metadata: {{{NOTE}}}, spec: {{COMMANDS}}}}}}""",
            "spec.template.spec",
        ),
    ],
)
def test_the_format_stands_where_configs_have_it(text: str, place: str) -> None:
    """A config has its own annotations; of a template Cluster API hands on those inside."""
    command = "commands: {pre: [{script: {text: sed -i s/a/b/ /etc/kubeadm.yml}}]}"
    imported = _read(text.replace("COMMANDS", command)).spec.imported
    assert imported.format == "ignition"
    assert [one.path for one in imported.bound_by] == [f"{place}.commands.pre[0]"]


def test_a_template_has_it_inside() -> None:
    """Outside no config would ever have it, and the command line would say another format than the controller."""
    with pytest.raises(SourceError) as caught:
        _read(f"kind: SlipwayConfigTemplate\nmetadata: {{name: a, {NOTE}}}\nspec: {{template: {{spec: {{}}}}}}")
    (problem,) = caught.value.problems
    assert "belongs to spec.template.metadata" in problem.message
    assert problem.path == "metadata.annotations[bootstrap.slipway.dev/imported-format]"
