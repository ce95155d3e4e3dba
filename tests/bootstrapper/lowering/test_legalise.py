"""Tests of legalisation as a whole: its last act, secrets, and that it gives the same every time."""

import base64
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from slipway.bootstrapper.lowering.finish import finish
from slipway.contract.features import unsupported
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from tests.bootstrapper.lowering.legalising import Format, supports, text, work
from tests.bootstrapper.lowering.lowered_systems import SUPPORTS
from tests.bootstrapper.lowering.specs import systems

pytestmark = pytest.mark.long


def steps_bundle(**properties: Any) -> bundlepb.BootstrapBundle:
    """Give a bundle with one step and one sysctl."""
    bundle = text('sysctls { name: "vm.swappiness" value: "1" }')
    bundle.id = "b"
    bundle.plan.steps.add(id="one", phase=planpb.PHASE_BOOTSTRAP, command=planpb.Command(argv=["true"], **properties))
    return bundle


STEPS = {"os.files", "plan.entrypoint", "plan.steps", "plan.steps.command"}


def test_steps_stay_where_they_are_declared() -> None:
    """What was prepared comes before them, and no runner is sent."""
    draft, _ = work(steps_bundle(), STEPS)
    finish(draft, supports(STEPS))
    assert [step.id for step in draft.bundle.plan.steps] == ["70-sysctls", "one"]
    assert not draft.bundle.plan.HasField("entrypoint")
    assert [file.path for file in draft.bundle.os.files] == ["/etc/sysctl.d/99-zz-slipway.conf"]


def test_steps_that_ask_for_more_than_is_declared_are_run_by_the_runner() -> None:
    """A provisioner that knows steps but no retries is not refused: the runner knows them."""
    draft, _ = work(steps_bundle(retries=2), STEPS)
    finish(draft, supports(STEPS))
    assert not draft.bundle.plan.steps
    assert draft.bundle.plan.entrypoint.argv
    assert not unsupported(draft.bundle, supports(STEPS))


CANARY = b"canary-7d1f3c"


def holds_canary(message: bytes) -> bool:
    """Tell whether the canary is in a message, in any encoding in which a pass might splice it."""
    forms = [CANARY, CANARY.hex().encode(), *(base64.b64encode(b"x" * pad + CANARY)[4:-4] for pad in range(3))]
    return any(form in message for form in forms)


@given(system=systems())
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_pass_copies_a_secret(system: ospb.OperatingSystem) -> None:
    """Secrets are in the bundle while passes run; afterwards they are still only where they were."""
    for distribution in ("debian", "windows"):  # To make up a system is dearer than to lower it for both.
        bundle = bundlepb.BootstrapBundle(id="b", os=system)
        bundle.secrets.secrets.add(name="team-secret", key="value", value=CANARY)
        draft, result = work(bundle, Format({"os.files", "plan.entrypoint"}, distribution=distribution))
        finish(draft, SUPPORTS)
        assert holds_canary(draft.bundle.SerializeToString())
        draft.bundle.ClearField("secrets")
        assert not holds_canary(draft.bundle.SerializeToString()), distribution
        told = str([*draft.lowered, *draft.passes, *result.refusals, *result.omitted])
        assert not holds_canary(told.encode()), distribution


def test_the_canary_is_seen_in_every_encoding() -> None:
    """The test above can fail."""
    for copy in (CANARY, base64.b64encode(b"ab" + CANARY + b"cd"), b"x" + CANARY.hex().encode()):
        content = contentpb.Content(segments=[contentpb.Segment(data=copy)])
        assert holds_canary(ospb.File(path="/f", content=content).SerializeToString())


def test_secret_references_survive() -> None:
    """What a file refers to is still a reference, with its encoding, when the file is staged."""
    reference = contentpb.Segment(encoding=contentpb.SPLICE_ENCODING_BASE64)
    reference.secret_ref.name, reference.secret_ref.key = "s", "k"
    file = ospb.File(path="/f", append=True, content=contentpb.Content(segments=[reference]))
    draft, _ = work(bundlepb.BootstrapBundle(id="b", os=ospb.OperatingSystem(files=[file])), {"os.files"})
    finish(draft, SUPPORTS)
    segments = [segment for made in draft.bundle.os.files for segment in made.content.segments]
    assert [segment for segment in segments if segment.HasField("secret_ref")] == [reference]


def test_the_same_bundle_is_lowered_to_the_same_bytes() -> None:
    """Neither order of declaration nor time nor chance changes a byte."""
    system = (
        'sysctls { name: "a.b" value: "1" } users { name: "ann" sudo: "ALL" } groups { name: "g" gid: 1 }'
        'ntp { servers: "a" } time_zone { name: "UTC" } hostname { name { value: "h" } } links {path: "/l" target: "x"}'
        'kernel_modules { name: "m" parameters: "a=1" } packages { install { name: "p" } }'
    )
    results = set()
    for declared in (["os.files", "plan.entrypoint"], ["plan.entrypoint", "os.files"]):
        bundle = text(system)
        bundle.id = "b"
        draft, result = work(bundle, declared)
        finish(draft, supports(declared))
        assert result.refusals == []
        results.add(draft.bundle.SerializeToString(deterministic=True))
    assert len(results) == 1
