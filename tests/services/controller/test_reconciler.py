"""One config from its facts to its Secret: what is written, in which order, and what a kill in between leaves."""

import base64
from dataclasses import replace

import pytest

from services.controller.kubernetes.failures import ApiFailure, Forbidden, Unreachable
from services.controller.resources import SECRETS, Json
from tests.services.controller.memory_api import Call
from tests.services.controller.scene import CLUSTER, Scene, config_object, machine_object

REFERRING = {
    "provisioner": {"name": "cloud-init"},
    "os": {
        "files": [
            {"path": "/etc/one", "content": {"secretRef": {"name": "mine", "key": "k"}}},
            {"path": "/etc/two", "content": {"configMapRef": {"name": "map", "key": "k"}}},
        ]
    },
}


class Killed(BaseException):
    """The process was killed: nothing of ours may catch it."""


@pytest.fixture
def scene() -> Scene:
    scene = Scene()
    scene.cluster()
    scene.workload_ready()
    scene.secret(f"{CLUSTER}-slipway-token-seed", {"value": b"s" * 32})
    return scene


async def test_a_worker_costs_two_writes_and_one_in_its_cluster(scene: Scene) -> None:
    """Data Secret and status; the token goes first, so that no machine boots with one that nobody accepts."""
    scene.worker()
    following = await scene.reconcile()
    assert [(verb, kind) for verb, kind, _, _ in scene.api.writes] == [
        ("create", "Secret"),
        ("apply_status", "SlipwayConfig"),
    ]
    assert [verb for verb, *_ in scene.workload.writes] == ["create"]
    assert following.after == pytest.approx(300)
    assert scene.condition() == ("True", "Available", "")


async def test_the_secret_keeps_the_bootstrap_contract(scene: Scene) -> None:
    """Name, keys, type, label and controller are what Cluster API's contract asks for; the status names it."""
    config = scene.worker()
    await scene.reconcile()
    secret = scene.api.find("Secret", "w")
    assert secret is not None
    assert secret["type"] == "cluster.x-k8s.io/secret"
    assert secret["metadata"]["labels"] == {"cluster.x-k8s.io/cluster-name": CLUSTER}
    (reference,) = secret["metadata"]["ownerReferences"]
    assert reference["controller"] is True
    assert reference["uid"] == config["metadata"]["uid"]
    assert scene.value(key="format") == b"cloud-config"
    assert b"#cloud-config" in scene.value()
    status = scene.status()
    assert status["dataSecretName"] == "w"
    assert status["initialization"] == {"dataSecretCreated": True}
    assert status["ready"] is True
    assert status["userDataBytes"] == len(scene.value())
    assert status["provisioner"]["name"] == "cloud-init"


async def test_the_token_is_in_the_user_data_and_nowhere_else(scene: Scene) -> None:
    """The token of the workload cluster is the one that the machine has; neither status nor annotations hold it."""
    scene.worker()
    await scene.reconcile()
    (token,) = scene.workload.all("Secret")
    id_, secret = (base64.b64decode(token["data"][key]).decode() for key in ("token-id", "token-secret"))
    assert f"{id_}.{secret}".encode() in scene.value()
    found = scene.api.find("SlipwayConfig", "w")
    metadata = (scene.api.find("Secret", "w") or {})["metadata"]
    assert secret not in repr(found)
    assert secret not in repr(metadata)
    assert "uninitialized" in scene.value().decode()


@pytest.mark.parametrize("point", range(6))
@pytest.mark.parametrize("when", ["before", "after"])
async def test_killed_at_any_write_the_next_process_comes_to_the_same(scene: Scene, point: int, when: str) -> None:
    """Between any two writes: one Secret, the same content, the token accepted, the status right."""
    undisturbed = Scene()
    undisturbed.cluster()
    undisturbed.workload_ready()
    undisturbed.secret(f"{CLUSTER}-slipway-token-seed", {"value": b"s" * 32})
    owner = machine_object("w")
    for each in (undisturbed, scene):
        made = each.api.put({**owner, "metadata": {**owner["metadata"], "uid": "machine"}})
        each.api.put(config_object("w", owner=made, uid="config"))
    await undisturbed.reconcile()

    writes = 0

    def kill(call: Call) -> None:
        nonlocal writes
        if call[0] in {"create", "apply_status", "merge", "replace", "delete"}:
            writes += 1
            if writes == point + 1:
                raise Killed

    for api in (scene.api, scene.workload):
        setattr(api, when, kill)
    try:
        await scene.reconcile()
    except Killed:
        pass
    else:
        assert point >= 3, "fewer writes than were thought of"
    for api in (scene.api, scene.workload):
        setattr(api, when, lambda _: None)
    scene.restart()
    await scene.reconcile()
    await scene.reconcile()
    assert [one["metadata"]["name"] for one in scene.api.all("Secret") if one["metadata"]["name"] == "w"] == ["w"]
    assert scene.value() == undisturbed.value()
    assert len(scene.workload.all("Secret")) == 1
    assert scene.condition() == ("True", "Available", "")
    assert scene.status() == undisturbed.status()


