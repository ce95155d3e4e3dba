"""Machines with profiles, from the spec to the user data, and what answers about them say."""

import gzip
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from slipway.bootstrapper.compliance.profile_table import profile_ids
from slipway.bootstrapper.explanation import explain
from slipway.bootstrapper.policy import Policy
from slipway.contract.errors import FeatureDenied, SpecInvalid, UnsupportedFeature, UnsupportedTarget
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tests.bootstrapper.asking import asked, bootstrapper, check, question, refused

CIS = "cis-kubernetes-1.10"
LINUX = "target: {osFamily: Linux, distribution: debian, osVersion: '12', infrastructure: metal}"
WAIVER = "{control: cis-kubernetes-1.10/1.2.11, reason: images are preloaded, expireTime: '2027-06-30T00:00:00Z'}"


def request(  # noqa: PLR0913  # parts of a spec, all by name
    *,
    role: str = "Init",
    more: str = "",
    waivers: str = "",
    target: str = LINUX,
    provisioner: str = "cloud-init",
    profile: str = f"{CIS}/level-1",
) -> bootstrappb.GetUserDataRequest:
    """Ask for a machine with a profile, that of level 1."""
    compliance = f"compliance: {{profiles: [{profile}], waivers: [{waivers}]}}"
    parts = ", ".join(part for part in (target, compliance, more) if part)
    return asked(question(f"{{{parts}}}", role=role), provisioner)


async def rendered(**parts: str) -> bytes:
    """Give the user data."""
    data = (await bootstrapper().user_data(request(**parts))).user_data
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


async def test_the_machine_meets_its_controls() -> None:
    """Kubeadm's documents have the settings, and steps after the bootstrap restrict files."""
    text = (await rendered()).decode()
    for part in (
        "value: NodeRestriction,DenyServiceExternalIPs,EventRateLimit,AlwaysPullImages",
        "name: EventRateLimit",
        "kind: Policy",
        "secretbox:",
        '"podPidsLimit": 4096',
        "belong etcd:etcd /var/lib/etcd",
        "restrict u-x,g-rwx,o-rwx ",
    ):
        assert part in text, part


@pytest.mark.parametrize("version", ["v1.28.0", "v1.31.4", "v1.34.2", "v1.36.0"])
async def test_documents_are_of_every_kubernetes_version(version: str) -> None:
    """The settings of the kubelet, the audit policy and the rest are accepted by the versions' own types."""
    asking = request()
    asking.subject.cluster.kubernetes_version = version
    assert await refused(asking) is None


async def test_a_worker_holds_no_key_of_the_encryption() -> None:
    """Only control planes have it, by reference until the end."""
    assert b"secretbox" in await rendered()
    assert b"secretbox" not in await rendered(role="Worker")


async def test_explain_names_the_control_of_every_field() -> None:
    """The fields that a profile sets have its controls as their place; a field of the user's own keeps its own."""
    own = "kubernetes: {controlPlane: {apiServer: {arguments: [{name: v, value: '2'}]}}}"
    asking = request(more=own, waivers=WAIVER)
    answer = await explain(bootstrapper(), bootstrappb.ExplainRequest(subject=asking.subject))
    places = {row.origin.path for row in answer.rows}
    assert f"{CIS}/1.2.15" in places
    assert f"{CIS}/1.2.17" in places
    assert any(place.startswith(f"{CIS}/4.2.") for place in places)
    assert any(place.endswith("controlPlane") for place in places)
    remarks = {remark.code: remark for remark in answer.diagnostics}
    assert remarks["CONTROL_WAIVED"].message == f"{CIS}/1.2.11 is waived until 2027-06-30"
    assert remarks["CONTROL_WAIVED"].origin.path == "spec.compliance.waivers[0]"


async def test_the_answer_with_user_data_reports_waivers() -> None:
    """The answer that makes the machine lists them."""
    answer = await bootstrapper().user_data(request(waivers=WAIVER))
    assert "CONTROL_WAIVED" in {remark.code for remark in answer.diagnostics}


async def test_sizes_name_the_controls() -> None:
    """What a control adds to the bundle is counted for it."""
    answer = await bootstrapper().user_data(request())
    origins = {item.origin.path for item in answer.size.items}
    assert any(path.startswith(f"{CIS}/1.1.9") for path in origins)


async def test_a_refusal_names_the_control() -> None:
    """The kubeadm of 1.24 has no way for a configuration of the kubelet: the controls that ask for it are named."""
    asking = request(role="Worker")
    asking.subject.cluster.kubernetes_version = "v1.24.0"
    error = await refused(asking)
    assert isinstance(error, UnsupportedFeature)
    assert any(violation.path.startswith(f"compliance: {CIS}/4.2.") for violation in error.violations)
    check(error)


@pytest.mark.parametrize("role", ["Init", "Worker"])
async def test_an_engine_without_a_configuration_of_the_kubelet_gets_arguments(role: str) -> None:
    """k0s is given the same settings as arguments, and they have the controls as their place."""
    text = (await rendered(role=role, more="kubernetes: {engine: k0s}")).decode()
    for argument in ("--anonymous-auth=false", "--pod-max-pids=4096", "--streaming-connection-idle-timeout=5m"):
        assert argument in text, argument
    asking = request(role=role, more="kubernetes: {engine: k0s}")
    answer = await explain(bootstrapper(), bootstrappb.ExplainRequest(subject=asking.subject))
    places = {row.origin.path for row in answer.rows if row.feature == "kubernetes.node.kubelet_arguments"}
    assert f"{CIS}/4.2.13" in places


