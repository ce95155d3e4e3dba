"""ProvisioningService: a bootstrap provider that makes its own plan gets every provisioner that takes plans."""

import base64
import gzip
import json
from typing import Any

import pytest

from slipway.bootstrapper.assembly.own_plan import check_provision
from slipway.bootstrapper.placeholders import PLACEHOLDER
from slipway.bootstrapper.policy import Policy
from slipway.bootstrapper.provisioning_service import explain_provision, provision
from slipway.contract.control_characters import has_controls
from slipway.contract.errors import SlipwayError, SpecInvalid
from slipway.contract.status import decode
from slipway.contract.validation import MAX_VIOLATIONS
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import provisioning_service_pb2 as provisioningpb
from tests.bootstrapper.provision_requests import SPEC, TOKEN, changed, refusal, request, service

ORIGIN = "x\n\x1b[31m"


@pytest.mark.parametrize("name", ["cloud-init", "ignition"])
async def test_the_same_request_serves_each_provisioner_of_plans(name: str) -> None:
    """Both hold the file, the steps in order between the commands, and no word of Kubernetes' engines."""
    answer = await provision(service(), request(changed(provisioner={"name": name})))
    assert answer.provisioner.name == name
    assert answer.bundle_id
    assert answer.encoding == "identity"
    assert answer.user_data[:1] in {b"#", b"{"}
    assert b"kubeadm" not in answer.user_data
    assert not [one for one in answer.diagnostics if "CREDENTIAL" in one.code]


async def test_what_is_left_unsaid_of_a_file_is_as_everywhere() -> None:
    """A provisioner defaults nothing, so the bundle says owner, group and mode: 0644, root."""
    bare = {"path": "/etc/motd", "content": {"text": "hello\n"}}
    answer = await provision(service(), request(changed(os={"files": [bare]}, provisioner={"name": "ignition"})))
    (file,) = [one for one in json.loads(answer.user_data)["storage"]["files"] if one["path"] == "/etc/motd"]
    assert file["mode"] == 0o644
    assert (file.get("user", {}).get("name", "root"), file.get("group", {}).get("name", "root")) == ("root", "root")


async def test_steps_stand_between_the_commands() -> None:
    """The runner's plan has the commands and the caller's step in the order of the phases."""
    answer = await provision(service(), request(SPEC))
    text = answer.user_data.decode()
    places = [text.index(word) for word in ("pre-00", "install", "post-00")]
    assert places == sorted(places)


async def test_an_entry_point_of_the_callers_own_is_a_step() -> None:
    """It runs between the commands, and the service has the name that the caller gave it."""
    plan = {"entrypoint": {"argv": ["/usr/local/bin/join", "--now"], "unitName": "join.service"}}
    answer = await provision(service(), request(changed(plan=plan, provisioner={"name": "ignition"})))
    assert b"join.service" in answer.user_data
    assert b"slipway-bootstrap.service" not in answer.user_data


async def test_a_caller_that_can_carry_it_gets_gzip_where_it_is_needed() -> None:
    """A limit that only compressed user data keep is kept."""
    large = changed(plan={"steps": [{**SPEC["plan"]["steps"][0], "command": {"script": {"text": "echo a\n" * 9000}}}]})
    answer = await provision(service(), request(large, acceptGzip=True, maxUserDataBytes="30000"))
    assert answer.encoding == "gzip"
    assert b"echo" in gzip.decompress(answer.user_data)
    assert (await refusal(request(large, maxUserDataBytes="30000"))).reason == "USER_DATA_TOO_LARGE"


async def test_the_answer_is_the_same_every_time() -> None:
    """Nothing depends on the time or on chance: who asks again gets the same bytes."""
    first, second = [await provision(service(), request(SPEC)) for _ in range(2)]
    assert first == second
    other = await provision(service(), request(SPEC, machineName="pool-a-2"))
    assert other.bundle_id != first.bundle_id


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


WINDOWS = {
    "provisioner": {"name": "windows", "format": "unattend"},
    "target": {"osFamily": "OS_FAMILY_WINDOWS"},
    "os": {"files": [{"path": "C:\\etc\\agent.conf", "content": {"text": "hello"}}]},
    "commands": None,
    "plan": {"steps": [{"id": "install", "phase": "PHASE_BOOTSTRAP", "command": {"argv": ["agent.exe", "/install"]}}]},
}


async def test_attachments_are_for_a_caller_that_can_place_them() -> None:
    """An answer file needs its script beside it, which a caller that places none learns before there is a machine."""
    place = request(changed(**WINDOWS), secrets={}, acceptAttachments=True)
    answer = await provision(service(), place)
    assert [attachment.name for attachment in answer.attachments] == ["slipway-setup.ps1"]
    place.accept_attachments = False
    assert (await refusal(place)).reason == "ATTACHMENTS_NOT_ACCEPTED"


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


