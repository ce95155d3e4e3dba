"""ProvisioningService: a bootstrap provider that makes its own plan gets every provisioner that takes plans."""

import gzip
import json
from typing import Any

import pytest

from slipway.bootstrapper.assembly.own_plan import check_provision
from slipway.bootstrapper.provisioning_service import provision
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import provisioning_service_pb2 as provisioningpb
from tests.bootstrapper.provision_requests import SPEC, changed, refusal, request, service


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


async def test_how_a_plan_is_carried_out_is_the_callers_to_say() -> None:
    """A failure of a command may let the plan go on, as the spec of Slipway's own can say."""
    patient = changed(execution={"onPreFailure": "FAILURE_POLICY_CONTINUE"})
    strict, lenient = [(await provision(service(), request(spec))).user_data for spec in (SPEC, patient)]
    assert strict != lenient


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
