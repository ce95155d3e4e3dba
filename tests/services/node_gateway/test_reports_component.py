"""The manifests that let the gateway keep reports: what is mounted is there, and the flags are those of the program."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from slipway.controller.__main__ import main as controller_main
from slipway.node_gateway.__main__ import main
from slipway.node_gateway.settings import GatewaySettings

FOLDER = Path(__file__).resolve().parents[3] / "deploy/kubernetes"


def documents(path: str) -> list[Any]:
    """Give the documents of a file."""
    return list(yaml.safe_load_all((FOLDER / path).read_text(encoding="utf-8")))


def patched(*patches: str) -> dict[str, Any]:
    """Give the pod of the gateway with patches applied: they append to lists, and replace values (RFC 6902)."""
    (deployment,) = [each for each in documents("node-gateway/node-gateway.yaml") if each["kind"] == "Deployment"]
    for operation in (each for patch in patches for operations in documents(patch) for each in operations):
        *parents, last = operation["path"].split("/")[1:]
        target: Any = deployment
        for part in parents:
            target = target[int(part) if isinstance(target, list) else part]
        if isinstance(target, list):
            assert (operation["op"], last) == ("add", "-")
            target.append(operation["value"])
        else:
            assert operation["op"] == ("replace" if last in target else "add")
            target[last] = operation["value"]
    assert deployment["spec"]["strategy"] == {"type": "Recreate"}
    template: dict[str, Any] = deployment["spec"]["template"]
    return template


@pytest.fixture
def pod() -> dict[str, Any]:
    """Give the pod of the gateway that keeps reports."""
    return patched("reports/node-gateway.yaml")


def objects() -> dict[str, dict[str, Any]]:
    """Give the objects beside it, by kind."""
    return {each["kind"]: each for each in documents("reports/reports.yaml")}


def test_its_flags_are_those_of_the_program(pod: dict[str, Any]) -> None:
    """They are valid together, the port is the Service's, and each folder is mounted."""
    (container,) = pod["spec"]["containers"]
    with main.make_context("slipway-node-gateway", list(container["args"])) as context:
        settings = GatewaySettings.load({name: value for name, value in context.params.items() if value is not None})
    assert settings.review_tokens
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    (port,) = objects()["Service"]["spec"]["ports"]
    assert str(settings.management_address).endswith(f":{ports[port['targetPort']]}")
    assert port["port"] == ports["reports"]
    mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
    assert settings.report_store is not None
    assert not mounts[settings.report_store.removeprefix("file://")].get("readOnly")
    assert mounts[str(settings.management_tls_cert_dir)]["readOnly"]
    assert settings.report_key_file is not None
    assert mounts[str(settings.report_key_file.parent)]["readOnly"]
    assert {mount["name"] for mount in mounts.values()} == {volume["name"] for volume in pod["spec"]["volumes"]}


def test_the_controller_follows_the_reports(pod: dict[str, Any]) -> None:
    """It calls the Service by its name and port, and the gateway lets its certificate read and bring events."""
    (controller,) = [each for each in documents("services/controller.yaml") if each["kind"] == "Deployment"]
    (operations,) = documents("reports/controller.yaml")
    ours = [operation["value"] for operation in operations]
    service = objects()["Service"]
    assert ours == [f"--reports-address={service['metadata']['name']}:{service['spec']['ports'][0]['port']}"]
    arguments = [*controller["spec"]["template"]["spec"]["containers"][0]["args"], *ours]
    with controller_main.make_context("slipway-controller", arguments) as context:
        settings = {name: value for name, value in context.params.items() if value is not None}
    assert settings["reports_address"] == "slipway-reports:9444"
    certificates = documents("overlays/separate/cert-manager/certificates.yaml")
    uris = [uri for each in certificates for uri in each.get("spec", {}).get("uris", ())]
    for flag in ("--report-readers=", "--console-callers="):
        (caller,) = [value for value in pod["spec"]["containers"][0]["args"] if value.startswith(flag)]
        assert caller.removeprefix(flag) in uris


def test_it_may_review_and_no_more(pod: dict[str, Any]) -> None:
    """Its token is for reviews: the only role that is bound to it."""
    assert pod["spec"]["automountServiceAccountToken"] is True
    binding = objects()["ClusterRoleBinding"]
    assert binding["roleRef"]["name"] == "system:auth-delegator"
    assert [subject["name"] for subject in binding["subjects"]] == [pod["spec"]["serviceAccountName"]]
    assert set(objects()) == {"PersistentVolumeClaim", "ClusterRoleBinding", "Service", "NetworkPolicy"}


def test_the_policy_opens_its_port_to_the_cluster_only(pod: dict[str, Any]) -> None:
    """Machines reach the other port: this one is for callers in the cluster."""
    policy = objects()["NetworkPolicy"]["spec"]
    assert policy["podSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    (rule,) = policy["ingress"]
    assert rule == {"from": [{"namespaceSelector": {}}], "ports": [{"port": 9444}]}