async def test_how_a_plan_is_carried_out_is_the_callers_to_say() -> None:
    """A failure of a command may let the plan go on, as the spec of Slipway's own can say."""
    patient = changed(execution={"onPreFailure": "FAILURE_POLICY_CONTINUE"})
    strict, lenient = [(await provision(service(), request(spec))).user_data for spec in (SPEC, patient)]
    assert strict != lenient


def test_a_field_that_is_not_known_is_refused() -> None:
    """A caller that is newer than the service hears of it; nothing that it asks for is left out in silence."""
    asked = provisioningpb.ProvisionRequest.FromString(request(SPEC).SerializeToString() + b"\xfa\x3e\x01x")
    with pytest.raises(SpecInvalid) as caught:
        check_provision(asked)
    assert any("1007" in one.path or "1007" in one.description for one in caught.value.violations)


async def test_explain_needs_no_secrets() -> None:
    """Each field has a cell for each format; a plan is executed where a format takes plans, and refused by Talos."""
    answer = await explain_provision(service(), provisioningpb.ExplainProvisionRequest(spec=request(SPEC).spec))
    verdicts = {
        (column.provisioner, row.origin.path, row.feature): row.cells[index].verdict
        for index, column in enumerate(answer.columns)
        for row in answer.rows
    }
    step = ("spec.plan.steps[0]", "plan.steps")
    assert "spec.os.files[0]" in {place for _, place, _ in verdicts}
    assert verdicts["talos", "spec.commands.pre[0]", "os.commands.pre"] == bootstrappb.VERDICT_REFUSED
    assert verdicts["cloud-init", *step] == bootstrappb.VERDICT_LOWERED
    assert verdicts["talos", *step] == bootstrappb.VERDICT_REFUSED


def _with_text(size: int) -> dict[str, Any]:
    """Give the spec with so much more text, for an infrastructure that takes 32,768 bytes."""
    files = [*SPEC["os"]["files"], {"path": "/srv/text", "content": {"text": "x" * size}}]
    return changed(os={**SPEC["os"], "files": files}, target={**SPEC["target"], "infrastructure": "hetzner"})


@pytest.mark.parametrize("secret", [PLACEHOLDER, PLACEHOLDER * 3])
async def test_explain_measures_what_provision_makes(secret: bytes) -> None:
    """To the byte where secrets have the length of the stand-ins; of longer ones there is a warning."""
    value = base64.b64encode(secret).decode()
    secrets = {"secrets": [{"name": "join", "key": "token", "value": value}]}
    size = (await provision(service(), request(_with_text(1), secrets=secrets))).size.raw_bytes
    most = 32768 - size + 1
    fits = [await _fits(_with_text(length), secrets) for length in (most, most + 1)]
    assert [provisioned for provisioned, _, _ in fits] == [True, False]
    if secret == PLACEHOLDER:
        assert [explained for _, explained, _ in fits] == [True, False]
    assert all("SIZE_DOUBTED" in codes for provisioned, explained, codes in fits if explained and not provisioned)


async def _fits(spec: dict[str, Any], secrets: dict[str, Any]) -> tuple[bool, bool, set[str]]:
    """Whether Provision renders a machine, whether ExplainProvision says that it does, and its diagnostics."""
    question = request(spec, secrets=secrets)
    explain = provisioningpb.ExplainProvisionRequest(spec=question.spec, machine_name=question.machine_name)
    answer = await explain_provision(service(), explain)
    (column,) = [column for column in answer.columns if column.provisioner == "cloud-init"]
    codes = {diagnostic.code for diagnostic in answer.diagnostics}
    try:
        await provision(service(), question)
    except SlipwayError as error:
        return error.reason != "USER_DATA_TOO_LARGE", column.renderable, codes
    return True, column.renderable, codes


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (provisioningpb.ProvisionResponse, bootstrappb.GetUserDataResponse),
        (provisioningpb.ExplainProvisionResponse, bootstrappb.ExplainResponse),
    ],
)
def test_both_services_answer_alike(ours: Any, theirs: Any) -> None:
    """The fields have the same numbers, names and types: one is made of the other's bytes."""

    def fields(message: Any) -> list[tuple[int, str, int, str]]:
        return [
            (one.number, one.name, one.type, one.message_type.full_name if one.message_type else "")
            for one in message.DESCRIPTOR.fields
        ]

    assert fields(ours) == fields(theirs)


def test_a_join_by_a_users_password_is_warned_of() -> None:
    """In the commands of a bootstrap provider's users as in those of a spec, by the request's field path."""
    commands = {"pre": [{"argv": ["realm", "join", "-U", "joiner", "corp.example.com"]}]}
    (remark,) = check_provision(request(changed(commands=commands))).diagnostics
    assert (remark.code, remark.field_path) == ("DOMAIN_JOIN_BY_PASSWORD", "commands.pre[0].argv")
    assert not check_provision(request(SPEC)).diagnostics


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
