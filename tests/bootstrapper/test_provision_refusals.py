"""What ProvisioningService refuses: by the field of the request, with no value in it, and not too much at once."""

from typing import Any

import pytest

from slipway.bootstrapper.assembly.own_plan import check_provision
from slipway.bootstrapper.policy import Policy
from slipway.contract.control_characters import has_controls
from slipway.contract.errors import SpecInvalid
from slipway.contract.status import decode
from slipway.contract.validation import MAX_VIOLATIONS
from slipway.v1alpha1 import provisioning_service_pb2 as provisioningpb
from tests.bootstrapper.provision_requests import SPEC, TOKEN, changed, refusal, request

ORIGIN = "x\n\x1b[31m"


async def test_a_first_boot_system_that_bootstraps_by_itself_refuses_a_plan() -> None:
    """Talos is refused by the field, and is never chosen for a plan by itself."""
    error = await refusal(request(changed(provisioner={"name": "talos"}, target=None)))
    assert error.reason == "UNSUPPORTED_FEATURE"
    assert error.violations[0].path == "spec.plan"
    assert "spec.commands.pre[0]" in [one.path for one in error.violations]
    assert "choose" in error.violations[0].remedy.lower()
    error = await refusal(request(changed(provisioner=None)))
    assert error.reason == "AMBIGUOUS_PROVISIONER"
    assert "talos" not in error.message


async def test_what_a_format_does_not_take_is_refused_by_the_callers_own_path() -> None:
    """Windows has no sysctls: the refusal names spec.os.sysctls[0] and what to do."""
    error = await refusal(request(changed(provisioner={"name": "windows"}, target={"osFamily": "OS_FAMILY_WINDOWS"})))
    assert "spec.os.sysctls[0]" in [one.path for one in error.violations]
    assert all(one.remedy for one in error.violations)


async def test_windows_refuses_all_of_a_foreign_plan_at_once() -> None:
    """Scripts that it cannot run, paths of Linux, and what it has no place for: one answer."""
    script = {
        "id": "b",
        "phase": "PHASE_BOOTSTRAP",
        "command": {"script": {"text": "x"}, "interpreter": "INTERPRETER_SH"},
    }
    steps = [*SPEC["plan"]["steps"], script]
    spec = changed(provisioner={"name": "windows"}, target={"osFamily": "OS_FAMILY_WINDOWS"}, plan={"steps": steps})
    error = await refusal(request(spec))
    paths = {violation.path for violation in error.violations}
    assert {"spec.plan.steps[1]", "spec.os.sysctls[0]", "spec.os.files[0]"} <= paths, paths


STEP = SPEC["plan"]["steps"][0]


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        pytest.param(changed(plan=None), "spec.plan", id="no plan"),
        pytest.param(changed(plan={**SPEC["plan"], "entrypoint": {"argv": ["a"]}}), "spec.plan", id="two plans"),
        pytest.param(changed(plan={"steps": [STEP, STEP]}), "spec.plan.steps[1].id", id="an id twice"),
        pytest.param(changed(plan={"steps": [{**STEP, "id": "20-x"}]}), "spec.plan.steps[0].id", id="an id of ours"),
        pytest.param(changed(plan={"steps": [{**STEP, "id": "A b"}]}), "spec.plan.steps[0].id", id="no id"),
        pytest.param(
            changed(plan={"steps": [STEP, {**STEP, "id": "b", "phase": "PHASE_PRE"}]}),
            "spec.plan.steps[1].phase",
            id="phases out of order",
        ),
        pytest.param(
            changed(plan={"steps": [{**STEP, "command": {}}]}), "spec.plan.steps[0].command", id="a command of nothing"
        ),
        pytest.param(
            changed(plan={"steps": [{**STEP, "command": {"argv": ["-x"]}}]}),
            "spec.plan.steps[0].command.argv[0]",
            id="an option for a program",
        ),
        pytest.param(
            changed(execution={"literal_commands": True}), "spec.execution.literalCommands", id="commands of imports"
        ),
        pytest.param(changed(os={"files": [{"path": "/a"}]}), "spec.os.files[0]", id="a file without content"),
    ],
)
async def test_a_request_that_is_not_sound_is_refused_by_field(spec: dict[str, Any], path: str) -> None:
    """Every rule has the caller's own field path, and no value is repeated."""
    error = await refusal(request(spec))
    assert error.reason == "SPEC_INVALID"
    assert path in [violation.path for violation in error.violations], error.violations


