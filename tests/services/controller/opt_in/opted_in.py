"""The scene of one cluster with opted-in KubeadmConfigs in it."""

from dataclasses import dataclass, replace

from slipway.controller import ownership
from slipway.controller.control_planes import ControlPlanes
from slipway.controller.facts import Facts
from slipway.controller.opt_in.decision import decide_opted_in
from slipway.controller.opt_in.questions import KubeadmQuestions
from slipway.controller.opt_in.reporter import OptedInReporter
from slipway.controller.reconciler import Reconciler
from slipway.kubernetes_api.resources import KUBEADM_CONFIGS, Json
from tests.services.controller.scene import CLUSTER, Scene, config_object, facts_of, machine_object, pool_object

REFERENCE = {"apiGroup": KUBEADM_CONFIGS.group, "kind": KUBEADM_CONFIGS.kind}
HELD = {ownership.PAUSED: ownership.SLIPWAY}


def kubeadm_config(
    name: str,
    *,
    spec: Json | None = None,
    owner: Json | None = None,
    annotations: Json | None = None,
    **metadata: object,
) -> Json:
    """Give a KubeadmConfig as the webhook leaves it."""
    made = config_object(name, spec=spec or {}, owner=owner, **metadata)
    made |= {"apiVersion": KUBEADM_CONFIGS.api_version, "kind": KUBEADM_CONFIGS.kind}
    made["metadata"]["labels"] = {ownership.MANAGED: "true", ownership.OWNER: ownership.SLIPWAY}
    made["metadata"]["annotations"] = {**HELD, **(annotations or {})}
    # The kubeadm provider tells at once that it leaves the object alone.
    made["status"] = {"conditions": [paused_condition()]}
    return made


def paused_condition() -> Json:
    """Give the condition that the kubeadm provider sets on a paused object."""
    return {
        "type": "Paused",
        "status": "True",
        "reason": "Paused",
        "message": "KubeadmConfig has the cluster.x-k8s.io/paused annotation",
        "observedGeneration": 1,
        "lastTransitionTime": "2026-11-01T11:59:59Z",
    }


def ready(scene: Scene) -> None:
    """Let machines join: the workload cluster answers, and the seed of tokens is there."""
    scene.workload_ready()
    scene.secret(f"{CLUSTER}-slipway-token-seed", {"value": b"s" * 32})


@dataclass
class OptedIn(Scene):
    """A scene whose configs are KubeadmConfigs."""

    def restart(self) -> None:
        """See Scene."""
        super().restart()
        self.native: Reconciler = self.reconciler
        renderer = self.native.renderer
        questions = KubeadmQuestions(
            renderer.reader,
            ControlPlanes(self.api),
            self.bootstrapper,
            lambda facts, places: self.depends.update({facts.name: places}),
        )
        self.reconciler = replace(
            self.native,
            renderer=replace(renderer, questions=questions),
            reporter=OptedInReporter(self.api, lambda: self.now),
            decide=decide_opted_in,
        )

    def machine(self, name: str = "w", *, control_plane: bool = False, version: str = "v1.34.2") -> Json:
        """Put in a Machine that refers to a KubeadmConfig of its name."""
        made = machine_object(name, control_plane=control_plane, version=version)
        made["spec"]["bootstrap"] = {"configRef": {**REFERENCE, "name": name}}
        return self.api.put(made)

    def config(self, name: str = "w", *, owner: Json | None = None, **more: object) -> Json:
        """Put in a held KubeadmConfig with its Machine, a worker unless another owner is given."""
        return self.api.put(kubeadm_config(name, owner=owner or self.machine(name), **more))  # type: ignore[arg-type]

    def pool_config(self, name: str = "p", *, joined: int = 0) -> Json:
        """Put in a held KubeadmConfig with its MachinePool."""
        made = pool_object(name, joined=joined)
        made["spec"]["template"]["spec"]["bootstrap"] = {"configRef": {**REFERENCE, "name": name}}
        return self.api.put(kubeadm_config(name, owner=self.api.put(made)))

    def found(self, name: str = "w") -> Json:
        """Give a KubeadmConfig."""
        found = self.api.find(KUBEADM_CONFIGS.kind, name)
        assert found is not None
        return found

    def facts(self, name: str = "w") -> Facts:
        """See Scene."""
        return facts_of(self.api, self.found(name))

    def status(self, name: str = "w") -> Json:
        """See Scene."""
        status: Json = self.found(name).get("status") or {}
        return status
