"""The component by which machines fetch their user data, as kustomize composes it with an overlay."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slipway.controller.__main__ import main as controller
from slipway.controller.settings import ControllerSettings
from slipway.node_gateway.__main__ import main as node_gateway
from slipway.node_gateway.settings import GatewaySettings
from tests.bootstrapper.lowering.specs import PEM
from tests.deploy.kubernetes import rendered

pytestmark = pytest.mark.engine
VALUES = {
    "store": "s3://payloads/slipway", "url-base": "https://gateway.example.com", "infrastructures": "metal,openstack",
}  # fmt: skip
SECRETS = {"slipway-node-gateway": "slipway-payload-reader", "slipway-controller": "slipway-payload-writer"}


@pytest.fixture
def objects(engine: Callable[..., None], tmp_path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Give everything that an operator applies, by kind and name."""
    engine("kubebox-1.34")
    overlay, components = "overlays/own-certificates", ["node-gateway", "reports", "fetch"]
    made = rendered.composed(tmp_path, overlay=overlay, components=components)
    return {(item["kind"], item["metadata"]["name"]): item for item in made}


def container(objects: dict[tuple[str, str], dict[str, Any]], name: str) -> dict[str, Any]:
    """Give the first container of a Deployment, with its flags filled in as a kubelet does."""
    first: dict[str, Any] = objects["Deployment", name]["spec"]["template"]["spec"]["containers"][0]
    for variable in first["env"]:
        reference = variable.get("valueFrom", {}).get("configMapKeyRef", {})
        if reference.get("name") == "slipway-fetch":
            name, value = variable["name"], VALUES[reference["key"]]
            first["args"] = [flag.replace(f"$({name})", value) for flag in first["args"]]
    return first


def test_both_have_the_same_store(objects: dict[tuple[str, str], dict[str, Any]], tmp_path: Path) -> None:
    """The flags are those of the programs: what the controller stores the gateway serves, and notes are there, too."""
    gateway = container(objects, "slipway-node-gateway")
    with node_gateway.make_context("slipway-node-gateway", list(gateway["args"])) as context:
        served = GatewaySettings.load({name: value for name, value in context.params.items() if value is not None})
    (tmp_path / "ca.crt").write_text(PEM)
    flags = container(objects, "slipway-controller")["args"]
    flags = [flag.replace("/payload-ca/", f"{tmp_path}/") for flag in flags if "$(" not in flag]
    with controller.make_context("slipway-controller", flags) as context:
        values = {name: value for name, value in context.params.items() if value is not None}
    stored = ControllerSettings.load(values)
    assert served.store == served.payload_notes == stored.payload_store == VALUES["store"]
    fetching = stored.fetching()
    assert fetching is not None
    assert (fetching.base, fetching.authorities) == (VALUES["url-base"], PEM)
    assert fetching.infrastructures == {"metal", "openstack"}


def test_the_bucket_takes_the_place_of_the_volume(objects: dict[tuple[str, str], dict[str, Any]]) -> None:
    """No claim is left that a cluster without storage would wait for; each has a credential of its own."""
    assert ("PersistentVolumeClaim", "slipway-artifacts") not in objects
    for name, secret in SECRETS.items():
        pod = objects["Deployment", name]["spec"]["template"]["spec"]
        (first, *_) = pod["containers"]
        assert first["envFrom"] == [{"secretRef": {"name": secret}}]
        mounted = {mount["name"] for mount in first["volumeMounts"]}
        assert mounted <= {volume["name"] for volume in pod["volumes"]}
        assert "artifacts" not in mounted
    policy = objects["NetworkPolicy", "slipway-fetch"]["spec"]
    labels = objects["Deployment", "slipway-node-gateway"]["spec"]["template"]["metadata"]["labels"]
    assert policy["podSelector"]["matchLabels"].items() <= labels.items()
    assert policy["egress"][0]["ports"] == [{"port": 443}]
