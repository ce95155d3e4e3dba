"""No refusal without a remedy: whatever is asked of whichever format, it says what the person can do."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slipway.bootstrapper.explanation import explain
from slipway.bootstrapper.problems.problem import Problem, Severity
from slipway.bootstrapper.problems.remedies import remedy_of, remedy_of_error
from slipway.contract.errors import SlipwayError, error_class
from slipway.contract.feature_uses import Use
from slipway.embedded.bootstrapper import served
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1.reasons import Reason
from tests.bootstrapper.asking import EXAMPLES, IMPERATIVE, asked, bootstrapper, check, found, question, refused
from tests.bootstrapper.lowering.specs import systems
from tools.docgen.feature_ids import places

pytestmark = pytest.mark.long


def test_there_is_no_refusal_without_a_remedy() -> None:
    """It cannot be made: not by leaving it out, nor by an empty one. A warning may have none."""
    parts: dict[str, Any] = {"feature": "os.users", "path": "os.users[0]", "message": "is not supported"}
    assert Problem(**parts, remedy="leave it out")
    without: tuple[dict[str, Any], ...] = ({}, {"remedy": ""})
    for remedy in without:
        with pytest.raises(AssertionError, match=r"os\.users"):
            Problem(**parts, **remedy)
    assert Problem(**parts, severity=Severity.WARNING)


def test_every_feature_has_a_remedy() -> None:
    """Of each id that the contract has, for a format that does not declare it."""
    for place in places():
        use = Use(place.id, place.path.partition(" = ")[0], None, None, place.path.partition("[]")[0])
        assert IMPERATIVE.match(remedy_of(use, {})), place.id


@pytest.mark.parametrize(
    ("support", "expected", "reason"),
    [
        ({"path_prefixes": ["/var/"]}, "choose a path below /var/", "a folder"),
        ({"allowed_values": ["true"]}, "set content to true, or leave it out", "a value"),
        ({"max_items": 1}, "keep 1 of them", "a number"),
        ({"max_items": 0}, "leave out content", "none at all"),
        ({"max_bytes": 5}, "shorten content", "a size"),
    ],
)
def test_bounds_are_named(support: dict[str, Any], expected: str, reason: str) -> None:
    """Who takes a feature within bounds is told how to come within them."""
    use = Use("os.files", "os.files[0].content", None, ospb.File(), "os.files[0]")
    assert remedy_of(use, {"os.files": provisionerpb.FeatureSupport(id="os.files", **support)}) == expected, reason


def test_every_reason_has_a_remedy() -> None:
    """Also where whoever raises the error says none."""
    for reason in Reason:
        assert IMPERATIVE.match(remedy_of_error(error_class(reason)("no"))), reason


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
async def test_every_refusal_of_the_examples_has_one(example: Path) -> None:
    """By every provisioner, for every machine; and explain tells the same for each refused field."""
    for one in found(example):
        for provisioner in served():
            error = await refused(asked(one, provisioner))
            if error is not None:
                check(error)
        try:
            answer = await explain(bootstrapper(), bootstrappb.ExplainRequest(subject=one.subject))
        except SlipwayError as error:
            check(error)
            continue
        cells = [(row.feature, cell) for row in answer.rows for cell in row.cells]
        bare = [feature for feature, cell in cells if cell.verdict == bootstrappb.VERDICT_REFUSED and not cell.remedy]
        assert not bare


REFUSED = [
    ("cloud-init", "{os: {kernelArguments: [{argument: a}]}}", "or choose ignition, which takes it", "who takes it"),
    (
        "ignition",
        (
            "{target: {distribution: flatcar}, "
            "os: {disks: [{device: /dev/b, tableType: Mbr, partitions: [{sizeMib: 9, label: a}]}]}}"
        ),
        "leave the label out",
        "a part",
    ),
    ("talos", "{commands: {pre: [{argv: [a]}]}}", "or choose cloud-init or ignition, which take it", "two take it"),
    ("talos", '{os: {files: [{path: /etc/a, content: {text: ""}}]}}', "choose a path below /var/", "a bound"),
    ("talos", "{kubernetes: {node: {criSocket: unix:///a.sock}}}", "set criSocket to ", "a value"),
    ("windows", "{os: {sysctls: [{name: a.b, value: c}]}}", "leave it out for machines that run Windows", "a table's"),
    ("windows", "{os: {users: [{name: ann, sudo: [ALL=ALL]}]}}", "add Administrators to groups", "a pass's"),
    (
        "cloud-init",
        "{kubernetes: {controlPlane: {kubeProxy: {imageTag: a}}}}",
        "follows the Kubernetes version",
        "an engine's",
    ),
    (
        "cloud-init",
        "{extensions: [{id: a.example.com/b, mediaType: a/b, content: {text: a}}]}",
        "leave it out",
        "nobody's",
    ),
    (
        "ignition",
        "{os: {files: [{path: /a, content: {segments: [{extension: {id: a.example.com/b, text: c}}]}}]}}",
        "use machine facts in its place",
        "a text's",
    ),
    ("talos", "{kubernetes: {node: {labels: [{name: a.k8s.io/b, value: c}]}}}", "choose a label outside", "a render's"),
    (
        "cloud-init",
        "{target: {distribution: flatcar}, os: {disks: [{device: ephemeral0}]}}",
        "name the device by its path in /dev",
        "a render's, which nobody else takes either",
    ),
    ("talos", "{os: {ntp: {pools: [a.example.com, b.example.com]}}}", "leave out pools, or choose", "a list"),
    (
        "talos",
        "{os: {files: [{path: /var/a, remote: {urls: [https://a.example.com/b], sha512: " + "ab" * 64 + "}}]}}",
        "put content in its place",
        "one of two",
    ),
    ("clod-init", "{}", "did you mean cloud-init?", "a name"),
]


@pytest.mark.parametrize(("provisioner", "spec", "expected", "reason"), REFUSED, ids=[one[3] for one in REFUSED])
async def test_a_remedy_is_to_the_point(provisioner: str, spec: str, expected: str, reason: str) -> None:
    """It names the field within the item, the bound, and who takes it: nobody else is named."""
    error = await refused(asked(question(spec), provisioner))
    assert error is not None, reason
    check(error)
    assert any(expected in violation.remedy for violation in error.violations), (reason, error.violations)


@pytest.mark.parametrize("instead", ["{etcd: {local: {}}}", "{}"], ids=["local in its place", "no etcd"])
async def test_who_follows_the_remedy_for_external_etcd_has_a_valid_spec(instead: str) -> None:
    """Etcd without either of both is no valid spec: to leave out external alone led from one refusal to the next."""
    files = "caFile: /a/ca.crt, certFile: /a/c.crt, keyFile: /a/c.key"
    external = f"{{etcd: {{external: {{endpoints: ['https://10.0.0.1:2379'], {files}}}}}}}"
    error = await refused(asked(question(f"{{kubernetes: {external}}}", role="Init"), "talos"))
    assert error is not None
    told = [violation.remedy for violation in error.violations if violation.feature.startswith("kubernetes.etcd")]
    assert len(told) == 1
    assert told[0].startswith("put local in its place, or leave out etcd as a whole"), told
    assert await refused(asked(question(f"{{kubernetes: {instead}}}", role="Init"), "talos")) is None


async def test_what_a_provisioner_refuses_is_not_sought_at_its_other_formats() -> None:
    """They are made by the same hands: to send the person there would be to send them in circles."""
    error = await refused(asked(question("{os: {files: [{path: /var/a, owner: b, content: {text: c}}]}}"), "talos"))
    assert error is not None
    (violation,) = error.violations
    assert violation.remedy == "leave out owner and group, or choose cloud-init or ignition, which take it"
    assert violation.feature == "os.files"


async def test_nobody_is_named_who_would_refuse_the_machine() -> None:
    """A worker of a cluster that Talos made: cloud-init takes its users, but no machine of such a cluster."""
    one = question("{os: {users: [{name: ann}]}}")
    one.subject.cluster.control_plane = "talos"
    error = await refused(asked(one, "talos"))
    assert error is not None
    assert [violation.remedy for violation in error.violations] == ["leave it out"]


async def test_a_machine_is_not_turned_into_another_kind() -> None:
    """Talos takes sysctls, but a machine of an engine is not made into one that bootstraps itself for them."""
    error = await refused(asked(question("{os: {sysctls: [{name: a.b, value: c}]}}"), "windows"))
    assert error is not None
    (violation,) = error.violations
    assert violation.remedy.endswith("or choose cloud-init or ignition, which take it")


def pairs() -> Iterable[tuple[str, str]]:
    """Give every format of every provisioner."""
    return [(name, form) for name, forms in served().items() for form in forms]


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(system=systems(), pair=st.sampled_from(list(pairs())))
async def test_whatever_a_system_says_its_refusals_have_one(
    system: ospb.OperatingSystem, pair: tuple[str, str]
) -> None:
    """Of operating systems made up from the contract's descriptors, by any format."""
    one = question("{}")
    one.subject.spec.os.CopyFrom(system)
    error = await refused(asked(one, *pair))
    if error is not None:
        check(error)
