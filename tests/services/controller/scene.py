"""A management cluster in memory with one cluster, and the controller's parts on it."""

import base64
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import yaml

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.controller.cluster_object import ClusterObject
from slipway.controller.control_planes import ControlPlanes
from slipway.controller.data_secret import Record
from slipway.controller.engines import Engines
from slipway.controller.facts import Facts
from slipway.controller.init_lock import InitLock
from slipway.controller.metrics import Metrics
from slipway.controller.owner import Owner, owner_reference
from slipway.controller.payloads import Payloads
from slipway.controller.question import NativeQuestions
from slipway.controller.reconciler import Next, Reconciler
from slipway.controller.references import Place
from slipway.controller.rendering import Renderer
from slipway.controller.report import Reporter
from slipway.controller.report_addresses import ReportAddresses
from slipway.controller.secret_reader import SecretReader
from slipway.controller.timeouts import Timeouts
from slipway.controller.workload import Workloads
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.kubernetes_api.resources import Json
from tests.services.kubernetes_api.memory_api import NOW, MemoryApi

CLUSTER = "one"
KUBECONFIG = yaml.safe_dump(
    {
        "clusters": [{"name": "c", "cluster": {"server": "https://192.0.2.1:6443"}}],
        "users": [{"name": "u", "user": {"token": "not-a-secret"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
).encode()


def cluster_object(*, initialized: bool = True, **spec: object) -> Json:
    """Give a Cluster whose infrastructure is there."""
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta2",
        "kind": "Cluster",
        "metadata": {"name": CLUSTER, "namespace": "default"},
        "spec": {
            "controlPlaneEndpoint": {"host": "api.example.com", "port": 6443},
            "clusterNetwork": {"pods": {"cidrBlocks": ["10.244.0.0/16"]}, "services": {"cidrBlocks": ["10.96.0.0/12"]}},
            **spec,
        },
        "status": {
            "initialization": {"infrastructureProvisioned": True, "controlPlaneInitialized": initialized},
        },
    }


def machine_object(name: str, *, control_plane: bool = False, version: str = "v1.34.2", **spec: object) -> Json:
    """Give a Machine that refers to a SlipwayConfig of the same name."""
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta2",
        "kind": "Machine",
        "metadata": {
            "name": name,
            "namespace": "default",
            "labels": {"cluster.x-k8s.io/control-plane": ""} if control_plane else {},
        },
        "spec": {
            "clusterName": CLUSTER,
            "version": version,
            "bootstrap": {"configRef": {"apiGroup": "bootstrap.slipway.dev", "kind": "SlipwayConfig", "name": name}},
            "infrastructureRef": {"kind": "FakeMachine", "name": name},
            **spec,
        },
    }


def pool_object(name: str, *, replicas: int = 1, joined: int = 0) -> Json:
    """Give a MachinePool that refers to a SlipwayConfig of the same name."""
    spec = machine_object(name)["spec"]
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta2",
        "kind": "MachinePool",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"clusterName": CLUSTER, "replicas": replicas, "template": {"spec": spec}},
        "status": {"nodeRefs": [{"name": f"node-{index}"} for index in range(joined)]},
    }


def config_object(name: str, *, spec: Json | None = None, owner: Json | None = None, **metadata: object) -> Json:
    """Give a SlipwayConfig."""
    references = []
    if owner is not None:
        references.append(
            {
                "apiVersion": "cluster.x-k8s.io/v1beta2",
                "kind": owner["kind"],
                "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"],
                "controller": True,
            }
        )
    return {
        "apiVersion": "bootstrap.slipway.dev/v1alpha1",
        "kind": "SlipwayConfig",
        "metadata": {"name": name, "namespace": "default", "ownerReferences": references, **metadata},
        "spec": {"provisioner": {"name": "cloud-init"}} if spec is None else spec,
    }


