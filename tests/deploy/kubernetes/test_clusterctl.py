"""The provider as the real clusterctl takes it: its layout, its variables, the namespace that a person chooses."""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from slipway.controller.settings import ControllerSettings
from tests.deploy.kubernetes import rendered
from tools.oracles import go_programs

pytestmark = pytest.mark.engine

VERSION = "v0.1.0"
DEFAULTS = {
    "SLIPWAY_ALLOWED_PROVISIONERS": "cloud-init,ignition,talos,windows",
    "SLIPWAY_BOOTSTRAP_TOKEN_TTL_SECONDS": "900",
    "SLIPWAY_KUBE_API_BURST": "200",
    "SLIPWAY_KUBE_API_QPS": "0",
    "SLIPWAY_LOG_LEVEL": "info",
    "SLIPWAY_WORKERS": "32",
}
OTHERS = {
    "SLIPWAY_ALLOWED_PROVISIONERS": "ignition,bottlerocket.example.com",
    "SLIPWAY_BOOTSTRAP_TOKEN_TTL_SECONDS": "1800",
    "SLIPWAY_KUBE_API_BURST": "0",
    "SLIPWAY_KUBE_API_QPS": "250.5",
    "SLIPWAY_LOG_LEVEL": "debug",
    "SLIPWAY_WORKERS": "8",
}


class Clusterctl:
    """clusterctl with a local repository that holds this provider, as a release would."""

    def __init__(self, folder: Path) -> None:
        release = folder / "repository" / "bootstrap-slipway" / VERSION
        release.mkdir(parents=True)
        (release / "bootstrap-components.yaml").write_text(rendered.text("clusterctl"), encoding="utf-8")
        metadata = (rendered.ROOT / "clusterctl" / "metadata.yaml").read_text(encoding="utf-8")
        (release / "metadata.yaml").write_text(metadata, encoding="utf-8")
        url = str(release / "bootstrap-components.yaml")
        self._config = folder / "clusterctl.yaml"
        self._provider = {"name": "slipway", "type": "BootstrapProvider", "url": url}
        self._home = folder
        self.configure()

    def configure(self, **more: object) -> None:
        """Write clusterctl's own configuration."""
        self._config.write_text(yaml.safe_dump({"providers": [self._provider], **more}), encoding="utf-8")

    def generate(self, *flags: str, variables: Mapping[str, str] | None = None) -> str:
        """Run `clusterctl generate provider`; give what it prints."""
        program = go_programs.PROGRAMS["clusterctl-1.14"].require()
        wanted = ("--bootstrap", f"slipway:{VERSION}", "--config", str(self._config))
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self._home), "CLUSTERCTL_DISABLE_VERSIONCHECK": "true",
            **(variables or {}),
        }  # fmt: skip
        done = subprocess.run(
            [program, "generate", "provider", *wanted, *flags],
            env=environment, check=False, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def documents(self, *flags: str, variables: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
        """Give the documents that it would apply."""
        return rendered.parsed(self.generate(*flags, variables=variables))


@pytest.fixture
def clusterctl(engine: Callable[..., None], tmp_path: Path) -> Clusterctl:
    """The real one."""
    engine("clusterctl-1.14", "kubebox-1.34")
    return Clusterctl(tmp_path)


def test_it_takes_the_provider_and_tells_its_variables(clusterctl: Clusterctl) -> None:
    """Metadata and components are what it looks for; each variable has a default, and none is there by accident."""
    told = clusterctl.generate("--describe")
    assert "Type:               BootstrapProvider" in told
    assert f"Version:            {VERSION}" in told
    assert "TargetNamespace:    slipway-system" in told
    listed = [
        line.split("-", 1)[1].strip() for line in told[told.index("Variables:") :].splitlines()[1:] if "-" in line
    ]
    assert sorted(one for one in listed if one.startswith("SLIPWAY_")) == sorted(DEFAULTS)


@pytest.mark.parametrize("chosen", [{}, OTHERS], ids=["defaults", "chosen"])
def test_variables_reach_the_settings(clusterctl: Clusterctl, chosen: dict[str, str]) -> None:
    """What a person sets is what the programs read, and they accept it; "$(POD_NAMESPACE)" is not clusterctl's."""
    deployments = _of_kind(clusterctl.documents(variables=chosen), "Deployment")
    wanted = {**DEFAULTS, **chosen}
    assert deployments.keys() == {"slipway-controller"}
    (container,) = deployments["slipway-controller"]["spec"]["template"]["spec"]["containers"]
    given = {variable["name"]: variable["value"] for variable in container["env"] if "value" in variable}
    flags = dict(argument.partition("=")[::2] for argument in container["args"])
    given |= {_variable(flag): value for flag, value in flags.items() if _variable(flag) in DEFAULTS}
    assert given == wanted
    assert flags["--lease-namespace"] == "$(POD_NAMESPACE)"
    settings = {key.removeprefix("SLIPWAY_").lower(): value for key, value in given.items()}
    embedded = flags["--embedded-provisioners"]
    assert ControllerSettings.load({**settings, "tls_cert_dir": "/certs", "embedded_provisioners": embedded})


def _variable(flag: str) -> str:
    return "SLIPWAY_" + flag.strip("-").replace("-", "_").upper()


def test_the_image_is_another_one_where_a_person_wants_it(clusterctl: Clusterctl) -> None:
    """By clusterctl's own `images`, for all that is ours: a name that it can read is in the components."""
    clusterctl.configure(images={"bootstrap-slipway": {"repository": "mirror.example.org/mirrored", "tag": "v0.1.7"}})
    images = {
        container["image"]
        for one in _of_kind(clusterctl.documents(), "Deployment").values()
        for container in one["spec"]["template"]["spec"]["containers"]
    }
    assert images == {"mirror.example.org/mirrored/slipway:v0.1.7"}


def test_it_is_installed_where_a_person_wants_it(clusterctl: Clusterctl) -> None:
    """In another namespace everything goes there, and nothing of what runs names the old one."""
    documents = clusterctl.documents("--target-namespace", "elsewhere")
    (namespace,) = _of_kind(documents, "Namespace")
    assert namespace == "elsewhere"
    assert {document["metadata"]["namespace"] for document in documents if "namespace" in document["metadata"]} == {
        "elsewhere"
    }
    for document in documents:
        for subject in document.get("subjects") or ():
            assert subject["namespace"] == "elsewhere"
        if document["kind"] in {"Deployment", "NetworkPolicy", "ValidatingAdmissionPolicy"}:
            assert "slipway-system" not in yaml.safe_dump(document)


def test_it_finds_what_it_looks_for(clusterctl: Clusterctl) -> None:
    """The controller's container is called manager; everything carries the provider's label, which deletes it again."""
    documents = clusterctl.documents()
    controller = _of_kind(documents, "Deployment")["slipway-controller"]
    assert controller["spec"]["template"]["spec"]["containers"][0]["name"] == "manager"
    for document in documents:
        labels = document["metadata"]["labels"]
        assert labels["cluster.x-k8s.io/provider"] == "bootstrap-slipway", document["metadata"]["name"]
        assert "clusterctl.cluster.x-k8s.io" in labels


def _of_kind(documents: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return {document["metadata"]["name"]: document for document in documents if document["kind"] == kind}
