"""`slipway compliance report` shows what evidence says, with waivers and changes."""

import asyncio
import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from structlog.testing import capture_logs

from slipway.cli.command_line import cli
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.reports.made import BEGUN, COMPLETE, FAILED, KEY, bundle_of
from tests.services.reports.served import serving

CIS = "cis-kubernetes-1.10"
HOSTILE = "a\x1b[31m<b>&amp;\x00\x0b c\ufffe"
PATH = "slipway-logs/var/lib/slipway/evidence.json"


@pytest.fixture(autouse=True)
def _logs_of_the_server() -> Iterator[None]:
    """Keep the log of the server, which is in this process, out of what the commands print."""
    with capture_logs():
        yield


def evidence(*observations: tuple[str, str], waivers: tuple[dict[str, str], ...] = (), **more: Any) -> str:
    """Give the evidence of a worker: results by control, all others of its profile are met."""
    names = [f"4.1.{number}" for number in range(1, 11)] + [f"4.2.{n}" for n in (*range(1, 9), 10, 11, 12, 13)]
    names = [name for name in names if name != "4.2.8"] + ["4.3.1"]
    results = dict.fromkeys(names, "pass") | dict(observations)
    controls = [
        {"control": f"{CIS}/{name}", "result": result, "observed": f"{name} is seen"}
        for name, result in results.items()
        if result
    ]
    tree = {
        "version": 1, "bundleId": "b1", "hostname": "worker-1", "time": "2026-11-26T10:00:00Z", "role": "ROLE_WORKER",
        "profiles": [f"{CIS}/level-1"], "waivers": list(waivers), "controls": controls, **more,
    }  # fmt: skip
    return json.dumps(tree)


def waiver(name: str, **more: str) -> dict[str, str]:
    """Give a waiver."""
    return {"control": f"{CIS}/{name}", "reason": "not here", **more}


