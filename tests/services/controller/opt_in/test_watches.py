"""Which KubeadmConfigs are looked at when an object changes, beside the configs of our own kind."""

from typing import Any

import pytest

from slipway.controller import ownership
from slipway.kubernetes_api.resources import KUBEADM_CONFIGS, Json
from tests.services.controller.opt_in.opted_in import REFERENCE, kubeadm_config
from tests.services.controller.scene import cluster_object, config_object, machine_object
from tests.services.controller.test_watches import Told


class ToldBoth(Told):
    """Watches of both kinds; what is told of Machines, Clusters and Secrets reaches both."""

    def __init__(self) -> None:
        super().__init__()
        self.native, self.native_keys = self.watches, self.keys
        self.watches = self.native.of_kubeadm_configs(self.api)  # type: ignore[arg-type]
        self.keys = []
        self.watches.changed = self.keys.append

    def late(self, item: Json) -> None:
        """Tell of an object that bears the label of who opts in, and not ours: of its metadata only."""
        found = {**self.api.put(item), "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
        found.pop("spec", None)
        assert self.watches.latecomers is not None
        self.watches.latecomers._put((found["metadata"]["namespace"], found["metadata"]["name"]), found)

    def _informer(self, item: Json) -> Any:
        if item["kind"] == "SlipwayConfig":
            return self.native.configs
        return self.watches.configs if item["kind"] == KUBEADM_CONFIGS.kind else super()._informer(item)


@pytest.fixture
def told() -> ToldBoth:
    """A cluster with a worker of each kind: theirs, and one of our own kind."""
    made = ToldBoth()
    made.put(cluster_object())
    theirs = machine_object("theirs")
    theirs["spec"]["bootstrap"] = {"configRef": {**REFERENCE, "name": "theirs"}}
    made.put(kubeadm_config("theirs", owner=made.put(theirs)))
    made.put(config_object("own", owner=made.put(machine_object("own"))))
    made.names()
    made.native_keys.clear()
    return made


def test_facts_of_an_opted_in_config(told: ToldBoth) -> None:
    """Config and owner, by the same copies that our own kind uses; each kind knows its own configs only."""
    facts = told.watches.facts(("default", "theirs"))
    assert facts is not None
    assert facts.resource is KUBEADM_CONFIGS
    assert facts.held
    assert facts.owner is not None
    assert told.watches.facts(("default", "own")) is None
    assert told.native.facts(("default", "theirs")) is None


def test_a_change_reaches_the_configs_of_both_kinds(told: ToldBoth) -> None:
    """The Cluster's control plane is there: each kind looks at its own configs."""
    told.put(cluster_object(initialized=False))
    assert told.names() == ["theirs"]
    assert {name for _, name in told.native_keys} == {"own"}


def test_an_owner_leads_to_the_config_that_it_refers_to(told: ToldBoth) -> None:
    """A Machine that joins is of interest to its own config's kind."""
    owner = told.api.find("Machine", "theirs") or {}
    told.put({**owner, "status": {"nodeRef": {"name": "n"}}})
    assert told.names() == ["theirs"]
    assert told.native_keys == []


@pytest.mark.parametrize(("kind", "expected"), [("KubeadmConfig", ["theirs"]), ("SlipwayConfig", [])])
def test_a_data_secret_that_is_gone(told: ToldBoth, kind: str, expected: list[str]) -> None:
    """It is the business of the kind that it belongs to."""
    owner = {"kind": kind, "controller": True, "uid": "u"}
    secret = told.put({"kind": "Secret", "metadata": {"name": "theirs", "ownerReferences": [owner]}})
    told.names()
    told.gone(secret)
    assert told.names() == expected


@pytest.mark.parametrize(("handed_back", "expected"), [(True, ["theirs"]), (False, [])])
def test_a_data_secret_that_came_too_late(told: ToldBoth, handed_back: bool, expected: list[str]) -> None:
    """Of a config that was handed back meanwhile: it has to be given up. Otherwise its maker knows of it."""
    config = told.api.find("KubeadmConfig", "theirs") or {}
    if handed_back:
        config["metadata"]["annotations"][ownership.RELEASED] = "now"
    told.put(config)
    told.names()
    owner = {"kind": "KubeadmConfig", "controller": True, "uid": config["metadata"]["uid"]}
    told.put({"kind": "Secret", "metadata": {"name": "theirs", "ownerReferences": [owner]}})
    assert told.names() == expected


def test_a_label_that_came_later_is_looked_at_once(told: ToldBoth) -> None:
    """So that an event can tell of it; of such an object only metadata is followed."""
    late = kubeadm_config("late")
    late["metadata"]["labels"] = {ownership.MANAGED: "true"}
    told.late(late)
    assert told.names() == ["late"]
    facts = told.watches.facts(("default", "late"))
    assert facts is not None
    assert (facts.resource, facts.held) == (KUBEADM_CONFIGS, False)
    told.late(late)
    assert told.names() == []


def test_both_kinds_share_what_they_follow(told: ToldBoth) -> None:
    """Clusters, Machines and Secrets are followed once; the watch-filter holds for both kinds."""
    assert set(told.watches.informers) == {told.watches.configs, told.watches.latecomers}
    assert told.watches.machines is told.native.machines
    filtered = told.native.of_kubeadm_configs(told.api, watch_filter="x")  # type: ignore[arg-type]
    assert filtered.configs._selector == "cluster.x-k8s.io/watch-filter=x,bootstrap.slipway.dev/owner=slipway"
