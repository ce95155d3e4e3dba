"""A cluster whose machines meet a benchmark works as any other, and its evidence agrees with a scanner's verdict."""

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from slipway.cli.compliance_results import results_of
from slipway.cli.evidence import Evidence
from slipway.controller.serving_certificates import ServingCertificates
from tests.node import documents
from tests.node.harbour import SECONDS
from tests.node.readiness import wait_ready
from tests.node.rendering import Rendering
from tests.node.workload_cluster import WorkloadCluster, machine_objects
from tools.node import site
from tools.node.first_disk import FirstBoot
from tools.node.machine import Done, Machine
from tools.oracles import kube_bench

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(1800)]

CIS = "cis-kubernetes-1.10"
LATER = "third"
"""A control plane that is made when the cluster runs."""
MEMBERS = {
    "cp": ("Init", "hardened"),
    "second": ("ControlPlane", "hardened"),
    "worker": ("Worker", "hardened"),
    LATER: ("ControlPlane", "hardened"),
}
SYSTEMS = {"cp": FirstBoot.CLOUD_INIT, "second": FirstBoot.IGNITION, "worker": FirstBoot.CLOUD_INIT}
WAIVERS = {"1.2.11": "the images of these machines are preloaded, and no registry has them"}
SERVING = {
    "controlPlane": {
        "apiServer": {"arguments": [{"name": "kubelet-certificate-authority", "value": "/etc/kubernetes/pki/ca.crt"}]}
    },
    "node": {"kubeletConfiguration": {"text": "serverTLSBootstrap: true"}},
}
"""Kubelets have serving certificates of the cluster, and its API servers ask for them."""

SCANNER_FAILS = {
    "4.3.1": "it asks ps for a process named kube-proxy, and all programs of a machine here are one file, kubebox",
}
"""What kube-bench fails here, with the reason."""

SCANNER_WARNS = {
    "1.1.9": "it looks for the folder of CNI in the kubelet's arguments, where it no longer is",
    "1.1.10": "the same",
    "1.2.1": "kubeadm's probes and its discovery are anonymous: left to people",
    "1.2.11": WAIVERS["1.2.11"],
    "1.2.20": "left to people",
    "3.1.1": "left to people",
    "3.1.2": "left to people",
    "3.1.3": "left to people",
    "3.2.2": "left to people",
    "4.1.3": "kube-proxy is a pod, whose kubeconfig is no file of the machine",
    "4.1.4": "the same",
    "4.2.9": "it asks for the files of a certificate, and the cluster signs one that the kubelet renews",
}
"""What kube-bench cannot decide here, or does not score, with the reason."""

LEAST_COMPARED = {"cp": 75, "worker": 15}
_TARGETS = {"cp": "master,etcd,controlplane,node", "worker": "node"}


@pytest.fixture(scope="module")
def rendering() -> Rendering:
    """The user data of a hardened cluster's machines."""
    waivers = [{"control": f"{CIS}/{name}", "reason": reason} for name, reason in WAIVERS.items()]
    compliance = {"profiles": [f"{CIS}/level-1"], "waivers": waivers}
    return Rendering(
        documents.text(
            documents.cluster(MEMBERS, name="hardened"),
            documents.config("hardened", compliance=compliance, kubernetes=SERVING),
        )
    )


@pytest.fixture(scope="module")
def opened_site(engine: Callable[..., None]) -> Iterator[site.Site]:
    """Where the machines are."""
    engine("node-1.34")
    with site.opened() as opened:
        yield opened


@pytest.fixture(scope="module")
def machines(opened_site: site.Site, rendering: Rendering) -> dict[str, Machine]:
    """The machines of a hardened cluster, by cloud-init and by Ignition, all with their sentinels."""
    return {name: _boot(opened_site, rendering, name, by) for name, by in SYSTEMS.items()}


def _boot(place: site.Site, rendering: Rendering, name: str, by: FirstBoot) -> Machine:
    machine = place.machine(name)
    machine.boot(rendering.user_data(name, by), by=by)
    machine.wait_sentinel(timeout=SECONDS)
    return machine


def evidence(machine: Machine) -> Evidence:
    """The evidence that a machine wrote."""
    return Evidence.model_validate_json((machine.disk / "var/lib/slipway/evidence.json").read_text(encoding="ascii"))


def results(machine: Machine) -> dict[str, str]:
    """The result of each control."""
    made = evidence(machine)
    return {result.control.partition("/")[2]: result.result for result in results_of(made, now=made.time)}


def test_the_cluster_works(machines: dict[str, Machine]) -> None:
    """All nodes are Ready, a second control plane has joined, and secrets are encrypted."""
    control_plane = machines["cp"]
    wait_ready(control_plane, *SYSTEMS)
    secret = ["kubectl", "create", "secret", "generic", "canary", "--from-literal=word=in-the-clear"]
    assert control_plane.run(secret).status == 0
    stored = control_plane.run(["sh", "-c", "grep -rla in-the-clear /var/lib/etcd/member || true"])
    assert not stored.output, "secrets are encrypted at rest"
    assert control_plane.run(["test", "-s", "/var/log/kubernetes/audit/audit.log"]).status == 0


