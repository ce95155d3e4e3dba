"""Which configs are looked at when an object changes: those that it matters to, and no others."""

from typing import Any

import pytest

from slipway.controller.data_secret import Record
from slipway.controller.facts import Facts
from slipway.controller.machine_report import MachineReport
from slipway.controller.watches import Watches
from slipway.controller.workload_reports import ReportingMachine
from slipway.kubernetes_api.informer import Key
from slipway.kubernetes_api.resources import Json
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.controller.scene import CLUSTER, cluster_object, config_object, machine_object, pool_object
from tests.services.kubernetes_api.memory_api import MemoryApi


class Told:
    """Watches without a network: a test puts objects in as the API server would tell them."""

    def __init__(self) -> None:
        self.api = MemoryApi()
        self.watches = Watches.of(self.api)  # type: ignore[arg-type]
        self.keys: list[Key] = []
        self.watches.changed = self.keys.append

    def put(self, item: Json) -> Json:
        """Tell of a new or changed object."""
        found = self.api.put(item)
        self._informer(found)._put((found["metadata"]["namespace"], found["metadata"]["name"]), found)
        return found

    def gone(self, item: Json) -> None:
        """Tell that an object is gone."""
        self._informer(item)._put((item["metadata"]["namespace"], item["metadata"]["name"]), None)

    def names(self) -> list[str]:
        """Give the configs that were to be looked at since the last time."""
        found = sorted({name for _, name in self.keys})
        self.keys.clear()
        return found

    def _informer(self, item: Json) -> Any:
        return {
            "SlipwayConfig": self.watches.configs,
            "Machine": self.watches.machines,
            "MachinePool": self.watches.pools,
            "Cluster": self.watches.clusters,
            "Secret": self.watches.secrets,
            "ConfigMap": self.watches.config_maps,
        }[item["kind"]]


@pytest.fixture
def copies() -> Told:
    """A cluster with two workers, a and b."""
    made = Told()
    made.put(cluster_object())
    for name in ("a", "b"):
        owner = made.put(machine_object(name))
        made.put(config_object(name, owner=owner))
    made.names()
    return made


def _changed(item: Json, **more: Any) -> Json:
    return {**item, **more}


def test_facts_are_collected_from_all_copies(copies: Told) -> None:
    """Config, owner, cluster and the Secret of its name."""
    copies.put({"kind": "Secret", "metadata": {"name": "a"}})
    facts = copies.watches.facts(("default", "a"))
    assert isinstance(facts, Facts)
    assert facts.owner is not None
    assert facts.owner.name == "a"
    assert facts.cluster is not None
    assert facts.cluster.name == CLUSTER
    assert facts.secret is not None
    assert copies.watches.facts(("default", "nobody")) is None


def test_a_report_leads_to_a_look_at_its_machine_alone(copies: Told) -> None:
    """The config of the Machine has the report in its facts; an unknown machine has none."""
    report = MachineReport("b", reportspb.REPORT_STATE_COMPLETE, of_console=False)
    copies.watches.report_of = lambda *place: report if place == ("default", CLUSTER, "a") else None
    copies.watches.machine_reported("default", "a")
    copies.watches.machine_reported("default", "nobody")
    assert copies.names() == ["a"]
    facts = [copies.watches.facts(("default", name)) for name in ("a", "b")]
    assert [each.report for each in facts if each is not None] == [report, None]
    assert copies.watches.namespaces() == {"default"}


def test_machines_that_report_to_their_cluster_are_those_of_such_specs(copies: Told) -> None:
    """Those whose spec has the sink and whose user data are stored, with the bundle of these; no MachinePool is."""
    spec: Json = {"reporting": {"sinks": [{"console": {}}, {"workloadCluster": {}}]}}
    record = Record(1, 0, "WORKER", "cloud-init", "0.1.0", "cloud-config", "bundle", 1, token=True, engine="kubeadm")
    console: Json = {"reporting": {"sinks": [{"console": {}}]}}
    for name, own in (("a", spec), ("late", spec), ("silent", {}), ("console", console)):
        copies.put(config_object(name, spec=own, owner=copies.put(machine_object(name))))
        if name != "late":
            copies.put({"kind": "Secret", "metadata": {"name": name, "annotations": record.annotations()}})
    copies.put(config_object("pool", spec=spec, owner=copies.put(pool_object("pool"))))
    copies.put({"kind": "Secret", "metadata": {"name": "pool", "annotations": record.annotations()}})
    waiting = ReportingMachine("default", CLUSTER, "a", "bundle", joined=False)
    assert list(copies.watches.reporting_machines()) == [waiting]
    copies.put({**machine_object("a"), "status": {"nodeRef": {"name": "n"}}})
    assert [machine.joined for machine in copies.watches.reporting_machines()] == [True]
    copies.gone(config_object("a"))
    assert list(copies.watches.reporting_machines()) == []


def test_clusters_with_machines_of_ours_are_given_once(copies: Told) -> None:
    """Two Machines with configs of ours are of one Cluster; without them there is none, whatever else is there."""
    copies.put(
        machine_object("c", bootstrap={"configRef": {"apiGroup": "other.example.com", "kind": "X", "name": "a"}})
    )
    copies.put({**cluster_object(), "metadata": {"name": "two", "namespace": "default"}})
    assert [cluster.name for cluster in copies.watches.own_clusters()] == [CLUSTER]
    for name in ("a", "b"):
        copies.gone({"kind": "SlipwayConfig", "metadata": {"name": name, "namespace": "default"}})
    assert list(copies.watches.own_clusters()) == []


