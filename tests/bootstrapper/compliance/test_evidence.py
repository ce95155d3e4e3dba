"""The evidence of a machine: good for one that meets its profile, and bad for every change of a control."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from slipway.bootstrapper.compliance.evidence import evidence_program
from slipway.bootstrapper.compliance.profile import Control
from slipway.bootstrapper.compliance.profile_table import profile_ids, profiles
from slipway.bootstrapper.compliance.rule import Rule
from slipway.diagnosis.scrubbing import scrubbed
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.bootstrapper.compliance.hardened_node import hardened
from tests.bootstrapper.compliance.mutations import is_touched, listen, mutations, set_argument, write
from tests.bootstrapper.compliance.specs import LEVEL_1, LEVEL_2, SERVING, applied_to, spec_of
from tests.bootstrapper.compliance.test_rule import JUDGED

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it changes the owners of files"),
]
FULL = [f"{name}/{profile.levels[-1]}" for name, profile in profiles().items()]
CASES = [
    pytest.param(f"{name}/{profile.levels[-1]}", control, index, id=f"{name}/{control.id}-{index}")
    for name, profile in profiles().items()
    for control in profile.controls
    for index in range(len(control.requires))
]
CONTROLS = [
    pytest.param(f"{name}/{profile.levels[-1]}", control, id=f"{name}/{control.id}")
    for name, profile in profiles().items()
    for control in profile.controls
    if control.requires
]


@pytest.mark.parametrize("profile", FULL)
@pytest.mark.parametrize("role", [clusterpb.ROLE_INIT, clusterpb.ROLE_WORKER])
def test_a_machine_that_meets_its_profile_has_no_failure(
    tmp_path: Path, profile: str, role: clusterpb.Role.ValueType
) -> None:
    """Every control that is not for people has a result, and none is a failure."""
    results = hardened(tmp_path, spec_of(profile=profile), role).node.results()
    assert [name for name, result in results.items() if result == "fail"] == []
    applied = applied_to(spec_of(profile=profile), role)
    assert results.keys() == {name for name, control in applied.selection.met.items() if control.requires}


@pytest.mark.parametrize(("profile", "control", "index"), CASES)
def test_every_change_of_a_control_is_a_failure(tmp_path: Path, profile: str, control: Control, index: int) -> None:
    """For each demand of each control, a machine on which just that is different fails that control."""
    name = f"{profile.partition('/')[0]}/{control.id}"
    made = hardened(tmp_path, spec_of(SERVING, profile=profile), only=name)
    changes = list(mutations(made, control.requires[index]))
    assert changes, "a demand of a new kind needs a change"
    for change in changes:
        change()
        assert made.node.results()[name] == "fail", control


@pytest.mark.long
@pytest.mark.parametrize(("profile", "control"), CONTROLS)
def test_a_change_fails_its_control_alone(tmp_path: Path, profile: str, control: Control) -> None:
    """All controls are checked: that one fails, and beside it only those that look at the very same setting or file."""
    benchmark = profile.partition("/")[0]
    (changed, *_) = control.requires
    made = hardened(tmp_path, spec_of(SERVING, profile=profile))
    next(mutations(made, changed))()
    failed = {name for name, result in made.node.results().items() if result == "fail"}
    others = {
        f"{benchmark}/{each.id}"
        for each in profiles()[benchmark].controls
        if any(is_touched(demand, changed) for demand in each.requires)
    }
    assert {f"{benchmark}/{control.id}"} <= failed <= others


def test_each_control_that_is_checked_has_a_change() -> None:
    """A control without one has nothing to check, and says that it is for people."""
    changed = {(profile.partition("/")[0], control.id) for profile, control in (case.values[:2] for case in CONTROLS)}
    for name, profile in profiles().items():
        assert all((name, control.id) in changed or control.manual for control in profile.controls)


def test_what_a_spec_chooses_is_checked(tmp_path: Path) -> None:
    """A control for people that the spec meets has evidence; one that it does not meet, or meets in part, has none."""
    names = [f"cis-kubernetes-1.10/{id_}" for id_ in ("1.2.5", "4.2.9")]
    results = hardened(tmp_path / "all", spec_of(SERVING)).node.results()
    assert [results[name] for name in names] == ["pass", "pass"]
    for index, text in enumerate(("", SERVING.replace("true", "false").replace("/etc/kubernetes/pki/ca.crt", '""'))):
        results = hardened(tmp_path / str(index), spec_of(text)).node.results()
        assert [results.get(name) for name in names] == [None, None]


def test_a_chosen_setting_can_be_an_argument_of_the_kubelet(tmp_path: Path) -> None:
    """The argument wins over the configuration, as for the kubelet itself."""
    argument = 'kubeletArguments: [{name: rotate-server-certificates, value: "%s"}]'
    configuration = 'kubeletConfiguration: {text: "serverTLSBootstrap: true"}'
    cases = {argument % "true": True, f"{argument % 'false'}, {configuration}": False}
    for index, (fields, checked) in enumerate(cases.items()):
        results = hardened(tmp_path / str(index), spec_of(f"kubernetes: {{node: {{{fields}}}}}")).node.results()
        assert ("cis-kubernetes-1.10/4.2.9" in results) is checked


def test_a_program_that_does_not_run_yet_is_known_by_its_manifest(tmp_path: Path) -> None:
    """A static pod that the kubelet has not started has the arguments of its manifest."""
    made = hardened(tmp_path, spec_of())
    arguments = made.arguments.pop("kube-scheduler")
    (made.node.root / "proc/102/comm").write_text("other\n", encoding="ascii")
    manifest = "".join(f"    - --{name}={value}\n" for name, value in arguments.items())
    write(
        made, "etc/kubernetes/manifests/kube-scheduler.yaml", f"spec:\n  - command:\n    - kube-scheduler\n{manifest}"
    )
    assert made.node.results()["cis-kubernetes-1.10/1.4.1"] == "pass"


def test_evidence_says_whose_it_is(tmp_path: Path) -> None:
    """Bundle, role, profiles and waivers are in it; a waived control is checked, too."""
    spec = spec_of(waived=("cis-kubernetes-1.10/1.2.15",))
    spec.compliance.waivers[0].reason = 'a "quoted" reason, $(id) and `id`: it\'s ü'
    made = hardened(tmp_path, spec)
    tree = made.node.evidence()
    assert tree["version"] == 1
    assert tree["bundleId"] == "bundle-1"
    assert tree["role"] == "ROLE_INIT"
    assert tree["profiles"] == [LEVEL_1]
    assert tree["waivers"] == [{"control": "cis-kubernetes-1.10/1.2.15", "reason": spec.compliance.waivers[0].reason}]
    assert {"control": "cis-kubernetes-1.10/1.2.15", "result": "fail", "observed": "profiling is not set"} in tree[
        "controls"
    ]
    assert (made.node.root / "var/lib/slipway/evidence.json").stat().st_mode & 0o777 == 0o600
    assert (made.node.root / "var/lib/slipway/evidence").exists()


def test_evidence_holds_no_secret_and_stays_json(tmp_path: Path) -> None:
    """The key of the encryption is not in it, and what a process was started with cannot break out of a string."""
    made = hardened(tmp_path, spec_of())
    set_argument(made, "kube-apiserver", "tls-cert-file", '/x","result":"pass\\\n$(id)' + "é" * 1000)
    text = json.dumps(made.node.evidence())
    assert "c2VjcmV0" not in text
    assert len(text) < 40_000


def test_evidence_survives_the_redaction_of_log_bundles(tmp_path: Path) -> None:
    """What removes secrets from a log bundle leaves every line of it as it is."""
    node = hardened(tmp_path, spec_of(profile=LEVEL_2)).node
    node.evidence()
    lines = (node.root / "var/lib/slipway/evidence.json").read_text(encoding="ascii").splitlines()
    assert [line for line in lines if scrubbed(line) != line] == []


def test_a_bare_machine_gets_evidence_too(tmp_path: Path) -> None:
    """Where nothing of a node is there the program ends well, and controls about settings fail."""
    made = hardened(tmp_path, spec_of())
    made.node.root = tmp_path / "bare"
    (made.node.root / "var/lib").mkdir(parents=True)
    results = made.node.results()
    assert results["cis-kubernetes-1.10/1.2.15"] == "fail"
    assert results["cis-kubernetes-1.10/1.1.1"] == "not-applicable"


def test_a_port_withoutlistener_meets_nothing(tmp_path: Path) -> None:
    """While kube-proxy does not run yet there is nothing to praise: the pods of a node start after its bootstrap."""
    made = hardened(tmp_path, spec_of())
    write(made, "proc/net/tcp", "")
    assert made.node.results()["cis-kubernetes-1.10/4.3.1"] == "not-applicable"
    listen(made, "proc/net/tcp", "0100007F:2809")
    assert made.node.results()["cis-kubernetes-1.10/4.3.1"] == "pass"


@pytest.mark.parametrize(
    ("path", "listening", "result", "observed"),
    [
        ("tcp", "0100007F:2809", "pass", "127.0.0.1:10249"),
        ("tcp", "0B00A8C0:2809", "fail", "192.168.0.11:10249"),
        ("tcp", "00000000:2809", "fail", "0.0.0.0:10249"),
        ("tcp6", f"{'0' * 24}01000000:2809", "pass", "::1:10249"),
        ("tcp6", f"{'0' * 32}:2809", "fail", ":::10249"),
        ("tcp6", f"B80D0120{'0' * 16}07000000:2809", "fail", f"B80D0120{'0' * 16}07000000:10249"),
    ],
)
def test_wholistens_is_observed(tmp_path: Path, path: str, listening: str, result: str, observed: str) -> None:
    """Addresses and ports are written as people do, but for the rest of IPv6, which is the kernel's."""
    made = hardened(tmp_path, spec_of())
    listen(made, f"proc/net/{path}", listening)
    (entry,) = [each for each in made.node.evidence()["controls"] if each["control"] == "cis-kubernetes-1.10/4.3.1"]
    assert (entry["result"], entry["observed"]) == (result, f"listens at {observed}")