def test_kubelets_get_their_certificates(machines: dict[str, Machine]) -> None:
    """Logs can be read from a kubelet once its certificate is approved, and not before; all requests are approved."""
    control_plane = machines["cp"]
    wait_ready(control_plane, *SYSTEMS)
    cluster = WorkloadCluster(control_plane)
    assert cluster.approved() or _logs(control_plane).status != 0
    approver = ServingCertificates(cluster, lambda: [cluster.object], lambda _: machine_objects(machines))  # type: ignore[arg-type]

    def approved() -> bool:
        asyncio.run(approver.look())
        return cluster.approved() >= {f"system:node:{name}" for name in SYSTEMS}

    control_plane.wait_until(approved, "not all certificates are approved", timeout=SECONDS, asks=True)
    control_plane.wait_until(lambda: _logs(control_plane).status == 0, "no logs", timeout=SECONDS, asks=True)


def _logs(control_plane: Machine) -> Done:
    return control_plane.run(["kubectl", "-n", "kube-system", "logs", "kube-scheduler-cp", "--tail=1"])


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_control_fails(machines: dict[str, Machine], name: str) -> None:
    """The evidence has a result for every control, and none of them is a failure."""
    bad = {control: result for control, result in results(machines[name]).items() if result in {"fail", "missing"}}
    assert not bad, evidence(machines[name])


def test_a_change_is_seen_when_evidence_is_made_anew(machines: dict[str, Machine]) -> None:
    """A file that others can read makes its control fail; set right, it is met again."""
    machine = machines["cp"]
    for mode, result in (("644", "fail"), ("600", "pass")):
        assert machine.run(["chmod", mode, "/etc/kubernetes/scheduler.conf"]).status == 0
        assert machine.run(["sh", "/var/lib/slipway/evidence"]).status == 0
        assert results(machine)["1.1.15"] == result


def test_a_third_control_plane_joins_while_the_approver_is_down(
    machines: dict[str, Machine], opened_site: site.Site, rendering: Rendering
) -> None:
    """It is Ready, serves the API, and meets its controls without a serving certificate, which it gets afterwards."""
    control_plane = machines["cp"]
    third = _boot(opened_site, rendering, LATER, FirstBoot.CLOUD_INIT)
    wait_ready(control_plane, LATER)
    ready = ["curl", "--silent", "--insecure", "--fail", "https://127.0.0.1:6443/readyz"]
    assert third.run(ready).output == "ok"
    assert not [name for name, result in results(third).items() if result in {"fail", "missing"}], evidence(third)
    cluster, user = WorkloadCluster(control_plane), f"system:node:{LATER}"
    assert user not in cluster.approved()
    everything = machine_objects({**machines, LATER: third})
    approver = ServingCertificates(cluster, lambda: [cluster.object], lambda _: everything)  # type: ignore[arg-type]

    def approved() -> bool:
        asyncio.run(approver.look())
        return user in cluster.approved()

    control_plane.wait_until(approved, "the certificate is not approved", timeout=SECONDS, asks=True)


@pytest.mark.parametrize("name", _TARGETS)
def test_the_scanner_agrees(machines: dict[str, Machine], name: str, engine: Callable[..., None]) -> None:
    """kube-bench fails and warns of nothing but what is listed here; where both have a verdict it is the same one."""
    engine("kube-bench")
    machine = machines[name]
    machine.wait_until(lambda: _listens(machine), "kube-proxy does not listen", timeout=SECONDS, asks=True)
    assert machine.run(["sh", "/var/lib/slipway/evidence"]).status == 0
    verdicts = _scanned(machine, _TARGETS[name])
    assert {control for control, verdict in verdicts.items() if verdict == "FAIL"} <= SCANNER_FAILS.keys()
    assert {control for control, verdict in verdicts.items() if verdict == "WARN"} <= SCANNER_WARNS.keys()
    same = {"PASS": "pass", "FAIL": "fail"}
    ours = {control: result for control, result in results(machine).items() if result in same.values()}
    theirs = {control: same[verdict] for control, verdict in verdicts.items() if verdict in same}
    both = ours.keys() & theirs.keys() - SCANNER_FAILS.keys()
    assert len(both) >= LEAST_COMPARED[name]
    assert {control: ours[control] for control in both} == {control: theirs[control] for control in both}


def _listens(machine: Machine) -> bool:
    return machine.run(["sh", "-c", "ss -Hltn 'sport = :10249' | grep -q ."]).status == 0


def _scanned(machine: Machine, targets: str) -> dict[str, str]:
    """The verdict of each control."""
    kube_bench.install(machine.disk / "opt/kube-bench")
    command = ["/opt/kube-bench/kube-bench", "run", "--config-dir", "/opt/kube-bench/cfg", "--benchmark", "cis-1.10"]
    done = machine.run([*command, "--targets", targets, "--json"], timeout=120.0)
    assert done.status == 0, done.errors
    tree: dict[str, Any] = json.loads(done.output)
    return {
        entry["test_number"]: entry["status"]
        for controls in tree["Controls"]
        for test in controls["tests"]
        for entry in test["results"]
    }
