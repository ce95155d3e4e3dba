"""What becomes of an opted-in KubeadmConfig after its first render: token, pool, restore, and what is handed back."""

from dataclasses import replace

import pytest

from slipway.contract.errors import MachineNotFound
from slipway.controller import ownership
from slipway.controller.machine_data import MachineData
from slipway.controller.machine_report import MachineReport
from slipway.controller.opt_in.reporter import OptedInReporter
from slipway.kubernetes_api.failures import ApiFailure
from slipway.kubernetes_api.resources import KUBEADM_CONFIGS, Json
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.controller.opt_in.opted_in import OptedIn, paused_condition
from tests.services.kubernetes_api.memory_api import Call


def _released(found: Json) -> None:
    found["metadata"]["annotations"][ownership.RELEASED] = "a person"


async def test_afterwards_nothing_but_the_token_is_written(scene: OptedIn) -> None:
    """The object is the kubeadm provider's to tell of: the token is kept alive, the status is not touched again."""
    scene.config()
    await scene.reconcile()
    before, count = scene.found(), len(scene.api.writes)
    scene.later(minutes=10)
    following = await scene.reconcile()
    assert following.after == pytest.approx(300)
    assert scene.found() == before
    assert len(scene.api.writes) == count
    assert [verb for verb, *_ in scene.workload.writes] == ["create", "merge"]


async def test_a_token_that_is_given_up_is_told_by_an_event(scene: OptedIn) -> None:
    """A machine that does not join in a day: the status is not ours to write, an event is."""
    scene.config()
    await scene.reconcile()
    before = scene.found()
    scene.later(hours=25)
    await scene.reconcile()
    assert [one["reason"] for one in scene.api.all("Event")] == ["TokenGivenUp"]
    assert scene.found() == before


@pytest.mark.parametrize(
    ("state", "type_", "reason"),
    [
        (reportspb.REPORT_STATE_FAILED, "Warning", "BootstrapFailed"),
        (reportspb.REPORT_STATE_COMPLETE, "Normal", "BootstrapComplete"),
        (reportspb.REPORT_STATE_UNFINISHED, "", ""),
    ],
)
async def test_a_report_becomes_an_event_on_the_machine(
    scene: OptedIn, state: reportspb.ReportState.ValueType, type_: str, reason: str
) -> None:
    """Its end is one event, however often it is read; the status is the kubeadm provider's and stays as it is."""
    scene.config()
    await scene.reconcile()
    before = scene.found()
    bundle_id = (scene.api.find("Secret", "w") or {})["metadata"]["annotations"]["bootstrap.slipway.dev/bundle-id"]
    for _ in range(2):
        reporter = OptedInReporter(scene.api, lambda: scene.now, reports=True)
        facts = replace(scene.facts(), report=MachineReport(bundle_id, state, of_console=False))
        for _ in range(2):
            await replace(scene.reconciler, reporter=reporter).reconcile(facts, waited=lambda _: 1000.0)
    events = scene.api.all("Event")
    assert [(event["type"], event["reason"]) for event in events] == ([(type_, reason)] if type_ else [])
    assert all(event["involvedObject"]["kind"] == "Machine" for event in events)
    assert scene.found() == before


async def test_a_pool_is_rendered_again_without_touching_its_config(scene: OptedIn) -> None:
    """Rotation of the token replaces the Secret's content; the config stays as the kubeadm provider has it."""
    scene.pool_config()
    await scene.reconcile("p")
    before, first = scene.found("p"), scene.value("p")
    owner = scene.api.find("MachinePool", "p") or {}
    scene.api.put({**owner, "status": {"nodeRefs": [{"name": "n"}]}})
    scene.later(minutes=10)
    await scene.reconcile("p")
    assert scene.value("p") != first
    assert scene.found("p") == before


async def test_a_restored_object_gets_its_status_back_without_a_render(scene: OptedIn) -> None:
    """After a move: Secret there, status gone, held by the webhook of the new cluster; two writes, the same content."""
    scene.config()
    await scene.reconcile()
    secret, found = scene.api.find("Secret", "w"), scene.found()
    found["metadata"]["annotations"][ownership.PAUSED] = ownership.SLIPWAY
    found["status"] = {"conditions": [paused_condition()]}
    scene.api.put(found)
    scene.restart()
    count = len(scene.api.writes)
    await scene.reconcile()
    assert scene.api.find("Secret", "w") == secret
    assert [call[1] for call in scene.api.writes[count:]] == [KUBEADM_CONFIGS.kind] * 2
    assert not scene.facts().held
    assert scene.facts().reported


async def test_user_data_can_be_asked_for_by_machine(scene: OptedIn) -> None:
    """The stored bytes of an opted-in machine are told as those of our own kind are; others' are not."""
    scene.config()
    await scene.reconcile()
    configs = {KUBEADM_CONFIGS.group: scene.api.lookup(KUBEADM_CONFIGS.kind)}
    data = MachineData(scene.api, machines=scene.api.lookup("Machine"), configs=configs)
    assert data.secret_name("default", "w") == "w"
    assert (await data.user_data("default", "w")).user_data == scene.value()
    scene.machine("other")
    with pytest.raises(MachineNotFound):
        data.secret_name("default", "other")


async def test_what_was_handed_back_is_looked_after_no_longer(scene: OptedIn) -> None:
    """A data Secret of ours may be left for a moment: neither its token nor anything else is kept alive."""
    scene.config()
    await scene.reconcile()
    found = scene.found()
    _released(found)
    scene.api.put(found)
    scene.later(minutes=10)
    count = len(scene.workload.calls)
    await scene.reconcile()
    assert len(scene.workload.calls) == count


async def test_the_pause_ends_though_the_cluster_does_not_answer(scene: OptedIn) -> None:
    """Killed behind the status, and the workload cluster is away: the data is there, and core must hear of it."""
    scene.config()
    await scene.reconcile()
    found = scene.found()
    found["metadata"]["annotations"][ownership.PAUSED] = ownership.SLIPWAY
    scene.api.put(found)
    scene.restart()

    def fail(call: Call) -> None:
        raise ApiFailure(call[0], call[1])

    scene.workload.before = fail
    await scene.reconcile()
    assert not scene.facts().held