@pytest.mark.parametrize(("rule", "observed", "verdict"), JUDGED)
def test_the_program_judges_as_specs_are_judged(
    tmp_path: Path,
    rule: Rule,
    observed: str | None,
    verdict: bool,
) -> None:
    """Every rule has the same verdict in shell."""
    script = evidence_program(applied_to(spec_of()), clusterpb.ROLE_INIT).decode()
    functions = script.partition("set +eu")[0].replace("set -eu", "")
    operator, operand = rule.operator
    name = f"{operator}-or-unset" if rule.or_unset else operator
    (tmp_path / "facts").write_text("@args x\n" + ("" if observed is None else f"--a={observed}\n"), encoding="ascii")
    (tmp_path / "table").write_text(f"c\targument\tx\ta\t{name}\t{operand}\n", encoding="ascii")
    path = tmp_path / "judge"
    path.write_text(f"{functions}verdicts {tmp_path}/facts {tmp_path}/table\n", encoding="ascii")
    done = subprocess.run(["sh", str(path)], capture_output=True, text=True, check=True, timeout=20)
    assert json.loads(done.stdout)["result"] == ("pass" if verdict else "fail")


def test_levels_are_profiles() -> None:
    """What is tried here are all profiles at their highest level."""
    assert set(FULL) <= set(profile_ids())
    assert LEVEL_2 in FULL
