"""The service's side of a real domain: accounts with its settings, as the delegated account, over LDAPS and SMB."""

import base64
import json
import os
import sys
from pathlib import Path

import pytest

from tests.services.directory.real_domain import NODES, OWNER, PASSWORD, Domain
from tools.oracles import directory

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("directory"), pytest.mark.timeout(1800)]

UNIT = f"OU=Rack,{NODES}"
_PROGRAM = """
import base64, json, sys
from slipway.directory.failures import DirectoryError
from slipway.directory_service.orders import Order
from slipway.directory_service.server import maker_of
from slipway.directory_service.settings import DirectorySettings
order, output = json.loads(sys.argv[1]), sys.argv[2]
maker = maker_of(DirectorySettings.load({"insecure": True, "listen_address": "127.0.0.1:0"}))
try:
    if order["kind"] == "remove":
        result = [removal.result for removal in maker.remove("clusters/" + order["machine"])]
    else:
        values = maker.make(Order("clusters", order["machine"], "uid", order["cluster"], maker.domain,
                                  order["kind"] == "blob", "secret", "key"))
        result = {key: base64.b64encode(value).decode() for key, value in values.items()}
except DirectoryError as error:
    result = error.reason
with open(output, "w", encoding="utf-8") as file:
    json.dump(result, file)
"""


def ask(domain: Domain, kind: str, machine: str, cluster: str = "one", **options: str) -> object:
    """Have the service make or remove an account in the controller's network; give values, results or a reason."""
    shared = domain.controller.shared
    secret, units, output = (shared / f"service.{name}" for name in ("password", "units", "output"))
    secret.write_text(options.pop("password", PASSWORD))
    secret.chmod(0o440)
    units.write_text(json.dumps({"units": [{"namespace": "clusters", "cluster": "rack", "unit": UNIT}]}))
    chosen = {
        "SERVER": f"ldaps://{directory.HOST}", "CA_FILE": str(domain.controller.authority), "BASE": NODES,
        "USER": f"joiner@{directory.DOMAIN}", "PASSWORD_FILE": str(secret), "OWNER": OWNER, "UNITS": str(units),
        "DOMAIN": directory.DOMAIN, **options,
    }  # fmt: skip
    environment = {f"SLIPWAY_DIRECTORY_{name}": value for name, value in chosen.items()}
    environment |= {"PATH": f"{shared}:{os.environ['PATH']}", "TMPDIR": str(shared)}
    order = json.dumps({"kind": kind, "machine": machine, "cluster": cluster})
    done = domain.controller.outside(
        sys.executable, "-W", "error", "-c", _PROGRAM, order, str(output), environment=environment
    )
    assert done.returncode == 0, done.stderr
    assert PASSWORD.encode() not in done.stdout + done.stderr
    return json.loads(Path(output).read_text(encoding="utf-8"))


def decoded(values: object) -> dict[str, bytes]:
    """Give the values of a Secret."""
    assert isinstance(values, dict), values
    return {key: base64.b64decode(value) for key, value in values.items()}


def test_a_machine_joins_with_the_last_password_that_was_made(domain: Domain) -> None:
    """What a crash leaves behind is renewed: the password of the Secret that was lost is of no use."""
    lost = decoded(ask(domain, "preset", "service-1"))["one-time-password"].decode()
    kept = decoded(ask(domain, "preset", "service-1"))["one-time-password"].decode()
    assert domain.join("SERVICE-1", lost).returncode == 3
    joined = domain.join("SERVICE-1", kept)
    assert joined.returncode == 0, joined.stdout


def test_a_cluster_has_its_own_unit(domain: Domain) -> None:
    """The computer is where the operator's file says, by the rights that the unit inherits."""
    domain.succeed("samba-tool", "ou", "create", UNIT)
    ask(domain, "preset", "service-2", cluster="rack")
    assert domain.show("SERVICE-2")["distinguishedName"] == f"CN=SERVICE-2,{UNIT}"


def test_a_blob_names_computer_and_domain(domain: Domain) -> None:
    """Samba's program makes it with the service's settings."""
    values = decoded(ask(domain, "blob", "service-3"))
    assert set(values) == {"computer-name", "domain", "blob"}
    names = base64.b64decode(values["blob"].decode("utf-16").rstrip("\0\r\n"))
    assert "SERVICE-3".encode("utf-16-le") in names


def test_the_computer_of_a_deleted_machine_is_removed(domain: Domain) -> None:
    """By its mark; a second time there is nothing to remove."""
    ask(domain, "preset", "service-4")
    assert ask(domain, "remove", "service-4") == ["removed"]
    assert domain.show("SERVICE-4") == {}
    assert ask(domain, "remove", "service-4") == ["kept"]


def test_what_cannot_be_done_has_the_services_reason(domain: Domain) -> None:
    """An administrator, a wrong password, an account without rights, and another domain than the setting."""
    reasons = {
        "AdministratorRefused": {"USER": f"nested@{directory.DOMAIN}"},
        "LoginFailed": {"password": "not-the-password"},
        "PermissionMissing": {"USER": f"plain@{directory.DOMAIN}"},
        "InvalidConfiguration": {"DOMAIN": "other.example.com"},
    }
    for reason, options in reasons.items():
        assert ask(domain, "preset", "service-5", **options) == reason
    assert domain.show("SERVICE-5") == {}