async def test_a_conflict_names_the_field_and_the_control() -> None:
    """What the user sets against a control is refused at its field, without the value."""
    own = "kubernetes: {controlPlane: {apiServer: {arguments: [{name: profiling, value: 'true'}]}}}"
    error = await refused(request(more=own))
    assert isinstance(error, SpecInvalid)
    (violation,) = error.violations
    assert violation.path == "SlipwayConfig/k: spec.kubernetes.controlPlane.apiServer.arguments[0]"
    assert violation.description == f"is against {CIS}/1.2.15: the API server serves no profiles of itself"
    check(error)


@pytest.mark.parametrize(
    ("compliance", "path"),
    [
        ("{profiles: [cis-kubernetes-1.9/level-1]}", "spec.compliance.profiles[0]"),
        ("{profiles: [cis-kubernetes-1.10/level-3]}", "spec.compliance.profiles[0]"),
        (
            "{profiles: [cis-kubernetes-1.10/level-1], waivers: [{control: cis-kubernetes-1.10/9.9, reason: x}]}",
            "spec.compliance.waivers[0].control",
        ),
        (
            "{profiles: [cis-kubernetes-1.10/level-1], waivers: [{control: cis-kubernetes-1.10/5.7.2, reason: x}]}",
            "spec.compliance.waivers[0].control",
        ),
    ],
)
async def test_what_is_not_known_is_refused(compliance: str, path: str) -> None:
    """Profiles, levels and controls that there are not, and waivers of what the level does not have."""
    error = await refused(asked(question(f"{{{LINUX}, compliance: {compliance}}}"), "cloud-init"))
    assert isinstance(error, SpecInvalid)
    assert [violation.path.rpartition(": ")[2] for violation in error.violations] == [path]
    check(error)


async def test_a_waiver_that_has_ended_is_refused() -> None:
    """The day after its end no machine is made with it; the day before one is."""
    before, after = datetime(2027, 6, 29, tzinfo=UTC), datetime(2027, 7, 1, tzinfo=UTC)
    assert (await replace(bootstrapper(), clock=lambda: before).user_data(request(waivers=WAIVER))).user_data
    with pytest.raises(SpecInvalid) as caught:
        await replace(bootstrapper(), clock=lambda: after).user_data(request(waivers=WAIVER))
    (violation,) = caught.value.violations
    assert violation.path.endswith("compliance.waivers[0].expireTime")
    assert f"{CIS}/1.2.11" in violation.description
    check(caught.value)


async def test_windows_is_refused() -> None:
    """Nothing there meets or checks the controls."""
    target = "target: {osFamily: Windows, distribution: windows, osVersion: '2022', infrastructure: metal}"
    error = await refused(request(role="Worker", target=target, provisioner="windows"))
    assert isinstance(error, UnsupportedTarget)
    check(error)


@pytest.mark.parametrize("role", ["Init", "ControlPlane", "Worker"])
@pytest.mark.parametrize("provisioner", ["ignition", "talos"])
@pytest.mark.parametrize("profile", profile_ids())
async def test_other_formats_render_it(role: str, provisioner: str, profile: str) -> None:
    """Ignition as cloud-init; Talos without what it does by itself, and without steps."""
    target = "" if provisioner == "talos" else LINUX
    data = await rendered(role=role, provisioner=provisioner, target=target, profile=profile)
    assert (b"restrict" in data) is False if provisioner == "talos" else data


async def test_an_operator_can_deny_it() -> None:
    """The feature of the spec's field is one like any other."""
    made = replace(bootstrapper(), policy=Policy(denied_features=frozenset({"compliance"})))
    with pytest.raises(FeatureDenied):
        await made.user_data(request())


@pytest.mark.parametrize(("logs", "when"), [("", "always"), (", logs: Never", "never")])
async def test_the_evidence_is_sent_unless_the_spec_says_otherwise(logs: str, when: str) -> None:
    """The log bundle, which holds it, is sent after a success, too."""
    reporting = f"reporting: {{sinks: [{{put: {{url: {{name: r, key: u}}, logsUrl: {{name: r, key: l}}}}}}]{logs}}}"
    asking = request(more=reporting)
    for key in ("u", "l"):
        asking.credentials.secrets.add(name="r", key=key, value=b"https://reports.example.com/1")
    data = (await bootstrapper().user_data(asking)).user_data
    text = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    assert f"report {when} ".encode() in text


async def test_evidence_is_the_last_step() -> None:
    """It looks at the machine when all else is done, and its place is the field that asks for it."""
    answer = await bootstrapper().user_data(request(more="commands: {post: [{argv: [echo, done]}]}"))
    data = answer.user_data
    text = (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode()
    last = max(text.index("exec echo done"), text.index("belong etcd:etcd"))
    assert text.index("evidence '") > last
    assert any(item.origin.path.endswith("spec.compliance") for item in answer.size.items)


async def test_without_profiles_nothing_changes() -> None:
    """A spec that asks for none gets the same user data as before."""
    plain = await bootstrapper().user_data(asked(question(f"{{{LINUX}}}", role="Init"), "cloud-init"))
    assert b"restrict" not in plain.user_data
    assert not plain.diagnostics
