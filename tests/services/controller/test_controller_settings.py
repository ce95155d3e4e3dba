"""Where the controller's provisioners come from, and which of them may get bundles."""

from typing import Any

import pytest
from pydantic import ValidationError

from slipway.bootstrapper.provisioning.versions import VersionRules
from slipway.controller.settings import ControllerSettings

TLS = {"tls_cert_dir": "/certs"}


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        ({"embedded_provisioners": "cloud-init,ignition"}, {"cloud-init", "ignition"}),
        ({"registry_address": "registry:9443"}, set()),
        ({"embedded_provisioners": "cloud-init", "registry_address": "registry:9443"}, {"cloud-init"}),
        ({"embedded_provisioners": "cloud-init", "allowed_provisioners": "acme"}, {"acme"}),
    ],
)
def test_what_may_get_bundles(given: dict[str, Any], allowed: set[str]) -> None:
    """Who embeds a provisioner allows it; a registry's provisioner is allowed by name only, and a list always wins."""
    assert ControllerSettings(**TLS, **given).policy().allowed_provisioners == allowed


def test_without_tls_every_provisioner_is_allowed() -> None:
    """Everything runs on one machine then."""
    settings = ControllerSettings(insecure=True, listen_address="127.0.0.1:1", embedded_provisioners="talos")
    assert settings.policy().allowed_provisioners is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "--embedded-provisioners or --registry-address is needed"),
        (
            {"embedded_provisioners": "cloud-init,flatcar"},
            "flatcar: not an embedded provisioner; choose",
        ),
        (
            {"embedded_provisioners": "talos", "fetch_infrastructures": "metal", "payload_url_base": "https://g:1"},
            "--fetch-infrastructures and --payload-store go together",
        ),
        ({"embedded_provisioners": "talos", "payload_store": "file:///srv"}, "go together"),
        ({"embedded_provisioners": "talos", "provisioner_versions": "talos>=1"}, "must be NAME>=VERSION"),
        ({"embedded_provisioners": "talos", "provisioner_versions": "tales>=1.0.0"}, "names tales, which may get no"),
    ],
)
def test_settings_that_cannot_work_are_refused(given: dict[str, Any], message: str) -> None:
    """A controller without provisioners, and a name that nothing has, end at the start."""
    with pytest.raises(ValidationError, match=message):
        ControllerSettings(**TLS, **given)


@pytest.mark.parametrize(("value", "followed"), [("a, b", {"a", "b"}), ("a", {"a"}), (None, None)])
def test_namespaces_are_a_list(value: str | None, followed: set[str] | None) -> None:
    """None is all of them."""
    flags = {} if value is None else {"namespaces": value}
    assert ControllerSettings(**TLS, registry_address="r:1", **flags).namespaces == followed


@pytest.mark.parametrize("value", ["", ",", "a/b", "A", "*", "a,../b"])
def test_what_is_no_namespace_is_refused(value: str) -> None:
    """An empty list would be all of them to the API server."""
    with pytest.raises(ValidationError, match="must be names of namespaces"):
        ControllerSettings(**TLS, registry_address="r:1", namespaces=value)


def test_rules_for_versions_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rules as those of the flag, for embedded and registered provisioners."""
    monkeypatch.setenv("SLIPWAY_PROVISIONER_VERSIONS", "talos==0.1.0, acme>=2.0.0")
    settings = ControllerSettings(**TLS, embedded_provisioners="talos", allowed_provisioners="talos,acme")
    assert settings.policy().versions == VersionRules.parse(["talos==0.1.0", "acme>=2.0.0"])
