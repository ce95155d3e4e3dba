"""The manifests of the gateway: it can do nothing in the cluster, and starts with the flags that stand there."""

from pathlib import Path
from typing import Any

import yaml

from slipway.node_gateway.__main__ import main
from slipway.node_gateway.settings import GatewaySettings

FOLDER = Path(__file__).resolve().parents[3] / "deploy/kubernetes/node-gateway"


def objects() -> dict[str, dict[str, Any]]:
    """Give the objects by kind."""
    texts = [(FOLDER / name).read_text(encoding="utf-8") for name in ("node-gateway.yaml", "network.yaml")]
    return {document["kind"]: document for text in texts for document in yaml.safe_load_all(text)}


def test_it_has_no_rights_in_the_cluster() -> None:
    """No role is bound to it, its account's token is nowhere, and the only Secret that it mounts is its certificate."""
    found = objects()
    assert set(found) == {"ServiceAccount", "PersistentVolumeClaim", "Deployment", "Service", "NetworkPolicy"}
    pod = found["Deployment"]["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert found["ServiceAccount"]["automountServiceAccountToken"] is False
    assert [volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume] == [
        "slipway-node-gateway-tls"
    ]
    (container,) = pod["containers"]
    assert "env" not in container
    assert "envFrom" not in container
    assert all(mount["readOnly"] for mount in container["volumeMounts"])


def test_only_its_port_is_open_and_it_calls_nobody() -> None:
    """The policy lets in what the Service leads to, and nothing out."""
    found = objects()
    policy = found["NetworkPolicy"]["spec"]
    (container,) = found["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert policy["ingress"] == [{"ports": [{"port": container["ports"][0]["containerPort"]}]}]
    assert policy["egress"] == []
    labels = found["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert policy["podSelector"]["matchLabels"].items() <= labels.items()
    assert found["Service"]["spec"]["selector"].items() <= labels.items()


def test_its_flags_are_those_of_the_program() -> None:
    """The arguments are taken, and mean the port and the folder that the manifest has."""
    (container,) = objects()["Deployment"]["spec"]["template"]["spec"]["containers"]
    with main.make_context("slipway-node-gateway", list(container["args"])) as context:
        flags = {name: value for name, value in context.params.items() if value is not None}
    settings = GatewaySettings.load(flags)
    assert settings.listen_address.endswith(f":{container['ports'][0]['containerPort']}")
    folders = [mount["mountPath"] for mount in container["volumeMounts"]]
    assert settings.store.removeprefix("file://") in folders
