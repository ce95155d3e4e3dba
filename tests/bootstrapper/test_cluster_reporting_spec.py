"""The sink `workloadCluster` of a spec: a command of machines that join, without a secret; others are warned of."""

import gzip
import re

import pytest
import yaml

from slipway.bootstrapper.explanation import explain
from slipway.contract.errors import SlipwayError
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.bootstrapper.artifacts.test_agent_spec import texts_of
from tests.bootstrapper.asking import asked, bootstrapper, check, question
from tests.bootstrapper.test_reporting_spec import LINUX, WINDOWS

CLUSTER = "workloadCluster: {}"
PUT = "put: {url: {name: report, key: url}}"
CALL = "clusterreport >/dev/null 2>&1 || true"
BY_TOKEN = re.compile(r"clusterreport [\w+/=]{20,} [\w+/=]{100,} https://[a-z0-9.:]+ >/dev/null 2>&1 \|\| true")


def request(
    sinks: str,
    role: clusterpb.Role.ValueType = clusterpb.ROLE_WORKER,
    provisioner: str = "cloud-init",
    target: str = LINUX,
) -> bootstrappb.GetUserDataRequest:
    """Ask for a machine with these sinks."""
    parts = ", ".join(part for part in (target, f"reporting: {{sinks: [{sinks}]}}") if part)
    made = asked(question(f"{{{parts}}}"), provisioner)
    made.subject.machine.role = role
    made.credentials.secrets.add(name="report", key="url", value=b"https://reports.example.com/1")
    return made


async def rendered(*arguments: object) -> str:
    """Give the texts of the user data."""
    data = (await bootstrapper().user_data(request(*arguments))).user_data  # type: ignore[arg-type]
    return texts_of(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)


@pytest.mark.parametrize("role", [clusterpb.ROLE_WORKER, clusterpb.ROLE_CONTROL_PLANE])
@pytest.mark.parametrize("provisioner", ["cloud-init", "ignition"])
async def test_a_machine_that_joins_reports_to_its_cluster(provisioner: str, role: clusterpb.Role.ValueType) -> None:
    """Its user data have the command: a worker's has its token, the cluster's authority and its address."""
    text = await rendered(f"{{{CLUSTER}}}", role, provisioner)
    is_worker = role == clusterpb.ROLE_WORKER
    assert (len(BY_TOKEN.findall(text)), text.count(CALL)) == ((1, 0) if is_worker else (0, 1))
    assert "slipway-report.service" not in text


@pytest.mark.parametrize(
    ("endpoint", "address"),
    [
        (clusterpb.Endpoint(host="fd00::1", port=7443), "https://[fd00::1]:7443"),
        (clusterpb.Endpoint(host="[fd00::1]", port=7443), "https://[fd00::1]:7443"),
        (clusterpb.Endpoint(host="api.example.com"), "https://api.example.com:6443"),
    ],
)
async def test_a_worker_has_the_address_of_its_cluster(endpoint: clusterpb.Endpoint, address: str) -> None:
    """With the port of an API server where the cluster says none."""
    made = request(f"{{{CLUSTER}}}")
    made.subject.cluster.endpoint.CopyFrom(endpoint)
    text = texts_of((await bootstrapper().user_data(made)).user_data)
    assert re.findall(r"clusterreport \S+ \S+ (\S+) >", text) == [address]


async def test_both_sinks_are_the_first_steps() -> None:
    """Each is a step of the phase prepare, in front of all others."""
    data = (await bootstrapper().user_data(request(f"{{{CLUSTER}}}, {{{PUT}}}, {{console: {{}}}}"))).user_data
    files = {file["path"]: file["content"] for file in yaml.safe_load(data)["write_files"]}
    steps = [line.split()[:2] for line in files["/var/lib/slipway/plan"].splitlines()[1:3]]
    assert [phase for _, phase in steps] == ["prepare", "prepare"]
    first, second = (files[f"/var/lib/slipway/steps/{step}"] for step, _ in steps)
    assert "report failure " in first
    assert BY_TOKEN.search(second)


async def test_the_machine_that_begins_the_cluster_is_warned_of() -> None:
    """It has no API server to report to: the user data are without the command, and `explain` names the sink."""
    sinks = f"{{console: {{}}}}, {{{CLUSTER}}}"
    assert "clusterreport" not in await rendered(sinks, clusterpb.ROLE_INIT)
    for role, expected in ((clusterpb.ROLE_INIT, ["reporting.sinks[1]"]), (clusterpb.ROLE_WORKER, [])):
        made = request(sinks, role)
        answer = await explain(bootstrapper(), bootstrappb.ExplainRequest(subject=made.subject))
        unused = [each for each in answer.diagnostics if each.code == "REPORT_SINK_UNUSED"]
        assert [each.field_path for each in unused] == expected
        assert all("has no API server to report to" in each.message for each in unused)


@pytest.mark.parametrize(
    ("provisioner", "target", "path"), [("windows", WINDOWS, "spec.reporting.sinks"), ("talos", "", "reporting")]
)
async def test_where_nothing_sends_it_is_refused(provisioner: str, target: str, path: str) -> None:
    """Windows and Talos are refused by the field, with something to do."""
    with pytest.raises(SlipwayError) as caught:
        await rendered(f"{{{CLUSTER}}}", clusterpb.ROLE_WORKER, provisioner, target)
    check(caught.value)
    assert any(path in violation.path for violation in caught.value.violations)