async def test_a_second_look_writes_nothing(scene: Scene) -> None:
    """Level-based: the same facts lead to no write, in the same process and in the next."""
    scene.worker()
    await scene.reconcile()
    before = len(scene.api.writes)
    await scene.reconcile()
    scene.restart()
    await scene.reconcile()
    assert len(scene.api.writes) == before


async def test_a_status_that_was_lost_comes_back_without_a_render(scene: Scene) -> None:
    """A move restores Secrets and not statuses: the status is made again from the Secret, whose content stays."""
    scene.worker()
    await scene.reconcile()
    secret, status = scene.api.find("Secret", "w"), scene.status()
    config = scene.api.find("SlipwayConfig", "w") or {}
    del config["status"]
    scene.api.put(config)
    scene.restart()
    scene.later(hours=1)
    await scene.reconcile()
    assert scene.api.find("Secret", "w") == secret
    for key in ("dataSecretName", "initialization", "provisioner", "userDataBytes", "bundleId", "ready"):
        assert scene.status()[key] == status[key]


async def test_a_secret_of_somebody_else_is_never_overwritten(scene: Scene) -> None:
    """The refusal names it, a Warning tells, and its content stays."""
    scene.worker()
    scene.secret("w", {"value": b"theirs"})
    await scene.reconcile()
    assert scene.value() == b"theirs"
    assert scene.condition()[:2] == ("False", "DataSecretTaken")
    assert [event["reason"] for event in scene.api.all("Event")] == ["DataSecretTaken"]
    await scene.reconcile()
    assert len(scene.api.all("Event")) == 1


async def test_what_is_missing_is_named_and_waited_for(scene: Scene) -> None:
    """A Secret and a ConfigMap that the spec refers to: both named, both remembered, and then used."""
    scene.worker(spec=REFERRING)
    await scene.reconcile()
    status, reason, message = scene.condition()
    assert (status, reason) == ("False", "WaitingForSecret")
    assert "key k of Secret mine" in message
    assert "key k of ConfigMap map" in message
    assert scene.depends["w"] == {("Secret", "mine"), ("ConfigMap", "map")}
    scene.secret("mine", {"k": b"from the Secret"})
    scene.api.put({"kind": "ConfigMap", "metadata": {"name": "map"}, "data": {"k": "from the ConfigMap"}})
    await scene.reconcile()
    assert scene.condition() == ("True", "Available", "")
    assert b"from the ConfigMap" in scene.value()
    assert b"from the Secret" in scene.value()


async def test_no_value_of_a_secret_is_in_what_people_read(scene: Scene) -> None:
    """A refusal of a spec with secrets holds none of them."""
    spec: Json = {
        "provisioner": {"name": "cloud-init"},
        "os": {"users": [{"name": "a", "passwordHash": {"value": "canary-password"}, "home": "relative"}]},
    }
    scene.worker(spec=spec)
    await scene.reconcile()
    assert scene.condition()[:2] == ("False", "SpecInvalid")
    assert "spec.os.users[0].home" in scene.condition()[2]
    assert "canary" not in repr(scene.status())
    assert "canary" not in repr(scene.api.all("Event"))


async def test_nobody_is_told_of_short_waits(scene: Scene) -> None:
    """What is over within seconds costs no write; what lasts is told, and the look is planned."""
    scene.cluster(initialized=False)
    scene.worker()
    scene.waited = 1.0
    following = await scene.reconcile()
    assert scene.api.writes == []
    assert following.after == pytest.approx(4.0)
    scene.waited = 5.5
    following = await scene.reconcile()
    assert scene.condition()[:2] == ("False", "WaitingForControlPlane")
    assert following.after is None


