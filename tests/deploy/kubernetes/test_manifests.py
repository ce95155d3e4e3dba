"""The manifests of deploy/kubernetes: what they promise of security, and that the programs know every flag in them."""

from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from provisioners.cloud_init.render import CloudInit
from provisioners.ignition.render import IgnitionProvisioner
from provisioners.sdk.command import command as provisioner
from provisioners.talos.provisioner import TalosProvisioner
from provisioners.windows.provisioner import WindowsProvisioner
from services.controller.__main__ import main as controller
from services.registry.__main__ import main as registry

ROOT = Path(__file__).resolve().parents[3] / "deploy" / "kubernetes"
PROGRAMS = {
    "slipway-controller": controller,
    "slipway-registry": registry,
    "slipway-provisioner-cloud-init": provisioner(CloudInit()),
    "slipway-provisioner-ignition": provisioner(IgnitionProvisioner()),
    "slipway-provisioner-talos": provisioner(TalosProvisioner()),
    "slipway-provisioner-windows": provisioner(WindowsProvisioner()),
}


def _documents(*folders: str) -> list[dict[str, Any]]:
    return [
        document
        for folder in folders
        for path in sorted((ROOT / folder).glob("*.yaml"))
        if path.name != "kustomization.yaml"
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
    ]


DEPLOYMENTS = [one for one in _documents("services") if one["kind"] == "Deployment"]
NAMES = [one["metadata"]["name"] for one in DEPLOYMENTS]


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=NAMES)
def test_every_flag_is_known(deployment: dict[str, Any]) -> None:
    """A misspelt flag would be a pod that never starts."""
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    command = PROGRAMS[container["command"][0]]
    context = click.Context(command)
    command.make_parser(context).parse_args(list(container["args"]))


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=NAMES)
def test_every_pod_is_restricted(deployment: dict[str, Any]) -> None:
    """Nobody is root, only scratch can be written, no capability is left, memory is bounded, health is asked."""
    pod = deployment["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["requests"].keys() == {"cpu", "memory"}
    assert "memory" in container["resources"]["limits"]
    assert {"startupProbe", "readinessProbe", "livenessProbe"} <= container.keys()
    assert pod["terminationGracePeriodSeconds"] > 30


def test_provisioners_have_no_token() -> None:
    """They never call the API server, and can not; controller and registry have accounts of their own."""
    accounts = {one["metadata"]["name"]: one for one in _documents("rbac") if one["kind"] == "ServiceAccount"}
    assert accounts["slipway-service"]["automountServiceAccountToken"] is False
    own = {"slipway-controller", "slipway-registry"}
    for deployment in DEPLOYMENTS:
        name = deployment["metadata"]["name"]
        wanted = name if name in own else "slipway-service"
        assert deployment["spec"]["template"]["spec"]["serviceAccountName"] == wanted


def test_clusterctl_finds_what_it_looks_for() -> None:
    """The controller's container is called manager, and metadata.yaml names the contract of every release."""
    (deployment,) = [one for one in DEPLOYMENTS if one["metadata"]["name"] == "slipway-controller"]
    assert deployment["spec"]["template"]["spec"]["containers"][0]["name"] == "manager"
    metadata = yaml.safe_load((ROOT / "clusterctl" / "metadata.yaml").read_text(encoding="utf-8"))
    assert {one["contract"] for one in metadata["releaseSeries"]} == {"v1beta2"}


def test_every_service_has_a_certificate_of_its_name() -> None:
    """Each Secret that a pod mounts is made by both overlays, and proves the name that the others ask for."""
    mounted = {
        volume["secret"]["secretName"]
        for deployment in DEPLOYMENTS
        for volume in deployment["spec"]["template"]["spec"]["volumes"]
        if "secret" in volume
    }
    made = {
        one["spec"]["secretName"]: one["spec"]
        for one in _documents("overlays/cert-manager")
        if one["kind"] == "Certificate"
    }
    assert mounted == made.keys() - {"slipway-authority"}
    for name in ("cloud-init", "ignition", "talos", "windows"):
        assert made[f"slipway-{name}-tls"]["uris"] == [f"spiffe://slipway/provisioner/{name}"]
        assert made[f"slipway-{name}-tls"]["dnsNames"] == [f"{name}.provisioner.slipway"]
    overlay = yaml.safe_load((ROOT / "overlays/own-certificates/kustomization.yaml").read_text(encoding="utf-8"))
    assert {one["name"] for one in overlay["secretGenerator"]} == mounted


def test_everything_is_denied_that_no_policy_allows() -> None:
    """One policy for all pods allows nothing; each role has one that names its neighbours."""
    policies = {one["metadata"]["name"]: one["spec"] for one in _documents("policies")}
    assert policies["slipway-deny"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    roles = {one["spec"]["template"]["metadata"]["labels"]["slipway.dev/role"] for one in DEPLOYMENTS}
    selected = {(spec["podSelector"].get("matchLabels") or {}).get("slipway.dev/role") for spec in policies.values()}
    assert roles <= selected