def test_a_status_of_ours_leads_to_no_look(copies: Told) -> None:
    """What the controller wrote itself is no news; a new generation, an annotation or a removed status is."""
    config = copies.api.find("SlipwayConfig", "a") or {}
    config["status"] = {"ready": True}
    copies.put(config)
    copies.names()
    config["status"] = {"ready": True, "more": 1}
    copies.put(config)
    assert copies.names() == []
    config["metadata"]["annotations"] = {"cluster.x-k8s.io/paused": ""}
    copies.put(config)
    assert copies.names() == ["a"]
    del config["status"]
    copies.put(config)
    assert copies.names() == ["a"]


def test_a_machine_concerns_its_own_config(copies: Told) -> None:
    """Its node, its version, its end: looked at. The rest of its status is not."""
    machine = copies.api.find("Machine", "a") or {}
    copies.put(_changed(machine, status={"phase": "Provisioning"}))
    assert copies.names() == []
    copies.put(_changed(machine, status={"nodeRef": {"name": "n"}}))
    assert copies.names() == ["a"]


def test_a_cluster_concerns_all_of_its_machines(copies: Told) -> None:
    """When it is paused or initialised, or its endpoint comes; not for each of its conditions."""
    cluster = copies.api.find("Cluster", CLUSTER) or {}
    copies.put(_changed(cluster, status={**cluster["status"], "conditions": [{"type": "X", "status": "True"}]}))
    assert copies.names() == []
    copies.put(_changed(cluster, spec={**cluster["spec"], "paused": True}))
    assert copies.names() == ["a", "b"]


def test_a_lost_data_secret_concerns_its_config(copies: Told) -> None:
    """It is looked at when its Secret is gone, not when it has made it."""
    references = [{"kind": "SlipwayConfig", "name": "a", "controller": True}]
    secret = copies.put({"kind": "Secret", "metadata": {"name": "a", "ownerReferences": references}})
    assert copies.names() == []
    copies.gone(secret)
    assert copies.names() == ["a"]


def test_a_secret_of_the_cluster_concerns_those_that_wait(copies: Told) -> None:
    """A thousand machines that have all they need are not looked at since the kubeconfig was renewed."""
    labels = {"cluster.x-k8s.io/cluster-name": CLUSTER}
    copies.put({"kind": "Secret", "metadata": {"name": f"{CLUSTER}-kubeconfig", "labels": labels}})
    assert copies.names() == []
    copies.watches.halted["default", "b"] = "WaitingForOwner"
    copies.put({"kind": "Secret", "metadata": {"name": f"{CLUSTER}-ca", "labels": labels}})
    assert copies.names() == ["b"]


@pytest.mark.parametrize("kind", ["Secret", "ConfigMap"])
def test_what_a_spec_refers_to_concerns_it_while_it_waits(copies: Told, kind: str) -> None:
    """By name, in its namespace, and no longer once the spec refers to something else."""
    facts = copies.watches.facts(("default", "a"))
    assert facts is not None
    copies.watches.depend(facts, frozenset({(kind, "mine")}))
    copies.put({"kind": kind, "metadata": {"name": "mine"}})
    assert copies.names() == []
    copies.watches.halted["default", "a"] = "WaitingForOwner"
    copies.put({"kind": kind, "metadata": {"name": "mine"}})
    assert copies.names() == ["a"]
    copies.put({"kind": kind, "metadata": {"name": "mine", "namespace": "elsewhere"}})
    assert copies.names() == []
    copies.watches.depend(facts, frozenset())
    copies.put({"kind": kind, "metadata": {"name": "mine"}})
    assert copies.names() == []


def test_a_machine_that_goes_frees_those_that_wait_for_it(copies: Told) -> None:
    """Whoever waits for it to begin the cluster has a look."""
    copies.watches.halted["default", "b"] = "WaitingForOwner"
    copies.gone(copies.api.find("Machine", "a") or {})
    assert copies.names() == ["a", "b"]


@pytest.mark.parametrize(
    ("paused", "there", "of_config", "released"),
    [(False, True, True, True), (True, True, True, False), (False, False, True, False), (False, True, False, False)],
    ids=["the machine is deleted", "the cluster moves", "the cluster is gone first", "a Secret of a person's own"],
)
def test_a_payload_goes_with_its_secret(
    copies: Told, paused: bool, there: bool, of_config: bool, released: bool
) -> None:
    """Not with that of a cluster that moves: its machine may still have to fetch, from the same store."""
    payloads: list[tuple[str, str]] = []
    copies.watches.payload_gone = lambda url, namespace: payloads.append((url, namespace))
    record = Record(
        1,
        0,
        "WORKER",
        "cloud-init",
        "0.1.0",
        "cloud-config",
        "id",
        1,
        token=True,
        engine="kubeadm",
        payload="https://g/p",
    )
    labels = {"cluster.x-k8s.io/cluster-name": CLUSTER}
    controller = {"kind": "SlipwayConfig", "name": "a", "uid": "u", "apiVersion": "a/b", "controller": True}
    owners = {"ownerReferences": [controller] if of_config else []}
    secret = copies.put(
        {
            "kind": "Secret",
            "metadata": {"name": "a", "annotations": record.annotations(), "labels": labels, **owners},
            "data": {},
        }
    )
    if paused:
        copies.put({**cluster_object(paused=True)})
    if not there:
        copies.gone(cluster_object())
    copies.gone(secret)
    assert payloads == ([("https://g/p", "default")] if released else [])