async def test_pause_is_told_and_keeps_the_rest(scene: Scene) -> None:
    """A paused config gets the condition and nothing else; un-paused it goes on."""
    config = scene.worker()
    config["metadata"]["annotations"] = {"cluster.x-k8s.io/paused": ""}
    scene.api.put(config)
    await scene.reconcile()
    assert scene.condition(type_="Paused")[:2] == ("True", "Paused")
    assert scene.api.find("Secret", "w") is None
    config = scene.api.find("SlipwayConfig", "w") or {}
    config["metadata"]["annotations"] = {}
    scene.api.put(config)
    await scene.reconcile()
    assert scene.condition(type_="Paused")[:2] == ("False", "NotPaused")
    assert scene.condition()[0] == "True"


async def test_a_token_is_refreshed_until_the_machine_has_joined(scene: Scene) -> None:
    """It is made longer when a sixth of its time is over, made again when it was lost, and then left to expire."""
    scene.worker()
    await scene.reconcile()
    first = scene.workload.all("Secret")[0]["data"]["expiration"]
    scene.later(minutes=5)
    await scene.reconcile()
    second = scene.workload.all("Secret")[0]["data"]["expiration"]
    assert second != first
    await scene.workload.delete(SECRETS, "kube-system", scene.workload.all("Secret")[0]["metadata"]["name"])
    scene.restart()
    await scene.reconcile()
    assert len(scene.workload.all("Secret")) == 1
    machine = scene.api.find("Machine", "w") or {}
    scene.api.put({**machine, "status": {"nodeRef": {"name": "w"}}})
    before = len(scene.workload.calls)
    scene.later(minutes=5)
    following = await scene.reconcile()
    assert len(scene.workload.calls) == before
    assert following.after is None


async def test_a_token_is_given_up_at_last(scene: Scene) -> None:
    """After a day the machine will not come any more: the condition says so, and the token expires."""
    scene.worker()
    await scene.reconcile()
    scene.later(hours=25)
    before = len(scene.workload.writes)
    await scene.reconcile()
    assert scene.condition()[:2] == ("False", "TokenGivenUp")
    assert scene.condition(type_="DataSecretAvailable")[0] == "True"
    assert len(scene.workload.writes) == before


async def test_a_pool_is_rendered_again_for_a_new_generation(scene: Scene) -> None:
    """The name stays, the content is new, and the annotation tells which generation it is."""
    config = scene.pool()
    await scene.reconcile("p")
    first = scene.value("p")
    await scene.reconcile("p")
    assert scene.value("p") == first
    config = scene.api.find("SlipwayConfig", "p") or {}
    config["spec"]["os"] = {"timeZone": {"name": "Europe/Berlin"}}
    config["metadata"]["generation"] = 2
    scene.api.put(config)
    await scene.reconcile("p")
    assert scene.value("p") != first
    assert b"Europe/Berlin" in scene.value("p")
    assert (scene.api.find("Secret", "p") or {})["metadata"]["annotations"]["bootstrap.slipway.dev/generation"] == "2"


@pytest.mark.parametrize("recreated", [False, True])
async def test_a_pools_secret_is_not_replaced_blindly(scene: Scene, recreated: bool) -> None:
    """Somebody changed it, or made another of that name, since we looked: it stays, and we look again."""
    scene.pool()
    await scene.reconcile("p")
    config = scene.api.find("SlipwayConfig", "p") or {}
    config["spec"]["os"] = {"timeZone": {"name": "Europe/Berlin"}}
    config["metadata"]["generation"] = 2
    scene.api.put(config)
    facts = scene.facts("p")
    secret = scene.api.find("Secret", "p") or {}
    first = scene.value("p")
    if recreated:
        secret["metadata"]["uid"] = "another"
    scene.api.put(secret)
    following = await scene.reconciler.reconcile(facts, waited=lambda _: 1000.0)
    assert following.failed
    assert scene.value("p") == first
    await scene.reconcile("p")
    assert b"Europe/Berlin" in scene.value("p")


async def test_a_secret_is_not_adopted_blindly(scene: Scene) -> None:
    """A restored Secret that somebody else took since we looked stays theirs."""
    scene.worker()
    await scene.reconcile()
    machine = scene.api.find("Machine", "w") or {}
    machine["spec"]["bootstrap"]["dataSecretName"] = "w"
    scene.api.put(machine)
    secret = scene.api.find("Secret", "w") or {}
    scene.api.put({**secret, "metadata": {**secret["metadata"], "ownerReferences": []}})
    facts = scene.facts()
    theirs = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x", "controller": True}
    scene.api.put({**secret, "metadata": {**secret["metadata"], "ownerReferences": [theirs]}})
    following = await scene.reconciler.reconcile(facts, waited=lambda _: 1000.0)
    assert following.failed
    assert (scene.api.find("Secret", "w") or {})["metadata"]["ownerReferences"] == [theirs]


