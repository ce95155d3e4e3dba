"""The component that makes computer accounts, as kustomize composes it with an overlay and the settings of its page."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from slipway.directory_service.__main__ import main
from slipway.directory_service.settings import DirectorySettings
from tests.deploy.kubernetes import rendered
from tests.deploy.kubernetes.policies import Peer, Policies

pytestmark = pytest.mark.engine
NAME = "slipway-directory"
PAGE = Path("docs/how-to/run-the-directory-service.md")
METADATA = ("169.254.169.254", "100.100.100.200", "fd00:ec2::254")
"""Where clouds serve the credentials of the machine itself."""


@pytest.fixture
def objects(engine: Callable[..., None], tmp_path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Give everything that an operator applies, by kind and name."""
    engine("kubebox-1.34")
    made = rendered.composed(tmp_path, overlay="overlays/own-certificates", components=["directory"])
    return {(item["kind"], item["metadata"]["name"]): item for item in made}


def pod(objects: dict[tuple[str, str], dict[str, Any]], name: str = NAME) -> dict[str, Any]:
    """Give the template of the pods of a Deployment."""
    template: dict[str, Any] = objects["Deployment", name]["spec"]["template"]
    return template


def settings_of_the_page() -> dict[str, Any]:
    """Give the ConfigMap that the page shows."""
    blocks = [block.partition("```")[0] for block in PAGE.read_text(encoding="utf-8").split("```yaml\n")[1:]]
    (shown,) = [tree for tree in map(yaml.safe_load, blocks) if tree.get("kind") == "ConfigMap"]
    tree: dict[str, Any] = shown
    return tree


def test_the_program_takes_its_flags_and_the_settings_of_the_page(
    objects: dict[tuple[str, str], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the page has in the ConfigMap are variables and files of the pod, and nothing that is needed is left out."""
    shown = settings_of_the_page()
    (container,) = pod(objects)["spec"]["containers"]
    assert container["envFrom"] == [{"configMapRef": {"name": shown["metadata"]["name"]}}]
    variables = {name: value for name, value in shown["data"].items() if name.startswith("SLIPWAY_")}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    flags = [flag.replace("$(POD_NAMESPACE)", shown["metadata"]["namespace"]) for flag in container["args"]]
    with main.make_context(NAME, flags) as context:
        settings = DirectorySettings.load({name: value for name, value in context.params.items() if value is not None})
    assert settings.lease_namespace == objects["Deployment", NAME]["metadata"]["namespace"]
    places = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pod(objects)["spec"]["volumes"]}
    assert places.keys() == volumes.keys()
    (password,) = volumes["account"]["secret"]["items"]
    assert str(settings.directory_password_file) == f"{places['account']}/{password['path']}"
    assert volumes["settings"]["configMap"]["name"] == shown["metadata"]["name"]
    files = {str(settings.directory_ca_file), str(settings.directory_units)}
    assert files == {f"{places['settings']}/{name}" for name in shown["data"].keys() - variables.keys()}


def test_its_image_is_the_controllers(objects: dict[tuple[str, str], dict[str, Any]]) -> None:
    """One entry of an operator's `images` is for both."""
    images = [pod(objects, name)["spec"]["containers"][0]["image"] for name in (NAME, "slipway-controller")]
    assert len({image.partition(":")[0] for image in images}) == 1


def test_its_pods_reach_the_domain_and_the_api_server_alone(objects: dict[tuple[str, str], dict[str, Any]]) -> None:
    """LDAPS and the API server; no address of a metadata service, no other port, and only metrics from outside."""
    policies = Policies(item for (kind, _), item in objects.items() if kind == "NetworkPolicy")
    labels = pod(objects)["metadata"]["labels"]
    for port, allowed in ((636, True), (443, True), (6443, True), (389, False), (9443, False), (445, False)):
        assert policies.allow("egress", labels, Peer("10.0.0.7"), port) is allowed, port
    for address in METADATA:
        assert not policies.allow("egress", labels, Peer(address), 443), address
    assert policies.opened("ingress", labels) == {8080}


def test_without_the_component_there_is_nothing_of_it(engine: Callable[..., None]) -> None:
    """An installation that joins no domain has no account, role or policy for it."""
    engine("kubebox-1.34")
    names = {document["metadata"]["name"] for document in rendered.documents("overlays/own-certificates")}
    assert not [name for name in names if name.startswith(NAME)]
