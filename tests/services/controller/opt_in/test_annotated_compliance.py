"""Compliance profiles of KubeadmConfigs, by an annotation: what the machine gets, and what is refused."""

import json

import pytest
import yaml

from slipway.controller import ownership
from tests.services.controller.opt_in.opted_in import OptedIn
from tests.services.controller.scene import CLUSTER, KUBECONFIG

LEVEL_1 = "cis-kubernetes-1.10/level-1"


async def rendered(scene: OptedIn, text: str, **more: object) -> str:
    """Give what came of a config with the annotation."""
    scene.config(annotations={ownership.COMPLIANCE: text}, **more)
    await scene.reconcile()
    return scene.value().decode() if scene.api.find("Secret", "w") else ""


async def test_a_worker_meets_its_profile(scene: OptedIn) -> None:
    """Settings of the kubelet, modes of files, and evidence, beside the join as it was."""
    user_data = await rendered(scene, f"profiles: [{LEVEL_1}]")
    for part in ("kubeadm join --config", "podPidsLimit", "cis-kubernetes-1.10/4.1.5", "evidence.json"):
        assert part in user_data


async def test_a_first_control_plane_meets_its_profile() -> None:
    """Arguments of the API server, and encryption at rest with a key that is made for the cluster."""
    scene = OptedIn()
    scene.cluster(initialized=False)
    owner = scene.machine(control_plane=True)
    user_data = await rendered(scene, f"profiles: [{LEVEL_1}]", owner=owner)
    for part in ("kubeadm init --config", "profiling", "audit-log-path", "encryption-provider-config"):
        assert part in user_data
    assert scene.api.find("Secret", f"{CLUSTER}-slipway.dev.encryption-key")


@pytest.mark.parametrize("plugins", ["", "PodSecurity,NodeRestriction"])
async def test_a_control_plane_that_joins_brings_the_arguments_of_its_profile(plugins: str) -> None:
    """Cluster API writes kubeadm's ConfigMap from the KubeadmControlPlane, which has none of them."""
    scene = OptedIn()
    scene.cluster(initialized=False)
    profile = {ownership.COMPLIANCE: f"profiles: [{LEVEL_1}]"}
    scene.config("first", annotations=profile, owner=scene.machine("first", control_plane=True))
    await scene.reconcile("first")
    scene.cluster()
    scene.secret(f"{CLUSTER}-kubeconfig", {"value": KUBECONFIG})
    owner = scene.machine(control_plane=True)
    arguments = [{"name": "enable-admission-plugins", "value": plugins}] if plugins else []
    spec = {"clusterConfiguration": {"apiServer": {"extraArgs": arguments}}, "joinConfiguration": {"controlPlane": {}}}
    document = yaml.safe_load(await rendered(scene, f"profiles: [{LEVEL_1}]", owner=owner, spec=spec))
    files = {file["path"].rpartition("/")[2]: file["content"] for file in document["write_files"]}
    patched = {
        name: [entry["value"] for entry in json.loads(content)]
        for name, content in files.items()
        if name.endswith("+json.json")
    }
    assert sorted(patched) == [
        f"kube-{name}+json.json"
        for name in ("apiservercontrols", "apiserverslipway", "controller-managercontrols", "schedulercontrols")
    ]
    controls = patched["kube-apiservercontrols+json.json"]
    assert "--profiling=false" in controls
    own = plugins or "NodeRestriction"
    assert [value for value in controls if value.startswith(f"--enable-admission-plugins={own},")]
    assert (
        "--encryption-provider-config=/etc/kubernetes/slipway/api-server/encryption-configuration"
        in (patched["kube-apiserverslipway+json.json"])
    )
    config = next(content for name, content in files.items() if name == "kubeadm-join-config.yaml")
    assert yaml.safe_load(config)["patches"] == {"directory": "/etc/slipway/kubeadm-patches"}


@pytest.mark.parametrize("chosen", [True, False])
async def test_certificates_of_kubelets_are_checked_where_a_config_has_them(chosen: bool) -> None:
    """A KubeadmConfig has no configuration of the kubelet: an argument of it, and one of the API server, are enough."""
    scene = OptedIn()
    scene.cluster(initialized=False)
    owner = scene.machine(control_plane=True)
    authority = [{"name": "kubelet-certificate-authority", "value": "/etc/kubernetes/pki/ca.crt"}]
    kubelet = [{"name": "rotate-server-certificates", "value": "true"}]
    spec = {
        "clusterConfiguration": {"apiServer": {"extraArgs": authority if chosen else []}},
        "initConfiguration": {"nodeRegistration": {"kubeletExtraArgs": kubelet if chosen else []}},
    }
    user_data = await rendered(scene, f"profiles: [{LEVEL_1}]", owner=owner, spec=spec)
    assert "cis-kubernetes-1.10/1.2.4" in user_data
    for control in ("1.2.5", "4.2.9"):
        assert (f"cis-kubernetes-1.10/{control}" in user_data) is chosen


async def test_waivers_are_in_it_too(scene: OptedIn) -> None:
    """In YAML or in JSON, with a reason and an end, as in a spec."""
    waiver = {"control": "cis-kubernetes-1.10/4.2.13", "reason": "more processes", "expireTime": "2999-01-01T00:00:00Z"}
    user_data = await rendered(scene, json.dumps({"profiles": [LEVEL_1], "waivers": [waiver]}))
    assert "more processes" in user_data
    assert "cis-kubernetes-1.10/4.2.12" in user_data
    assert '"podPidsLimit"' not in user_data


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (LEVEL_1, "metadata.annotations[bootstrap.slipway.dev/compliance]"),
        ("{profiles", "metadata.annotations[bootstrap.slipway.dev/compliance]"),
        ("a: 1\n---\nb: 1", "metadata.annotations[bootstrap.slipway.dev/compliance]"),
        ("# nothing", "metadata.annotations[bootstrap.slipway.dev/compliance]"),
        ("profile: [x/y]", "metadata.annotations[bootstrap.slipway.dev/compliance].profile"),
        ("profiles: [cis-kubernetes-9/level-1]", "[bootstrap.slipway.dev/compliance].profiles[0]: is not a known"),
        ("waivers: []", "[bootstrap.slipway.dev/compliance].profiles: is required"),
        (f"{{profiles: [{LEVEL_1}], waivers: [{{control: x/y, reason: z}}]}}", "waivers[0].control: is not a control"),
    ],
)
async def test_what_is_wrong_is_refused_by_its_place(scene: OptedIn, text: str, place: str) -> None:
    """Nothing is guessed, and no machine is made without the profile that was asked for."""
    assert await rendered(scene, text) == ""
    status, _, message = scene.condition(type_="DataSecretAvailable")
    assert status == "False"
    assert place in message


async def test_an_empty_annotation_is_refused(scene: OptedIn) -> None:
    """A template whose variable is empty is no machine without profiles."""
    assert await rendered(scene, "") == ""


async def test_what_the_kubeadm_config_has_against_a_control_is_refused() -> None:
    """At its field, as in a spec."""
    scene = OptedIn()
    arguments = [{"name": "profiling", "value": "true"}]
    spec = {"clusterConfiguration": {"apiServer": {"extraArgs": arguments}}, "initConfiguration": {}}
    scene.cluster(initialized=False)
    owner = scene.machine(control_plane=True)
    assert await rendered(scene, f"profiles: [{LEVEL_1}]", owner=owner, spec=spec) == ""
    assert "is against cis-kubernetes-1.10/1.2.15" in scene.condition(type_="DataSecretAvailable")[2]
