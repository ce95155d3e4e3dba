"""The manifests of the web page: an opt-in behind a reverse proxy, with flags that the program takes."""

from typing import Any

import pytest

from slipway.node_gateway.__main__ import main
from slipway.node_gateway.settings import GatewaySettings
from tests.services.node_gateway.test_reports_component import documents, patched


@pytest.fixture
def pod() -> dict[str, Any]:
    """Give the pod of the gateway with the patches of both components."""
    return patched("reports/node-gateway.yaml", "reports-web/node-gateway.yaml")


def test_its_flags_are_those_of_the_program(pod: dict[str, Any]) -> None:
    """They are valid beside those of the reports; the port is the Service's, and the certificates are mounted."""
    (container,) = pod["spec"]["containers"]
    with main.make_context("slipway-node-gateway", list(container["args"])) as context:
        settings = GatewaySettings.load({name: value for name, value in context.params.items() if value is not None})
    assert settings.review_tokens
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    (service,) = [each for each in documents("reports-web/web.yaml") if each["kind"] == "Service"]
    (port,) = service["spec"]["ports"]
    assert str(settings.web_address).endswith(f":{ports[port['targetPort']]}")
    assert service["spec"].get("type", "ClusterIP") == "ClusterIP"
    mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
    assert mounts[str(settings.web_tls_cert_dir)]["readOnly"]
    assert {mount["name"] for mount in mounts.values()} == {volume["name"] for volume in pod["spec"]["volumes"]}


def test_only_labelled_namespaces_reach_it(pod: dict[str, Any]) -> None:
    """The page is for a reverse proxy: its port is open to no machine, and to no other pod."""
    (policy,) = [each["spec"] for each in documents("reports-web/web.yaml") if each["kind"] == "NetworkPolicy"]
    assert policy["podSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    (rule,) = policy["ingress"]
    labels = {"matchLabels": {"slipway.dev/shows-reports": "true"}}
    assert rule == {"from": [{"namespaceSelector": labels}], "ports": [{"port": 9445}]}
    for other in ("node-gateway/network.yaml", "reports/reports.yaml"):
        policies = [each["spec"] for each in documents(other) if each["kind"] == "NetworkPolicy"]
        opened = [port["port"] for each in policies for rule in each["ingress"] for port in rule["ports"]]
        assert opened
        assert 9445 not in opened
