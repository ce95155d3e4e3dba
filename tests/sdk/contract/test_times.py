"""Points in time and durations out of range are refused by their field, wherever the contract has one."""

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from slipway.contract.times import DEFAULT_MAX_SECONDS, time_violations
from slipway.contract.validation import violations
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb

_WEEK = 7 * 24 * 3600


@pytest.mark.parametrize(
    ("seconds", "nanos"),
    [(10**18, 0), (-(10**18), 0), (253_402_300_800, 0), (-62_135_596_801, 0), (0, -5), (0, 10**9), (2**63 - 1, 0)],
)
def test_what_is_no_point_in_time_is_refused(seconds: int, nanos: int) -> None:
    """The violation has the path and says what to do; no program further on has to make a date of it."""
    secret = secretpb.Secret(name="a", key="b", expire_time=Timestamp(seconds=seconds, nanos=nanos))
    (violation,) = violations(secretpb.SecretMaterial(secrets=[secret]))
    assert violation.path == "secrets[0].expire_time"
    assert violation.remedy


@pytest.mark.parametrize(("seconds", "nanos"), [(0, 0), (253_402_300_799, 999_999_999), (-62_135_596_800, 0)])
def test_every_point_in_time_is_taken(seconds: int, nanos: int) -> None:
    """The ends of the range belong to it."""
    secret = secretpb.Secret(name="a", key="b", expire_time=Timestamp(seconds=seconds, nanos=nanos))
    assert not list(violations(secret))
    secret.expire_time.ToDatetime()


@pytest.mark.parametrize(("seconds", "nanos"), [(-1, 0), (0, -1), (1, 10**9), (_WEEK + 1, 0), (_WEEK, 1), (10**18, 0)])
def test_a_timeout_that_no_machine_can_count_to_is_refused(seconds: int, nanos: int) -> None:
    """A week is the most for a command: PowerShell waits for 2^31 milliseconds at most, 24 days."""
    command = planpb.Command(argv=["true"], timeout=Duration(seconds=seconds, nanos=nanos))
    assert [violation.path for violation in violations(command)] == ["timeout"]


def test_a_duration_without_a_rule_has_what_go_can_count() -> None:
    """Engines and their configs are of Go, whose durations end after 292 years."""
    longest = kubernetespb.Certificates(ca_validity=Duration(seconds=DEFAULT_MAX_SECONDS))
    assert not list(violations(longest))
    longest.ca_validity.seconds += 1
    assert [violation.path for violation in violations(longest)] == ["ca_validity"]


def test_the_times_of_a_bundle_are_looked_for_alone() -> None:
    """A provisioner checks nothing else of a bundle: its paths are those of the bundle."""
    bundle = bundlepb.BootstrapBundle()
    bundle.secrets.secrets.add(name="not a name")
    bundle.secrets.secrets.add(expire_time=Timestamp(seconds=10**18))
    bundle.plan.steps.add().command.timeout.seconds = 10**18
    paths = [violation.path for violation in time_violations(bundle)]
    assert sorted(paths) == ["plan.steps[0].command.timeout", "secrets.secrets[1].expire_time"]
