"""Settings of the service, its file of units, and what they make of a domain."""

from pathlib import Path
from typing import Any

import click
import pytest

from slipway.directory.failures import ConfigurationInvalid
from slipway.directory_service.server import maker_of
from slipway.directory_service.settings import DirectorySettings
from slipway.directory_service.units import Units
from slipway.rpc.server import ServerStartError

FLAGS: dict[str, Any] = {
    "insecure": True,
    "listen_address": "127.0.0.1:0",
    "directory_domain": "Corp.Example.com",
    "directory_server": "ldaps://dc1.corp.example.com",
    "directory_user": "joiner@corp.example.com",
    "directory_base": "OU=Nodes,DC=corp,DC=example,DC=com",
    "directory_owner": "management-1",
}


@pytest.fixture
def password(tmp_path: Path) -> Path:
    """Give a file as a kubelet writes it: for root and the group of the pod."""
    path = tmp_path / "password"
    path.write_text("secret-of-a-test\n")
    path.chmod(0o440)
    return path


def test_they_lead_to_a_connection_with_the_password_of_the_moment(password: Path) -> None:
    """The file is read for each connection, so a new password needs no restart."""
    settings = DirectorySettings.load(FLAGS, directory_password_file=password)
    assert settings.directory_domain == "corp.example.com"
    assert settings.connection("").password == "secret-of-a-test"
    assert settings.connection("").place == FLAGS["directory_base"]
    password.chmod(0o640)
    password.write_text("the next one")
    connection = settings.connection("OU=Rack,OU=Nodes,DC=corp,DC=example,DC=com")
    assert connection.password == "the next one"
    assert connection.place.startswith("OU=Rack")
    assert "secret" not in repr(settings) + repr(connection)


@pytest.mark.parametrize("mode", [0o444, 0o460])
def test_a_password_that_others_can_read_or_change_is_refused(password: Path, mode: int) -> None:
    """The group of the pod may read it, and no other user."""
    password.chmod(mode)
    settings = DirectorySettings.load(FLAGS, directory_password_file=password)
    with pytest.raises(ServerStartError, match="password file"):
        maker_of(settings)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"directory_domain": "corp"}, "--directory-domain"),
        ({"directory_domain": "corp_example.com"}, "--directory-domain"),
        ({"directory_owner": "UPPER"}, "--directory-owner"),
        ({"namespaces": ","}, "--namespaces"),
        ({"namespaces": "a,B"}, "--namespaces"),
        ({"directory_server": None}, "--directory-server"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(password: Path, change: dict[str, Any], named: str) -> None:
    """By its flag, when the process starts."""
    with pytest.raises(click.UsageError, match=named):
        DirectorySettings.load({**FLAGS, **change}, directory_password_file=password)


@pytest.mark.parametrize("server", ["ldap://dc1.corp.example.com", "https://dc1"])
def test_ldap_without_tls_is_refused_at_the_start(password: Path, server: str) -> None:
    """As by the command line: there is no plain connection to fall back to."""
    settings = DirectorySettings.load({**FLAGS, "directory_server": server}, directory_password_file=password)
    with pytest.raises(ServerStartError, match="server"):
        maker_of(settings)


def test_units_are_read_from_a_file(tmp_path: Path) -> None:
    """A Cluster's unit, then its namespace's, then none."""
    path = tmp_path / "units.yaml"
    path.write_text("units:\n- {namespace: a, unit: OU=A}\n- {namespace: a, cluster: prod, unit: OU=Prod}\n")
    units = Units.read(path)
    assert [units.unit_of(*place) for place in (("a", "prod"), ("a", "dev"), ("b", "prod"))] == ["OU=Prod", "OU=A", ""]
    assert Units.read(None).unit_of("a", "prod") == ""


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("units: [", "YAML"),
        ("units: []", "units"),
        ("units: [{namespace: a, unit: OU=A, team: x}]", r"units\.0\.team"),
        ("units: [{unit: OU=A}]", r"units\.0\.namespace"),
        ("units: [{namespace: a, unit: 7}]", r"units\.0\.unit"),
        ("units: [{namespace: a, unit: OU=A}, {namespace: a, unit: OU=B}]", r"units\.1"),
        ("- a", "document"),
    ],
)
def test_a_file_of_units_that_cannot_be_used_is_refused(tmp_path: Path, text: str, named: str) -> None:
    """With the place in it; nothing is left out silently."""
    path = tmp_path / "units.yaml"
    path.write_text(text)
    with pytest.raises(ConfigurationInvalid, match=named):
        Units.read(path)