async def test_a_pool_gets_a_new_token_for_machines_to_come(scene: Scene) -> None:
    """When all have joined and half of the token's time is over, token and user data are new."""
    scene.pool(joined=1)
    await scene.reconcile("p")
    first, name = scene.value("p"), scene.workload.all("Secret")[0]["metadata"]["name"]
    scene.later(minutes=5)
    following = await scene.reconcile("p")
    assert scene.value("p") == first
    assert following.after == pytest.approx(150)
    scene.later(minutes=3)
    await scene.reconcile("p")
    assert scene.value("p") != first
    assert {one["metadata"]["name"] for one in scene.workload.all("Secret")} > {name}
    annotations = (scene.api.find("Secret", "p") or {})["metadata"]["annotations"]
    assert annotations["bootstrap.slipway.dev/token-rotation"] == "1"


async def test_the_first_machine_makes_the_secrets_of_its_cluster(scene: Scene) -> None:
    """Without a control-plane provider: lock, CAs and key, all owned by the Cluster and controlled by nobody."""
    scene.api.put(
        {
            **(scene.api.find("Cluster", CLUSTER) or {}),
            "status": {"initialization": {"infrastructureProvisioned": True}},
        }
    )
    await scene.api.delete(SECRETS, "default", f"{CLUSTER}-ca")
    scene.worker("cp", control_plane=True)
    await scene.reconcile("cp")
    assert scene.condition("cp")[0] == "True"
    for suffix in ("ca", "etcd", "proxy", "sa"):
        secret = scene.api.find("Secret", f"{CLUSTER}-{suffix}")
        assert secret is not None, suffix
        (owner,) = secret["metadata"]["ownerReferences"]
        assert owner["kind"] == "Cluster"
        assert not owner.get("controller")
    assert scene.api.find("ConfigMap", f"{CLUSTER}-lock") is not None
    assert scene.workload.writes == []
    # The second one waits for the first, and joins when the lock's cluster is there.
    scene.worker("cp2", control_plane=True)
    await scene.reconcile("cp2")
    assert scene.condition("cp2")[1] == "WaitingForInitLock"
    assert "Machine cp " in scene.condition("cp2")[2]
    scene.cluster()
    await scene.reconcile("cp")
    assert scene.api.find("ConfigMap", f"{CLUSTER}-lock") is None
    await scene.reconcile("cp2")
    assert scene.condition("cp2")[0] == "True"


async def test_a_cluster_of_another_provider_gets_no_secrets_from_us(scene: Scene) -> None:
    """Where a control-plane provider is to make them, they are waited for."""
    scene.api.discovery = {}
    cluster = scene.cluster(
        initialized=False, controlPlaneRef={"apiGroup": "x.example.com", "kind": "XControlPlane", "name": "x"}
    )
    await scene.api.delete(SECRETS, "default", f"{CLUSTER}-ca")
    scene.worker("cp", control_plane=True)
    await scene.reconcile("cp")
    assert cluster
    assert scene.condition("cp")[:2] == ("False", "WaitingForCertificates")
    assert scene.condition("cp", "CertificatesAvailable")[0] == "False"
    assert scene.api.find("Secret", f"{CLUSTER}-ca") is None


async def test_a_denied_verb_is_told_clearly(scene: Scene) -> None:
    """A role that lacks a verb: the condition names verb and kind, and it is tried again."""
    scene.worker()

    def deny(call: Call) -> None:
        if call[:2] == ("create", "Secret"):
            raise Forbidden("POST", "Secret", "w")

    scene.api.before = deny
    following = await scene.reconcile()
    assert following.failed
    assert scene.condition()[:2] == ("False", "RoleTooSmall")
    assert "the verb create for Secret" in scene.condition()[2]


@pytest.mark.parametrize("failure", [Unreachable, Forbidden])
async def test_a_status_that_can_not_be_written_is_no_crash(scene: Scene, failure: type[ApiFailure]) -> None:
    """The API server is away, or forbids: the config is looked at again."""
    scene.worker()

    def refuse(call: Call) -> None:
        if call[0] in {"create", "apply_status"}:
            raise failure(call[0], call[1])

    scene.api.before = refuse
    following = await scene.reconcile()
    assert following.failed