@dataclass
class Scene:
    """The API in memory, a workload cluster in memory, and a clock."""

    api: MemoryApi = field(default_factory=MemoryApi)
    workload: MemoryApi = field(default_factory=MemoryApi)
    now: datetime = NOW
    bootstrapper: Bootstrapper = field(default_factory=lambda: embedded_bootstrapper(store=None))
    waited: float = 1000.0
    reports: ReportAddresses | None = None
    payloads: Payloads | None = None
    depends: dict[str, frozenset[Place]] = field(default_factory=dict)
    reconciler: Reconciler = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Forget everything that a process knows, as a new one would."""
        reader = SecretReader(self.api, self.api.lookup("Secret"), self.api.lookup("Cluster"))
        workloads = Workloads(reader, lambda _: self.workload, monotonic=self._seconds)
        renderer = Renderer(
            objects=self.api,
            reader=reader,
            bootstrapper=self.bootstrapper,
            clock=lambda: self.now,
            questions=NativeQuestions(
                reader,
                ControlPlanes(self.api),
                self.bootstrapper.compiler.engines,
                lambda facts, places: self.depends.update({facts.name: places}),
            ),
            engines=Engines(self.bootstrapper, self._machines, self.api.lookup("Secret")),
            workloads=workloads,
            reports=self.reports,
            payloads=self.payloads,
        )
        self.reconciler = Reconciler(
            objects=self.api,
            renderer=renderer,
            reporter=Reporter(self.api, lambda: self.now),
            lock=InitLock(self.api, self.api.lookup("Machine")),
            workloads=workloads,
            clock=lambda: self.now,
            metrics=Metrics(),
            timeouts=Timeouts(),
        )

    def _machines(self, cluster: ClusterObject) -> list[Json]:
        return [item for item in self.api.all("Machine") if item["spec"]["clusterName"] == cluster.name]

    def _seconds(self) -> float:
        return self.now.timestamp()

    def cluster(self, **more: object) -> Json:
        """Put in the Cluster."""
        return self.api.put(cluster_object(**more))  # type: ignore[arg-type]

    def workload_ready(self, *, authority: bytes | None = None) -> None:
        """Put in what the control plane's provider makes: the CA and the kubeconfig."""
        self.secret(f"{CLUSTER}-ca", {"tls.crt": authority or authority_pem(), "tls.key": b""})
        self.secret(f"{CLUSTER}-kubeconfig", {"value": KUBECONFIG})

    def worker(self, name: str = "w", *, spec: Json | None = None, **machine: object) -> Json:
        """Put in a worker Machine with its config."""
        owner = self.api.put(machine_object(name, **machine))  # type: ignore[arg-type]
        return self.api.put(config_object(name, spec=spec, owner=owner))

    def plane(self, name: str = "plane", *, engine: str = "kubeadm") -> Json:
        """Put in a control-plane Machine whose user data are of an engine."""
        record = Record(1, 0, "INIT", "cloud-init", "0.1.0", "cloud-config", "id", 1, token=False, engine=engine)
        metadata = {"name": name, "annotations": record.annotations()}
        self.api.put({"kind": "Secret", "metadata": metadata, "data": {}})
        return self.api.put(machine_object(name, control_plane=True))

    def pool(self, name: str = "p", *, joined: int = 0, spec: Json | None = None) -> Json:
        """Put in a MachinePool with its config."""
        owner = self.api.put(pool_object(name, joined=joined))
        return self.api.put(config_object(name, spec=spec, owner=owner))

    def secret(self, name: str, values: dict[str, bytes]) -> Json:
        """Put in a Secret."""
        data = {key: base64.b64encode(value).decode() for key, value in values.items()}
        return self.api.put({"kind": "Secret", "metadata": {"name": name}, "data": data})

    def facts(self, name: str = "w") -> Facts:
        """Collect the facts of a config as they are now."""
        config = self.api.find("SlipwayConfig", name)
        assert config is not None
        return facts_of(self.api, config)

    async def reconcile(self, name: str = "w") -> Next:
        """Reconcile a config once."""
        return await self.reconciler.reconcile(self.facts(name), waited=lambda _: self.waited)

    def status(self, name: str = "w") -> Json:
        """Give the status of a config."""
        found = self.api.find("SlipwayConfig", name)
        assert found is not None
        status: Json = found.get("status") or {}
        return status

    def condition(self, name: str = "w", type_: str = "Ready") -> tuple[str, str, str]:
        """Give status, reason and message of a condition."""
        found = next((one for one in self.status(name).get("conditions", ()) if one["type"] == type_), None)
        return ("", "", "") if found is None else (found["status"], found["reason"], found["message"])

    def value(self, name: str = "w", key: str = "value") -> bytes:
        """Give a value of a Secret."""
        found = self.api.find("Secret", name)
        assert found is not None
        return base64.b64decode(found["data"][key])

    def later(self, **delta: float) -> None:
        """Let time pass."""
        self.now += timedelta(**delta)
        self.api.now = self.workload.now = self.now


def authority_pem() -> bytes:
    """Give a CA certificate that stays the same through a test run."""
    return _AUTHORITY[0]


def _authority() -> Iterable[bytes]:
    from slipway.bootstrapper.credentials.certificates import distinguished_name, self_signed_authority
    from slipway.bootstrapper.credentials.entropy import KeyType, SystemEntropy
    from slipway.bootstrapper.credentials.pem import certificate_pem

    entropy = SystemEntropy()
    key = entropy.private_key(KeyType.ECDSA_P256)
    yield certificate_pem(
        self_signed_authority(
            key,
            subject=distinguished_name("kubernetes"),
            now=NOW,
            validity=timedelta(days=3650),
            entropy=entropy,
        )
    )


_AUTHORITY = list(_authority())


def facts_of(api: MemoryApi, config: Json) -> Facts:
    """Give the facts of a config of any kind as they are now."""
    reference = owner_reference(config)
    owner = api.find(*reference) if reference else None
    cluster = api.find("Cluster", owner["spec"]["clusterName"]) if owner else None
    return Facts(
        config=config,
        owner=Owner(owner) if owner else None,
        cluster=ClusterObject(cluster) if cluster else None,
        secret=api.find("Secret", config["metadata"]["name"]),
        account=api.find("Secret", f"{owner['metadata']['name']}-directory") if owner else None,
        account_report=api.find("ConfigMap", f"{owner['metadata']['name']}-directory") if owner else None,
    )
