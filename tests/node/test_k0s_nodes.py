"""Nodes of k0s: a cluster by each first-boot system, members and workers by the other one, and what goes wrong."""

from typing import Any

import pytest
import yaml

from tests.node import documents
from tests.node.harbour import SECONDS, failure
from tests.node.readiness import wait_ready
from tests.node.rendering import Rendering
from tests.services.certificates import Authority
from tools.node.first_disk import FirstBoot
from tools.node.machine import Machine
from tools.node.site import Site

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(1200)]

AT_ONCE = 1  # with up to three machines each
FLAVOUR = "1.34-k0s"
OTHER = {FirstBoot.CLOUD_INIT: FirstBoot.IGNITION, FirstBoot.IGNITION: FirstBoot.CLOUD_INIT}
MEMBERS = {"one": ("Init", "cp"), "two": ("ControlPlane", "cp"), "three": ("Worker", "worker")}
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
LINKS = [{"path": f"/usr/bin/{name}", "target": "kubebox"} for name in PROGRAMS]
COMPONENTS = ["konnectivity-server", "metrics-server", "autopilot", "helm"]


AUTHORITY = Authority().certificate.decode()
PROXY = "http://proxy.example.com:3128"
SYSTEM: dict[str, Any] = {
    "users": [{"name": "sailor"}],
    "files": [{"path": "/etc/motd", "content": {"text": "ahoy\n"}, "owner": "sailor"}],
    "sysctls": [documents.FORWARDING, {"name": "net.ipv4.tcp_keepalive_time", "value": "611"}],
    "ntp": {"servers": ["time.example.com"]},
    "trustedCertificates": [{"name": "harbour", "certificate": {"text": AUTHORITY}}],
    "proxy": {"httpProxy": PROXY, "httpsProxy": PROXY, "noProxy": ["10.0.0.0/8", ".svc"]},
    "containerd": {
        "registries": [
            {
                "host": "images.example.com",
                "endpoints": [{"url": "https://mirror.example.com:5443", "ca": {"text": AUTHORITY}}],
                "onlyEndpoints": True,
            }
        ]
    },
}


def config(name: str, **kubernetes: Any) -> dict[str, Any]:
    """A config for the node image of kubeadm: its kubelet's unit is masked, since k0s runs a kubelet of its own.

    The image's containerd leaves control groups to systemd, and the network of pods is there already.
    """
    node = {"taints": {}, "kubeletArguments": [{"name": "cgroup-driver", "value": "systemd"}]}
    return documents.config(
        name,
        os={
            "links": [*LINKS, {"path": "/etc/kubernetes/admin.conf", "target": "/var/lib/k0s/pki/admin.conf"}],
            "systemdUnits": [{"name": "kubelet.service", "masked": True}],
            **SYSTEM,
        },
        kubernetes={"engine": "k0s", "node": node, **kubernetes},
        engineOptions={
            "k0s": {"program": "/usr/bin/k0s", "networkProvider": "custom", "disabledComponents": COMPONENTS}
        },
        commands={"pre": [{"argv": ["sh", "-c", "echo run >>/var/count-pre"]}]},
    )


def text(**joining: Any) -> str:
    """The documents of a cluster; `joining` is what machines that join say of Kubernetes besides."""
    cluster = documents.cluster(MEMBERS, name="k0s")
    plane = config("cp", controlPlane={"kubeProxy": {"disabled": True}, "dns": {"disabled": True}}, **joining)
    return documents.text(cluster, plane, config("worker", **joining))


def boot(place: Site, rendering: Rendering, name: str, by: FirstBoot) -> Machine:
    """A machine that has its user data."""
    machine = place.machine(name, flavour=FLAVOUR)
    machine.boot(rendering.user_data(name, by), by=by)
    return machine


