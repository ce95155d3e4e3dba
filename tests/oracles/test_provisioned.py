"""A bootstrap provider's own plan makes the same machine by real cloud-init and by real Ignition."""

from collections.abc import Callable
from typing import Any

import pytest

from slipway.bootstrapper.provisioning_service import provision
from tests.bootstrapper.provision_requests import TOKEN, request, service
from tests.oracles import sameness
from tests.oracles.test_generated import ROOT, boot_both, differences

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

_LOG = "/var/log/order"
_SECRET = {"secretRef": {"name": "join", "key": "token"}}


def _says(word: str) -> dict[str, Any]:
    return {"script": {"text": f"echo {word} >>{_LOG}\n"}}


SPEC: dict[str, Any] = {
    "target": {
        "osFamily": "OS_FAMILY_LINUX",
        "distribution": "debian",
        "osVersion": "13",
        "infrastructure": "openstack",
    },
    "os": {
        "files": [
            {"path": "/etc/k3s/config.yaml", "mode": 0o600, "content": {"segments": [{"text": "token: "}, _SECRET]}},
            {"path": "/etc/motd.d/k3s", "content": {"text": "hello\n"}},
        ],
        "groups": [{"name": "k3s"}],
        "users": [{"name": "ops", "groups": ["k3s"]}],
        "sysctls": [{"name": "net.ipv4.ip_forward", "value": "1"}],
    },
    "commands": {"pre": [_says("before")], "post": [_says("after")]},
    "plan": {"steps": [{"id": "install", "phase": "PHASE_BOOTSTRAP", "command": _says("install")}]},
}


async def _user_data(provisioner: str) -> bytes:
    answer = await provision(service(), request({**SPEC, "provisioner": {"name": provisioner}}))
    return answer.user_data


async def test_both_make_what_the_provider_asked_for(engine: Callable[..., None]) -> None:
    """Files with their modes, users and kernel settings are there, the steps ran in order, and the sentinel is set."""
    engine(f"root-{ROOT}", "ignition")
    machines = boot_both(await _user_data("cloud-init"), await _user_data("ignition"))
    assert sameness.problems(*machines, allowed=differences()) == []
    for machine in machines:
        assert machine.content("/etc/k3s/config.yaml") == b"token: " + TOKEN
        assert (machine.files["/etc/k3s/config.yaml"].mode, machine.files["/etc/motd.d/k3s"].mode) == (0o600, 0o644)
        assert machine.content(_LOG) == b"before\ninstall\nafter\n"
        assert machine.content("/run/cluster-api/bootstrap-success.complete")
        assert "ops" in machine.users