async def test_a_dead_cluster_is_left_alone_for_a_while(scene: Scene) -> None:
    """A failing API server of one cluster is not called by each of its machines."""
    scene.worker()
    scene.worker("w2")

    def away(call: Call) -> None:
        raise Unreachable(call[0], call[1])

    scene.workload.before = away
    following = await scene.reconcile()
    assert following.after
    assert scene.condition()[:2] == ("False", "WorkloadClusterUnreachable")
    called = []
    scene.workload.before = called.append
    await scene.reconcile("w2")
    assert called == []
    scene.later(seconds=following.after + 1)
    await scene.reconcile("w2")
    assert scene.condition("w2")[0] == "True"


async def test_user_data_beyond_a_secret_are_refused(scene: Scene) -> None:
    """A Secret holds 1 MiB: more is refused with the size, and nothing is written but the status."""
    text = "x" * 900_000
    spec: Json = {
        "provisioner": {"name": "cloud-init"},
        "os": {"files": [{"path": f"/etc/{name}", "content": {"text": text}} for name in "ab"]},
    }
    scene.worker(spec=spec)
    await scene.reconcile()
    assert scene.condition()[0] == "False"
    assert scene.condition()[1] in {"DataSecretTooLarge", "UserDataTooLarge"}
    assert scene.api.find("Secret", "w") is None


async def test_kubeadm_must_be_of_the_control_planes_minor_version(scene: Scene) -> None:
    """An older worker is refused unless the spec names a kubeadm of the control plane's version."""
    reference = {"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "KubeadmControlPlane", "name": "k"}
    scene.cluster(controlPlaneRef=reference)
    scene.api.discovery = {
        "/apis/controlplane.cluster.x-k8s.io": {"preferredVersion": {"version": "v1beta2"}},
        "/apis/controlplane.cluster.x-k8s.io/v1beta2": {
            "resources": [{"kind": "KubeadmControlPlane", "name": "kubeadmcontrolplanes"}]
        },
    }
    scene.api.put({"kind": "KubeadmControlPlane", "metadata": {"name": "k"}, "spec": {"version": "v1.34.2"}})
    scene.worker(version="v1.33.1")
    await scene.reconcile()
    assert scene.condition()[:2] == ("False", "KubeadmVersionSkew")
    spec = {"provisioner": {"name": "cloud-init"}, "engineOptions": {"kubeadm": {"version": "v1.34.2"}}}
    scene.worker("w2", spec=spec, version="v1.33.1")
    await scene.reconcile("w2")
    assert scene.condition("w2")[0] == "True", scene.condition("w2")


async def test_a_provisioner_that_arrives_is_used(scene: Scene) -> None:
    """Without one the machine waits, and the condition of provisioners says so."""
    whole = scene.bootstrapper

    class Nobody:
        def instances(self) -> list[object]:
            return []

    scene.bootstrapper = replace(whole, provisioners=Nobody())  # type: ignore[arg-type]
    scene.restart()
    scene.worker()
    await scene.reconcile()
    assert scene.condition()[:2] == ("False", "WaitingForProvisioner")
    assert scene.condition(type_="ProvisionerAvailable")[0] == "False"
    scene.bootstrapper = whole
    scene.restart()
    await scene.reconcile()
    assert scene.condition()[0] == "True"


async def test_a_condition_does_not_flap_while_a_cluster_is_away(scene: Scene) -> None:
    """The token can not be refreshed: told once, and not taken back at each look."""
    scene.worker()
    await scene.reconcile()

    def away(call: Call) -> None:
        raise Unreachable(call[0], call[1])

    scene.workload.before = away
    scene.later(minutes=5)
    await scene.reconcile()
    assert scene.condition()[:2] == ("False", "WorkloadClusterUnreachable")
    assert scene.condition(type_="DataSecretAvailable")[0] == "True"
    assert scene.status()["dataSecretName"] == "w"
    before = len(scene.api.writes)
    for _ in range(3):
        scene.later(minutes=5)
        await scene.reconcile()
    assert len(scene.api.writes) == before
    scene.workload.before = lambda _: None
    scene.later(minutes=5)
    await scene.reconcile()
    assert scene.condition()[0] == "True"


async def test_a_secret_that_appears_meanwhile_is_not_overwritten(scene: Scene) -> None:
    """Somebody makes a Secret of that name after the facts were collected: theirs stays, and the condition says so."""
    scene.worker()

    def quicker(call: Call) -> None:
        if call == ("create", "Secret", "default", "w") and scene.api.find("Secret", "w") is None:
            scene.secret("w", {"value": b"theirs"})

    scene.api.before = quicker
    await scene.reconcile()
    assert scene.value() == b"theirs"
    assert scene.condition()[:2] == ("False", "DataSecretTaken")
    assert "dataSecretName" not in scene.status()