async def test_secrets_are_the_callers_own() -> None:
    """One that is missing is named by the field that refers to it; Slipway's own names are nobody's to bring."""
    error = await refusal(request(SPEC, secrets={}))
    assert error.reason == "SECRET_MISSING"
    assert [one.path for one in error.violations] == ["spec.os.files[0].content.segments[1].secretRef"]
    ours = {"secrets": [{"name": "slipway.dev/cluster-ca", "key": "tls.key", "value": "YQ=="}]}
    error = await refusal(request(SPEC, secrets=ours))
    assert [one.path for one in error.violations] == ["secrets.secrets[0].name"]
    assert TOKEN.decode() not in str(error)


@pytest.mark.parametrize(
    ("policy", "reason", "path"),
    [
        (Policy(denied_features=frozenset({"os.commands"})), "FEATURE_DENIED", "spec.commands"),
        (Policy(allowed_features=frozenset({"os.files", "plan.*"})), "FEATURE_DENIED", "spec.os.sysctls[0]"),
        (Policy(allowed_provisioners=frozenset({"ignition"})), "PROVISIONER_NOT_ALLOWED", ""),
    ],
)
async def test_the_operators_policy_holds_here_too(policy: Policy, reason: str, path: str) -> None:
    """What no spec of Slipway's own may use, and who may get no bundle, is the same for a caller's own plan."""
    error = await refusal(request(SPEC), policy)
    assert error.reason == reason
    assert not path or path in [violation.path for violation in error.violations]


def test_a_field_that_is_not_known_is_refused() -> None:
    """A caller that is newer than the service hears of it; nothing that it asks for is left out in silence."""
    asked = provisioningpb.ProvisionRequest.FromString(request(SPEC).SerializeToString() + b"\xfa\x3e\x01x")
    with pytest.raises(SpecInvalid) as caught:
        check_provision(asked)
    assert any("1007" in one.path or "1007" in one.description for one in caught.value.violations)


@pytest.mark.parametrize(
    ("where", "parts"),
    [
        ("spec.os.sysctls[0].origin", {"os": {"sysctls": [{"name": "?", "value": "1", "origin": {"path": ORIGIN}}]}}),
        ("spec.commands.pre[0].origin", {"commands": {"pre": [{"argv": ["true"], "origin": {"path": ORIGIN}}]}}),
        ("spec.os.directory.computerName", {"os": {"directory": {"domain": "a.example", "computerName": "X"}}}),
    ],
)
async def test_what_slipway_fills_in_is_refused(where: str, parts: dict[str, Any]) -> None:
    """An origin would take the place of the caller's own path; the refusal has the path, and no sign of the text."""
    error = await refusal(request(changed(**parts)))
    paths = [violation.path for violation in error.violations]
    assert where in paths
    assert all(path.startswith(("spec.", "machine.")) for path in paths)
    assert not has_controls(str([violation.path for violation in decode(error.to_status()).violations]))
    (violation,) = [violation for violation in error.violations if violation.path == where]
    assert violation.remedy == "leave it out"


@pytest.mark.parametrize(("seconds", "nanos"), [(10**18, 0), (-(10**18), 0), (4102444800, -5)])
async def test_a_secret_expires_at_a_point_in_time(seconds: int, nanos: int) -> None:
    """A time out of range is refused by its field."""
    message = request(SPEC)
    message.secrets.secrets[0].expire_time.seconds, message.secrets.secrets[0].expire_time.nanos = seconds, nanos
    error = await refusal(message)
    assert (error.reason, [violation.path for violation in error.violations]) == (
        "SPEC_INVALID",
        ["secrets.secrets[0].expireTime"],
    )


async def test_millions_of_broken_rules_are_few_violations() -> None:
    """A list that is too long is the only thing that is said: nothing looks at its entries."""
    message = request(SPEC)
    for _ in range(5000):
        message.secrets.secrets.add()
    error = await refusal(message)
    assert [violation.path for violation in error.violations] == ["secrets.secrets"]
    for file in range(300):
        content = message.spec.os.files.add(path=f"/srv/{file}").content
        for _ in range(10):
            content.segments.add()
    del message.secrets.secrets[1:]
    assert len((await refusal(message)).violations) <= MAX_VIOLATIONS