def check_system(machine: Machine) -> None:
    """What the specs say of the operating system is there, whichever system set the machine up."""
    assert machine.run(["stat", "-c", "%U", "/etc/motd"]).output == "sailor\n"
    assert machine.run(["sysctl", "-n", "net.ipv4.tcp_keepalive_time"]).output == "611\n"
    assert "time.example.com" in machine.run(["sh", "-c", "cat /etc/systemd/timesyncd.conf.d/*"]).output
    assert machine.run(["systemctl", "is-enabled", "systemd-timesyncd"]).output == "enabled\n"
    body = "".join(AUTHORITY.split("-----")[2].split())
    assert body in "".join(machine.run(["cat", "/etc/ssl/certs/ca-certificates.crt"]).output.split())
    hosts = "/etc/containerd/certs.d/images.example.com"
    assert "https://mirror.example.com:5443" in machine.run(["cat", f"{hosts}/hosts.toml"]).output
    environ = machine.run(["sh", "-c", "cat /proc/$(pgrep -ox containerd)/environ"]).output.split("\0")
    assert f"HTTPS_PROXY={PROXY}" in environ


@pytest.mark.parametrize("first", FirstBoot, ids=str)
def test_controllers_and_workers_become_ready(place: Site, first: FirstBoot) -> None:
    """The first controller by one system, a second one and a worker by the other; a reboot is survived."""
    rendering = Rendering(text())
    entry = boot(place, rendering, "one", first)
    entry.wait_sentinel(timeout=SECONDS)
    two, three = (boot(place, rendering, name, OTHER[first]) for name in ("two", "three"))
    two.wait_sentinel(timeout=SECONDS)
    three.wait_sentinel(timeout=SECONDS)
    wait_ready(entry, "one", "two", "three")
    for machine in (entry, two, three):
        check_system(machine)
        assert (machine.disk / "var/count-pre").read_text() == "run\n"
        assert machine.failures() == []
    assert not (three.disk / "var/lib/k0s/pki/ca.key").exists()
    keys = [(machine.disk / "var/lib/k0s/pki/ca.key").read_text() for machine in (entry, two)]
    assert keys[0] == keys[1]
    tokens = entry.run(["kubectl", "-n", "kube-system", "get", "secrets", "-o", "yaml"]).output
    held = [item["data"] for item in yaml.safe_load(tokens)["items"] if item["type"] == "bootstrap.kubernetes.io/token"]
    # Those that k0s makes for its own nodes have a description.
    assert len([data for data in held if "description" not in data]) == 2
    assert all("expiration" in data for data in held)
    three.reboot()
    three.wait_running(timeout=SECONDS)
    active = ["systemctl", "is-active", "--quiet", "k0sworker"]
    three.wait_until(lambda: three.run(active).status == 0, "no k0s after the reboot", timeout=SECONDS, asks=True)
    wait_ready(entry, "three")
    assert (three.disk / "var/count-pre").read_text() == "run\n"


def test_machines_with_another_authority_fail_in_time(place: Site) -> None:
    """k0s alone would try for ever; here the step says why, and k0s is left switched off."""
    entry = boot(place, Rendering(text()), "one", FirstBoot.CLOUD_INIT)
    entry.wait_sentinel(timeout=SECONDS)
    stranger = Rendering(text(timeouts={"tlsBootstrap": "20s", "controlPlaneComponent": "20s"}))
    joining = {name: boot(place, stranger, name, FirstBoot.IGNITION) for name in ("two", "three")}
    for name, machine in joining.items():
        reported, tail = failure(machine)
        assert (reported["phase"], reported["step"], reported["exitCode"]) == ("PHASE_BOOTSTRAP", "20-k0s", 3), tail
        assert "not signed by the authority" in tail
        unit = "k0scontroller" if name == "two" else "k0sworker"
        assert machine.run(["systemctl", "is-enabled", unit]).output.strip() == "disabled"
        assert machine.run(["systemctl", "is-active", unit]).output.strip() != "active"
        assert entry.run(["kubectl", "get", "node", name]).status != 0