def run(*arguments: str | Path) -> Result:
    """Run the command."""
    return CliRunner().invoke(cli, ["compliance", "report", *map(str, arguments)])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file for evidence."""
    return tmp_path / "evidence.json"


def results(made: Result) -> dict[str, Any]:
    """Give the controls of the only machine by their ids."""
    (machine,) = json.loads(made.stdout)
    return {control["control"].partition("/")[2]: control for control in machine["controls"]}


def test_a_machine_that_meets_all_is_good(file: Path) -> None:
    """Its counts are there, no control is listed, and the command succeeds."""
    file.write_text(evidence())
    made = run("-f", file)
    assert made.exit_code == 0, made.output
    assert made.stdout.startswith(f"worker-1 ({CIS}/level-1), 2026-11-26 10:00 UTC: ")
    assert "fail" not in made.stdout
    assert "4.1.1" in run("-f", file, "--all").stdout


def test_a_control_that_is_not_met_fails(file: Path) -> None:
    """The worst of its observations counts; title and observation are shown."""
    file.write_text(evidence(("4.2.6", "fail")))
    made = run("-f", file)
    assert made.exit_code == 1
    assert "The kubelet keeps its chains of firewall rules" in made.stdout
    assert "4.2.6 is seen" in made.stdout


def test_what_the_evidence_lacks_is_missing(file: Path) -> None:
    """A control that is checked, and of which nothing is there, is no pass."""
    file.write_text(evidence(("4.2.6", "")))
    made = run("-f", file, "-o", "json")
    assert made.exit_code == 1
    assert results(made)["4.2.6"]["result"] == "missing"
    assert results(made)["4.2.9"]["result"] == "manual"


def test_what_is_for_people_has_a_result_where_the_machine_was_checked(file: Path) -> None:
    """A spec that chose the control has its evidence, and a failure of it counts."""
    file.write_text(evidence(("4.2.9", "fail")))
    made = run("-f", file, "-o", "json")
    assert (made.exit_code, results(made)["4.2.9"]["result"]) == (1, "fail")


def test_a_waiver_counts_until_its_end(file: Path) -> None:
    """With its reason; from its end on the control fails."""
    observed = (("4.2.6", "fail"), ("4.2.7", "fail"))
    ends = {"expireTime": "2999-01-01T00:00:00Z"}
    file.write_text(evidence(*observed, waivers=(waiver("4.2.6", **ends), waiver("4.2.7"))))
    made = run("-f", file, "-o", "json")
    assert made.exit_code == 0
    assert results(made)["4.2.6"]["note"] == "waived until 2999-01-01: not here"
    file.write_text(evidence(*observed, waivers=(waiver("4.2.6", expireTime="2020-01-01T00:00:00Z"), waiver("4.2.7"))))
    made = run("-f", file, "-o", "json")
    assert (made.exit_code, results(made)["4.2.6"]["result"]) == (1, "fail")
    assert results(made)["4.2.6"]["note"] == "the waiver has ended: not here"
    assert results(made)["4.2.7"]["result"] == "waived"


def test_changes_since_earlier_evidence_are_shown(file: Path, tmp_path: Path) -> None:
    """A control that was met and is not any more, and one that is met by now."""
    before = tmp_path / "before.json"
    before.write_text(evidence(("4.2.6", "fail")))
    file.write_text(evidence(("4.2.7", "fail")))
    made = run("-f", file, "--before", before, "-o", "json")
    changed = {name: (control["before"], control["result"]) for name, control in results(made).items()}
    assert (changed["4.2.6"], changed["4.2.7"], changed["4.2.5"]) == (("fail", "pass"), ("pass", "fail"), ("", "pass"))
    assert "fail (was pass)" in run("-f", file, "--before", before).stdout


def test_junit_has_a_case_for_each_control(file: Path) -> None:
    """Failures are failures, what is waived, manual or not applicable is skipped."""
    file.write_text(
        evidence(("4.2.6", "fail"), ("4.1.3", "not-applicable"), ("4.2.7", "fail"), waivers=(waiver("4.2.7"),))
    )
    target = file.with_name("controls.xml")
    assert run("-f", file, "--junit", target).exit_code == 1
    (suite,) = ET.fromstring(target.read_text(encoding="utf-8"))
    assert (suite.attrib["name"], suite.attrib["failures"], suite.attrib["skipped"]) == ("worker-1", "1", "3")
    failed = [case.attrib["name"] for case in suite if case.find("failure") is not None]
    assert failed == ["4.2.6 The kubelet keeps its chains of firewall rules"]


def test_junit_can_be_read_whatever_a_machine_wrote(file: Path) -> None:
    """XML has no control characters, and evidence is written on a machine."""
    control = {"control": "cis-kubernetes-1.10/4.2.6", "result": "fail", "observed": HOSTILE}
    file.write_text(evidence(hostname=HOSTILE, controls=[control], waivers=(waiver("4.2.7", reason=HOSTILE),)))
    target = file.with_name("controls.xml")
    run("-f", file, "--junit", target)
    (suite,) = ET.fromstring(target.read_text(encoding="utf-8"))
    messages = [failure.attrib["message"] for failure in suite.iter("failure")]
    assert "a<b>&amp; c" in messages


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is not JSON"),
        ("[]", "is not evidence"),
        (evidence(version=2), "version"),
        (evidence(more=1), "more"),
        (evidence(role="ROLE_OTHER"), "role"),
        (evidence(profiles=[]), "profiles"),
        (evidence(controls=[{"control": "x", "result": "good", "observed": ""}]), "controls.0.result"),
    ],
)
def test_what_is_no_evidence_is_refused(file: Path, text: str, reason: str) -> None:
    """With what is wrong, and the file's name; no value of it is printed."""
    file.write_text(text)
    made = run("-f", file)
    assert made.exit_code == 1
    assert "evidence.json" in made.stderr
    assert reason in made.stderr


def test_a_control_of_a_newer_release_is_shown(file: Path) -> None:
    """By its id; nothing of the evidence is left out."""
    file.write_text(evidence(("9.9.9", "fail")))
    assert f"{CIS}/9.9.9" in run("-f", file).stdout


def test_a_profile_of_a_newer_release_is_no_pass(file: Path) -> None:
    """What it should check is not known here, so that nothing of it counts as met."""
    file.write_text(evidence(profiles=["cis-kubernetes-9.9/level-1"], controls=[]))
    made = run("-f", file)
    assert made.exit_code == 1
    assert "cis-kubernetes-9.9/level-1" in made.stdout


async def test_log_bundles_of_a_server_are_read(tmp_path: Path) -> None:
    """A machine that the server knows has its evidence; of one that it does not know there is none."""
    async with serving(tmp_path) as served:
        store = served.reports.store
        for source, data in ((reportspb.REPORT_SOURCE_SINK, COMPLETE),):
            await store.add_events(KEY, source, data)
        await store.add_logs(KEY, bundle_of({PATH: evidence(("4.2.6", "fail")).encode(), "kubelet.log": b"x\n"}))
        arguments = ["compliance", "report", "--server", served.address, "--insecure"]
        made = await asyncio.to_thread(CliRunner().invoke, cli, arguments)
        assert made.exit_code == 1, made.output
        assert made.stdout.startswith("harbour/worker-1 (")
        absent = await asyncio.to_thread(CliRunner().invoke, cli, [*arguments, "worker-9"])
        assert (absent.exit_code, "no evidence" in absent.stderr) == (1, True)


