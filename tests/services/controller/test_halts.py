"""What keeps a config from going on: what people read of it, and what is never written."""

from dataclasses import replace

import pytest

from slipway.bootstrapper.engines.kubeadm.engine import KubeadmEngine
from slipway.kubernetes_api.failures import ApiFailure, Forbidden, Unreachable
from slipway.kubernetes_api.resources import Json
from tests.services.controller.scene import Scene
from tests.services.kubernetes_api.memory_api import Call

REFERRING = {
    "provisioner": {"name": "cloud-init"},
    "os": {
        "files": [
            {"path": "/etc/one", "content": {"secretRef": {"name": "mine", "key": "k"}}},
            {"path": "/etc/two", "content": {"configMapRef": {"name": "map", "key": "k"}}},
        ]
    },
}


async def test_a_secret_of_somebody_else_is_never_overwritten(scene: Scene) -> None:
    """The refusal names it, a Warning repeats it, and its content stays."""
    scene.worker()
    scene.secret("w", {"value": b"theirs"})
    await scene.reconcile()
    assert scene.value() == b"theirs"
    assert scene.condition()[:2] == ("False", "DataSecretTaken")
    assert [event["reason"] for event in scene.api.all("Event")] == ["DataSecretTaken"]
    await scene.reconcile()
    assert len(scene.api.all("Event")) == 1


async def test_a_misspelt_annotation_is_reported_once_and_the_machine_is_made(scene: Scene) -> None:
    """A Warning names it and what was meant, whatever else is reported; a controller that starts later does not."""
    name = "bootstrap.slipway.dev/distributon"
    config = scene.worker(spec=REFERRING)
    config["metadata"]["annotations"] = {name: "rhel 9.4"}
    scene.api.put(config)
    for _ in range(2):
        await scene.reconcile()
    scene.secret("mine", {"k": b"a"})
    scene.api.put({"kind": "ConfigMap", "metadata": {"name": "map"}, "data": {"k": "b"}})
    scene.restart()
    await scene.reconcile()
    assert scene.condition() == ("True", "Available", "")
    (event,) = [event for event in scene.api.all("Event") if event["reason"] == "MetadataUnknown"]
    assert event["type"] == "Warning"
    assert event["message"].startswith(f"metadata.annotations[{name}]: ")
    assert event["message"].endswith("did you mean bootstrap.slipway.dev/distribution?")


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


async def test_a_machine_reports_to_an_address_of_a_secret_and_a_pool_to_none(scene: Scene) -> None:
    """A worker waits for the Secret with the address; a pool is refused by the field."""
    put = {"put": {"url": {"name": "report", "key": "url"}}}
    spec: Json = {"provisioner": {"name": "cloud-init"}, "reporting": {"sinks": [{"console": {}}, put]}}
    scene.worker(spec=spec)
    await scene.reconcile()
    assert scene.condition()[:2] == ("False", "WaitingForSecret")
    scene.secret("report", {"url": b"https://reports.example.com/r"})
    await scene.reconcile()
    assert scene.condition() == ("True", "Available", "")
    scene.pool(spec=spec)
    await scene.reconcile("p")
    status, reason, message = scene.condition("p")
    assert (status, reason) == ("False", "FactConflict")
    assert "spec.reporting.sinks[1].put" in message
    assert scene.api.find("Secret", "p") is None


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


async def test_a_denied_verb_is_told_clearly(scene: Scene) -> None:
    """A role that lacks a verb: the condition names verb and kind, and it is tried again."""
    scene.worker()

    def deny(call: Call) -> None:
        if call[:2] == ("create", "Secret"):
            raise Forbidden("POST", "Secret", "w")

    scene.api.before = deny
    following = await scene.reconcile()
    assert following.failed
    assert scene.condition()[:2] == ("False", "Forbidden")
    assert "RBAC does not allow the controller to create Secret" in scene.condition()[2]


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


