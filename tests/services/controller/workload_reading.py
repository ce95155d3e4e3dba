"""Reading reports out of a workload cluster, as tests do it."""

from dataclasses import dataclass, field

from slipway.controller.secret_reader import SecretReader
from slipway.controller.workload import Workloads
from slipway.controller.workload_reports import NAMESPACE, ReportingMachine, WorkloadReports
from slipway.kubernetes_api.resources import Json
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.controller.scene import CLUSTER, Scene
from tests.services.reports.made import KEY

MACHINE = ReportingMachine("default", CLUSTER, "w", KEY.bundle_id, joined=False)
COMPLETE_STATE, FAILED_STATE, UNFINISHED_STATE = (
    reportspb.REPORT_STATE_COMPLETE,
    reportspb.REPORT_STATE_FAILED,
    reportspb.REPORT_STATE_UNFINISHED,
)


@dataclass
class Reading:
    """What reads, the cluster that it reads, and the machines that report there."""

    scene: Scene
    machines: list[ReportingMachine] = field(default_factory=lambda: [MACHINE])
    changes: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        reader = SecretReader(self.scene.api, self.scene.api.lookup("Secret"), self.scene.api.lookup("Cluster"))
        workloads = Workloads(reader, lambda _: self.scene.workload, monotonic=lambda: 0.0)
        self.workloads = workloads
        self.seconds = 0.0
        self.reports = WorkloadReports(
            workloads, lambda: self.machines, lambda: self.scene.now, monotonic=lambda: self.seconds
        )
        self.reports.changed = lambda namespace, machine: self.changes.append((namespace, machine))

    def put(self, text: bytes, node: str = "node-1") -> Json:
        """Put in what a Node wrote."""
        metadata = {"name": node, "namespace": NAMESPACE}
        data = {"events": text.decode()}
        return self.scene.workload.put({"kind": "ConfigMap", "metadata": metadata, "data": data})

    def state(self, name: str = "w") -> int | None:
        """Give how far a machine came."""
        report = self.reports.get("default", CLUSTER, name)
        return None if report is None else report.state

    def nodes(self) -> set[str]:
        """Give the names of the objects that are there."""
        return {item["metadata"]["name"] for item in self.scene.workload.all("ConfigMap")}
