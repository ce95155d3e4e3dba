"""An argument is written in one way, by which whatever looks for it finds it."""

import json

import pytest

from slipway.bootstrapper.assembly.subject import check
from slipway.contract.errors import SpecInvalid
from tests.bootstrapper.assembly.subjects import subject

NODE = {
    "node": {"kubeletArguments": [{"name": "node-ip", "value": "10.0.0.1"}, {"name": "node_ip", "value": "10.0.0.2"}]}
}
SERVER = {"controlPlane": {"apiServer": {"arguments": [{"name": "audit_log_path", "value": "-"}]}}}


@pytest.mark.parametrize(
    ("part", "place"),
    [
        ({"kubernetes": NODE}, "kubernetes.node.kubeletArguments[1].name"),
        ({"kubernetes": SERVER}, "kubernetes.controlPlane.apiServer.arguments[0].name"),
        ({"join": {"kubernetes": NODE}}, "join.kubernetes.node.kubeletArguments[1].name"),
    ],
)
def test_underscores_are_refused(part: dict[str, object], place: str) -> None:
    """They mean dashes to the program, and would mean another argument to what reads the spec."""
    with pytest.raises(SpecInvalid) as caught:
        check(subject(json.dumps(part)))
    (violation,) = caught.value.violations
    assert violation.path.endswith(place)
    assert violation.remedy == "write dashes for underscores"


def test_an_imported_config_keeps_its_spelling() -> None:
    """It is what its owner runs today."""
    imported = subject(json.dumps({"kubernetes": NODE}))
    imported.spec.imported.kind = "KubeadmConfig"
    check(imported)
