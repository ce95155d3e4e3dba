"""A cluster whose machines meet a benchmark: it works as any other, and its evidence agrees with a scanner's verdict.

The scanner is kube-bench, where SLIPWAY_KUBE_BENCH names a folder with the program `kube-bench` and its folder `cfg`:
`go build` of github.com/aquasecurity/kube-bench v0.12.0, and cfg of the same module.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from slipway.cli.compliance_results import results_of
from slipway.cli.evidence_file import Evidence
from tests.node import documents
from tests.node.harbour import SECONDS
from tests.node.readiness import wait_ready
from tests.node.rendering import Rendering
from tools.node.first_disk import FirstBoot
from tools.node.machine import Machine
from tools.node.site import Site

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(1800)]

AT_ONCE = 1  # with three machines
CIS = "cis-kubernetes-1.10"
MEMBERS = {"cp": ("Init", "hardened"), "second": ("ControlPlane", "hardened"), "worker": ("Worker", "hardened")}
WAIVERS = {"1.2.11": "the images of these machines are preloaded, and no registry has them"}
LEFT_TO_PEOPLE = {"1.2.5": "kubelets sign their serving certificates themselves"}
"""What kube-bench fails here and the profile leaves to people, with the reason."""
MOST_WARNINGS = 10
SCANNER = os.environ.get("SLIPWAY_KUBE_BENCH", "")
_TARGETS = {"cp": "master,etcd,controlplane,node", "worker": "node"}


@pytest.fixture(scope="module")
def machines(place: Site) -> dict[str, Machine]:
    """The machines of a hardened cluster, by cloud-init and by Ignition, all with their sentinels."""
    waivers = [{"control": f"{CIS}/{name}", "reason": reason} for name, reason in WAIVERS.items()]
    compliance = {"profiles": [f"{CIS}/level-1"], "waivers": waivers}
    rendering = Rendering(
        documents.text(documents.cluster(MEMBERS, name="hardened"), documents.config("hardened", compliance=compliance))
    )
    made: dict[str, Machine] = {}
    for name, by in (("cp", FirstBoot.CLOUD_INIT), ("second", FirstBoot.IGNITION), ("worker", FirstBoot.CLOUD_INIT)):
        made[name] = place.machine(name)
        made[name].boot(rendering.user_data(name, by), by=by)
        made[name].wait_sentinel(timeout=SECONDS)
    return made


def evidence(machine: Machine) -> Evidence:
    """The evidence that a machine wrote."""
    return Evidence.model_validate_json((machine.disk / "var/lib/slipway/evidence.json").read_text(encoding="ascii"))


def results(machine: Machine) -> dict[str, str]:
    """The result of each control."""
    made = evidence(machine)
    return {result.control.partition("/")[2]: result.result for result in results_of(made, now=made.time)}


def test_the_cluster_works(machines: dict[str, Machine]) -> None:
    """All nodes are Ready, a second control plane has joined, and logs of pods can be read."""
    control_plane = machines["cp"]
    wait_ready(control_plane, *MEMBERS)
    done = control_plane.run(["kubectl", "-n", "kube-system", "logs", "kube-scheduler-cp", "--tail=1"])
    assert (done.status, bool(done.output)) == (0, True), done.errors
    secret = ["kubectl", "create", "secret", "generic", "canary", "--from-literal=word=in-the-clear"]
    assert control_plane.run(secret).status == 0
    stored = control_plane.run(["sh", "-c", "grep -rla in-the-clear /var/lib/etcd/member || true"])
    assert not stored.output, "secrets are encrypted at rest"
    assert control_plane.run(["test", "-s", "/var/log/kubernetes/audit/audit.log"]).status == 0


@pytest.mark.parametrize("name", MEMBERS)
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


@pytest.mark.skipif(not SCANNER, reason="SLIPWAY_KUBE_BENCH names no folder with kube-bench and cfg")
@pytest.mark.parametrize("name", _TARGETS)
def test_the_scanner_agrees(machines: dict[str, Machine], name: str) -> None:
    """kube-bench fails nothing but what is left to people, and where both have a verdict it is the same one."""
    machine = machines[name]
    verdicts = _scanned(machine, _TARGETS[name])
    failed = {control for control, (verdict, _) in verdicts.items() if verdict == "FAIL"}
    assert failed <= LEFT_TO_PEOPLE.keys(), {control: verdicts[control] for control in failed}
    assert sum(verdict == "WARN" for verdict, manual in verdicts.values() if not manual) <= MOST_WARNINGS
    ours = results(machine)
    both = {control for control, (verdict, _) in verdicts.items() if verdict == "PASS"} & ours.keys()
    assert both
    assert {control: ours[control] for control in both if ours[control] in {"fail", "missing"}} == {}


def _scanned(machine: Machine, targets: str) -> dict[str, tuple[str, bool]]:
    folder = machine.disk / "opt/kube-bench"
    if not folder.exists():
        folder.mkdir(parents=True)
        shutil.copy2(Path(SCANNER) / "kube-bench", folder)
        shutil.copytree(Path(SCANNER) / "cfg", folder / "cfg")
    command = ["/opt/kube-bench/kube-bench", "run", "--config-dir", "/opt/kube-bench/cfg", "--benchmark", "cis-1.10"]
    done = machine.run([*command, "--targets", targets, "--json"], timeout=120.0)
    assert done.status == 0, done.errors
    tree: dict[str, Any] = json.loads(done.output)
    return {
        entry["test_number"]: (entry["status"], entry.get("type") == "manual")
        for controls in tree["Controls"]
        for test in controls["tests"]
        for entry in test["results"]
    }
