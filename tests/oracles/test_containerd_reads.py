"""containerd reads what a spec said, on machines that cloud-init and Ignition set up: the real daemons of three ages.

A daemon that is up proves little: it runs on without its CRI plugin, and what it does not know it ignores. So its
plugins are asked for, the values that are in force, and where it would look for an image.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from tests.oracles import ours
from tests.oracles.machines import boot_cloud_init, boot_ignition
from tests.oracles.ours import machines
from tools.oracles import containerd, finding
from tools.oracles.machine_state import Kind, MachineState
from tools.oracles.sandbox import File

pytestmark = [pytest.mark.engine, pytest.mark.timeout(120)]

CONFIG, CERTS = "/etc/containerd/config.toml", "/etc/containerd/certs.d"
# Under which names daemons from 2.0 on know their settings.
IMAGES, RUNTIME = "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"
HOSTS = {
    "docker.io": ["https://mirror.example.com/v2/hub", "https://second.example.com:5000/v2"],
    "quay.io": ["https://mirror.example.com/quay/v2"],
    "ghcr.io": ["https://all.example.com/v2"],
}


PROVISIONERS = [
    pytest.param(name, marks=pytest.mark.xdist_group(f"containerd-{name}")) for name in ("cloud-init", "ignition")
]


@cache
def machine(provisioner: str) -> MachineState:
    """The machine, with all that the runner has written."""
    user_data = ours.render(machines("containerd.yaml")["pier-runtime"], provisioner).user_data
    if provisioner == "cloud-init":
        return boot_cloud_init(user_data)
    return boot_ignition(user_data, unit="slipway-bootstrap.service")


@pytest.mark.parametrize("provisioner", PROVISIONERS)
@pytest.mark.parametrize("version", containerd.DAEMONS)
def test_the_daemon_does_what_was_said(version: str, provisioner: str, engine: Callable[..., None]) -> None:
    """Every CRI plugin is well, nothing is unknown or left out, and the values are in force."""
    engine("containerd", "root-trixie", "ignition")
    files = {
        path: File(node.content, node.mode)
        for path, node in machine(provisioner).files.items()
        if path.startswith("/etc/containerd/") and node.kind is Kind.FILE
    }
    daemon = containerd.start(files.pop(CONFIG).content, version=version, extra_files=files)
    assert daemon.up
    assert finding.errors(daemon.findings) == []
    assert [state for name, state in daemon.plugins.items() if "cri" in name] != []
    assert in_force(daemon.effective["plugins"]) == {
        "sandbox": "registry.example.com/pause:3.10",
        "systemd": False,
        "certs": CERTS,
    }


@pytest.mark.parametrize("provisioner", PROVISIONERS)
def test_images_are_looked_for_where_the_spec_says(provisioner: str, engine: Callable[..., None]) -> None:
    """Mirrors in their order before the registry itself, which is never asked where only they may be."""
    engine("containerd", "root-trixie", "ignition")
    files = {
        path.removeprefix(f"{CERTS}/"): node.content
        for path, node in machine(provisioner).files.items()
        if path.startswith(f"{CERTS}/") and node.kind is Kind.FILE
    }
    hosts, findings = containerd.registry_hosts(files, list(HOSTS))
    assert findings == []
    assert {name: [one.url for one in listed][: len(HOSTS[name])] for name, listed in hosts.items()} == HOSTS
    assert len(hosts["quay.io"]) == 1
    assert hosts["docker.io"][-1].url == "https://registry-1.docker.io/v2"


def in_force(plugins: dict[str, Any]) -> dict[str, Any]:
    """The values out of a daemon's own dump, under the names of its age."""
    if IMAGES in plugins:
        images, runtime = plugins[IMAGES], plugins[RUNTIME]
        sandbox, registry = images["pinned_images"]["sandbox"], images["registry"]
    else:
        runtime = plugins["io.containerd.grpc.v1.cri"]
        sandbox, registry = runtime["sandbox_image"], runtime["registry"]
    options = runtime["containerd"]["runtimes"]["runc"]["options"]
    return {"sandbox": sandbox, "systemd": options["SystemdCgroup"], "certs": registry["config_path"]}