ABSENT = [
    (COMPLETE, b"", "EVIDENCE_NOT_SENT", "there is no log bundle of this machine"),
    (COMPLETE, bundle_of({"kubelet.log": b"x\n"}), "EVIDENCE_NOT_SENT", "holds no evidence"),
    (BEGUN, b"", "BOOTSTRAP_NOT_COMPLETE", "there is no log bundle of this machine"),
    (FAILED, bundle_of({"kubelet.log": b"x\n"}), "BOOTSTRAP_NOT_COMPLETE", "holds no evidence"),
    (COMPLETE, bundle_of({PATH: b"{"}), "EVIDENCE_NOT_READABLE", "is not evidence: it is not JSON"),
]


@pytest.mark.parametrize(
    ("events", "logs", "reason", "message"), ABSENT, ids=["silent", "bare", "under-way", "failed", "damaged"]
)
async def test_a_machine_without_evidence_has_a_reason(
    tmp_path: Path, events: bytes, logs: bytes, reason: str, message: str
) -> None:
    """It fails the report, unless that is allowed, and alone in any case; it is no failure of a control."""
    target = tmp_path / "controls.xml"
    silent = replace(KEY, machine="worker-2")
    async with serving(tmp_path) as served:
        store = served.reports.store
        await store.add_events(KEY, reportspb.REPORT_SOURCE_SINK, COMPLETE)
        await store.add_events(silent, reportspb.REPORT_SOURCE_SINK, events)
        await store.add_logs(KEY, bundle_of({PATH: evidence().encode()}))
        if logs:
            await store.add_logs(silent, logs)

        async def report(*more: str) -> Result:
            arguments = ["--server", served.address, "--insecure", "--junit", str(target), *more]
            return await asyncio.to_thread(run, *arguments)

        made = await report()
        assert made.exit_code == 1, made.output
        (line,) = [line for line in made.stdout.splitlines() if line.startswith("harbour/worker-2")]
        assert line.startswith(f"harbour/worker-2: {reason}: ")
        assert message in line
        assert "/var/lib/slipway/evidence.json" in made.stderr
        suites = {suite.attrib["name"]: suite for suite in ET.fromstring(target.read_text(encoding="utf-8"))}
        assert suites["harbour/worker-1"].attrib["errors"] == "0"
        (error,) = suites["harbour/worker-2"].iter("error")
        assert error.attrib["type"] == reason
        assert message in error.attrib["message"]
        assert (suites["harbour/worker-2"].attrib["errors"], suites["harbour/worker-2"].attrib["failures"]) == (
            "1",
            "0",
        )
        tree = {machine["machine"]: machine for machine in json.loads((await report("-o", "json")).stdout)}
        assert tree["harbour/worker-2"].keys() == {"machine", "reason", "message"}
        assert tree["harbour/worker-2"]["reason"] == reason
        assert "reason" not in tree["harbour/worker-1"]
        assert (await report("--allow-no-evidence")).exit_code == 0
        assert (await report("--allow-no-evidence", "worker-2")).exit_code == 1


SPEC = """
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayCluster
metadata: {name: c}
spec:
  cluster: {kubernetesVersion: v1.34.2, endpoint: {host: api.example.com}}
  machines: [{name: w, role: Worker, config: k}]
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayConfig
metadata: {name: k}
spec:
  kubernetes: {node: {kubeletConfiguration: {text: "maxPods: 77"}}}
"""


def test_a_diff_names_the_controls(tmp_path: Path) -> None:
    """What a profile adds, and what it changes of the user's own, has the controls beside it."""
    before, after = tmp_path / "before.yaml", tmp_path / "after.yaml"
    before.write_text(SPEC)
    after.write_text(f"{SPEC}  compliance: {{profiles: [{CIS}/level-1]}}\n")
    made = CliRunner().invoke(cli, ["diff", str(before), str(after), "-o", "json"])
    assert made.exit_code == 0, made.output
    changes = {change["what"]: change["fields"] for change in json.loads(made.stdout)}
    (_, by) = changes["kubernetes.node"]
    assert by.startswith(f"compliance: {CIS}/4.2.")
    assert any(field.startswith(f"compliance: {CIS}/4.1.1") for fields in changes.values() for field in fields)
