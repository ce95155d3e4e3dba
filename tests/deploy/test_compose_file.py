"""The compose file as `docker compose` itself understands it: nobody has more than they need."""

from typing import Any

import pytest
import yaml

from slipway.certificates.authority import PROVISIONER
from slipway.node_gateway.__main__ import main
from slipway.node_gateway.settings import GatewaySettings
from tools.image.check import ALONE, PROVISIONERS, SERVICES
from tools.image.compose import FILE, Project

pytestmark = pytest.mark.engine
_BY_PERSONS = ("cli", "certificates")
_GATEWAY = "node-gateway"


@pytest.fixture
def services(compose: None) -> dict[str, Any]:
    """The services of the file, variables filled in and short forms resolved."""
    found: dict[str, Any] = Project("slipway-read").config()["services"]
    return found


def test_one_service_runs_by_default(services: dict[str, Any]) -> None:
    """Beside who makes its certificates; all others are of the profile "all", the command line is for people."""
    assert set(services) == {*SERVICES, *_BY_PERSONS, _GATEWAY}
    assert services[_GATEWAY]["profiles"] == ["gateway"]
    assert services["cli"]["profiles"] == ["cli"]
    profiles = {name: service.get("profiles", []) for name, service in services.items() if name != "cli"}
    assert {name for name, chosen in profiles.items() if not chosen} == {ALONE, "certificates"}
    assert {name for name, chosen in profiles.items() if chosen == ["all"]} == set(SERVICES) - {ALONE}
    assert {service["image"] for service in services.values()} == {"slipway:latest"}


@pytest.mark.parametrize("name", [*SERVICES, *_BY_PERSONS, _GATEWAY])
def test_a_container_can_do_nothing_that_it_need_not(services: dict[str, Any], name: str) -> None:
    """Read-only, no capability, no way to more; root only where certificates are made, in the services' group."""
    one = services[name]
    assert one["read_only"] is True
    assert one["cap_drop"] == ["ALL"]
    assert one["security_opt"] == ["no-new-privileges:true"]
    assert one["user"] == ("0:65532" if name == "certificates" else "65532:65532")
    assert not {"privileged", "cap_add", "pid", "ipc", "devices"} & one.keys()
    assert {mount["type"] for mount in one["volumes"]} == {"volume"}


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_watched_and_given_its_time(services: dict[str, Any], name: str) -> None:
    """It has a health check, comes back, hears signals from its first moment, and may drain for 30 seconds."""
    one = services[name]
    assert one["healthcheck"]["test"][:4] == ["CMD", "python3", "-m", "slipway.rpc.probe"]
    assert one["restart"] == "unless-stopped"
    assert one["init"] is True
    assert one["stop_grace_period"] == "35s"
    assert one["depends_on"]["certificates"]["condition"] == "service_completed_successfully"
    assert name in (ALONE, "registry") or one["depends_on"]["registry"]["condition"] == "service_healthy"


@pytest.mark.parametrize("name", [*SERVICES, "cli"])
def test_everybody_sees_their_own_key_alone(services: dict[str, Any], name: str) -> None:
    """One volume of certificates each, read-only; only bootstrappers have another one, for clusters' secrets."""
    mounts = {mount["source"]: mount for mount in services[name]["volumes"]}
    own = f"certificates-{'client' if name == 'cli' else name}"
    assert set(mounts) == ({own, "credentials"} if name in (ALONE, "bootstrapper") else {own})
    assert mounts[own]["read_only"] is True
    assert mounts[own]["target"] == "/certs"


def test_everybody_gets_a_certificate_where_they_look_for_it(services: dict[str, Any]) -> None:
    """The setup writes to the volume of each; provisioners are named as provisioners."""
    setup = services["certificates"]
    assert {mount["source"]: mount["target"] for mount in setup["volumes"]} == {
        f"certificates-{name}": f"/certs/{name}" for name in (*SERVICES, _GATEWAY, "client")
    }
    subjects = [word.removeprefix("--subject=").partition("=") for word in setup["command"] if "--subject" in word]
    who = {subject.partition("/")[2]: subject.partition("/")[0] for subject, _, _ in subjects}
    assert set(who) == {*SERVICES, _GATEWAY, "client"}
    assert {name for name, role in who.items() if role == PROVISIONER} == set(PROVISIONERS)
    reached = {subject.partition("/")[2]: hosts.split(",")[0] for subject, _, hosts in subjects if hosts}
    assert reached == {name: name for name in (*SERVICES, _GATEWAY)}


def test_only_four_ports_are_published_and_to_this_machine_only(services: dict[str, Any]) -> None:
    """Registry, bootstrappers and gateway are on loopback; provisioners reach nothing outside their network."""
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert set(published) == {ALONE, "registry", "bootstrapper", _GATEWAY}
    assert {port["host_ip"] for ports in published.values() for port in ports} == {"127.0.0.1"}
    for name in PROVISIONERS:
        assert set(services[name]["networks"]) == {"services"}
    assert yaml.safe_load(FILE.read_text(encoding="utf-8"))["networks"]["services"] == {"internal": True}


def test_the_gateway_reads_its_files_and_reaches_no_other_service(services: dict[str, Any]) -> None:
    """It has the key of its own and a folder, both read-only; it is in no network with the others' calls."""
    gateway = services[_GATEWAY]
    mounts = {mount["source"]: mount for mount in gateway["volumes"]}
    assert set(mounts) == {f"certificates-{_GATEWAY}", "artifacts"}
    assert all(mount["read_only"] for mount in mounts.values())
    assert set(gateway["networks"]) == {"published"}
    flags = [word.replace("$$", "$") for word in gateway["command"][1:]]
    with main.make_context(gateway["command"][0], flags) as context:
        settings = GatewaySettings.load(
            {name: value for name, value in context.params.items() if value is not None}, tls_cert_dir="/certs"
        )
    assert settings.store == f"file://{mounts['artifacts']['target']}"
    assert settings.listen_address.endswith(f":{gateway['ports'][0]['target']}")
    port = gateway["ports"][0]["target"]
    probe = ["CMD", "python3", "-m", "slipway.node_gateway.probe", f"https://127.0.0.1:{port}", "/certs/ca.crt"]
    assert gateway["healthcheck"]["test"] == probe


def test_no_word_of_a_health_check_has_a_blank(services: dict[str, Any]) -> None:
    """Podman splits the command at blanks, so that such a word would be several."""
    checks = [service["healthcheck"]["test"] for service in services.values() if "healthcheck" in service]
    assert len(checks) == len(SERVICES) + 1
    assert [word for check in checks for word in check if len(word.split()) != 1] == []