def with_kubeadm_control_plane(scene: Scene) -> None:
    """Give the cluster a KubeadmControlPlane of v1.34.2."""
    reference = {"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "KubeadmControlPlane", "name": "k"}
    scene.cluster(controlPlaneRef=reference)
    scene.api.discovery = {
        "/apis/controlplane.cluster.x-k8s.io": {"preferredVersion": {"version": "v1beta2"}},
        "/apis/controlplane.cluster.x-k8s.io/v1beta2": {
            "resources": [{"kind": "KubeadmControlPlane", "name": "kubeadmcontrolplanes"}]
        },
    }
    scene.api.put({"kind": "KubeadmControlPlane", "metadata": {"name": "k"}, "spec": {"version": "v1.34.2"}})


async def test_kubeadm_must_be_of_the_control_planes_minor_version(scene: Scene) -> None:
    """An older worker is refused unless the spec names a kubeadm of the control plane's version."""
    with_kubeadm_control_plane(scene)
    scene.worker(version="v1.33.1")
    await scene.reconcile()
    assert scene.condition()[:2] == ("False", "BootstrapEngineVersionSkew")
    spec = {"provisioner": {"name": "cloud-init"}, "engineOptions": {"kubeadm": {"version": "v1.34.2"}}}
    scene.worker("w2", spec=spec, version="v1.33.1")
    await scene.reconcile("w2")
    assert scene.condition("w2")[0] == "True", scene.condition("w2")


async def test_an_engine_declares_that_it_joins_its_own_minor_version_only(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that joins others, as Kubernetes itself allows, is not held to the rule."""
    monkeypatch.setattr(KubeadmEngine, "own_minor_only", False)
    with_kubeadm_control_plane(scene)
    scene.worker(spec={"provisioner": {"name": "cloud-init"}}, version="v1.33.1")
    await scene.reconcile()
    assert scene.condition()[0] == "True", scene.condition()


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


MEMBER: Json = {
    "provisioner": {"name": "cloud-init"},
    "target": {"osFamily": "Linux", "distribution": "debian"},
    "os": {"directory": {"domain": "corp.example.com", "method": "OneTimePassword"}},
}


async def test_a_member_waits_for_the_secret_of_its_own_account(scene: Scene) -> None:
    """It is named after the Machine; one that is recognisably an account with its password is refused."""
    scene.worker(spec=MEMBER)
    await scene.reconcile()
    assert scene.condition()[:2] == ("False", "WaitingForDirectoryAccount")
    assert "key one-time-password of Secret w-directory" in scene.condition()[2]
    assert scene.depends["w"] == {("Secret", "w-directory"), ("ConfigMap", "w-directory")}
    scene.secret("w-directory", {"one-time-password": b"joiner%canary-Passw0rd"})
    await scene.reconcile()
    status, reason, message = scene.condition()
    assert (status, reason) == ("False", "SpecInvalid")
    assert "spec.os.directory.method" in message
    assert "canary" not in repr(scene.status()) + repr(scene.api.all("Event"))


async def test_a_member_is_rendered_with_its_secret(scene: Scene) -> None:
    """Once the password of its account is there."""
    scene.secret("w-directory", {"one-time-password": b"kW7aQ2xvB9mLp4Zt"})
    scene.worker(spec=MEMBER)
    await scene.reconcile()
    assert scene.condition() == ("True", "Available", "")
    assert b"kW7aQ2xvB9mLp4Zt" in scene.value()
    assert b"join corp.example.com W w.corp.example.com" in scene.value()


async def test_machines_of_a_pool_are_no_members(scene: Scene) -> None:
    """They share their user data, and an account is one machine's."""
    scene.pool(spec=MEMBER)
    await scene.reconcile("p")
    status, reason, message = scene.condition("p")
    assert (status, reason) == ("False", "SpecInvalid")
    assert "spec.os.directory" in message
