"""Workers of our examples for clouds and bare metal, imported and in our own words: the same nodes of one cluster.

Their control planes boot in ``test_twins`` and ``test_twin_clouds``, and the pool for Flatcar with its own.
"""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from tests.node import examples, metadata, node_state
from tests.node.harbour import SECONDS, Harbour
from tests.node.readiness import wait_ready
from tests.node.twins import EXTERNAL, NEWEST, UNTIL_CLUSTER_API, Described, Twin, fact, user, worker
from tools.node.first_disk import FirstBoot
from tools.node.machine import Machine

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(1200)]

AT_ONCE = 2  # with two machines each
_EVICTION = {"name": "eviction-hard", "value": "nodefs.available<0%,nodefs.inodesFree<0%,imagefs.available<0%"}


def twin(config: str, infrastructure: str, native: Mapping[str, Any], **more: Any) -> Twin:
    """A worker of an example; a class of the cluster names it by what stands in the cluster."""
    name = "storage" if config == "rack-storage" else f"{examples.CLUSTER}{config}"
    return Twin(infrastructure, {}, {name: Described("Worker", config, native)}, **more)


TWINS = {
    "aws": twin(
        "-linux",
        "aws",
        {
            "os": {
                "ntp": {"enabled": True, "servers": ["169.254.169.123"]},
                **user("harbourmaster"),
            },
            "kubernetes": worker(
                EXTERNAL,
                {"name": "node-labels", "value": "example.com/pool=batch,example.com/tier=silver"},
                {"name": "max-pods", "value": "110"},
                taints=[{"key": "example.com/dedicated", "value": "batch", "effect": "NoSchedule"}],
            ),
            "commands": {
                "pre": [
                    {
                        "script": {
                            "segments": [{"text": "hostnamectl set-hostname "}, *fact("LocalHostname")["segments"]]
                        }
                    },
                    {"argv": ["sh", "-c", "/usr/local/bin/label-disks >/run/empty-disks"]},
                ]
            },
        },
    ),
    "azure": twin("-linux", "azure", {"kubernetes": worker(EXTERNAL)}),
    "docker": twin(
        "-pool",
        "docker",
        {
            "kubernetes": {
                "node": {
                    "kubeletArguments": [_EVICTION],
                    "taints": {"items": [UNTIL_CLUSTER_API]},
                    "criSocket": "unix:///run/containerd/containerd.sock",
                }
            }
        },
        by=FirstBoot.IGNITION,
        cloud_names=False,
    ),
    "metal": twin(
        "rack-storage",
        "metal",
        {
            "os": user("keeper", groups=["adm"], lockPassword=True),
            "kubernetes": worker(
                {"name": "node-labels", "value": "example.com/role=storage"},
                {"name": "kube-reserved", "value": "cpu=1,memory=2Gi"},
            ),
        },
        cloud_names=False,
    ),
    "vsphere": twin(
        "-workers",
        "vsphere",
        {
            "os": {
                "ntp": {"enabled": True, "servers": ["ntp.example.com"]},
                **user("keeper"),
            },
            "kubernetes": worker(
                EXTERNAL,
                {"name": "node-labels", "value": "example.com/zone=harbour-1"},
                kind="ShortHostname",
                criSocket="/var/run/containerd/containerd.sock",
            ),
        },
        cloud_names=False,
    ),
}


def looked_at(harbour: Harbour, machine: Machine, name: str) -> Any:
    """Everything about the machine and its node that can be compared, with NAME in place of its own name."""
    found = {
        **node_state.of_machine(machine),
        **node_state.of_node(harbour.control_plane, name, machine.address),
    }
    return json.loads(json.dumps(found).replace(name, "NAME").replace(machine.address, "ADDRESS"))


@pytest.mark.parametrize("name", TWINS)
def test_an_imported_worker_is_the_same_node_as_its_native_twin(harbour: Harbour, name: str) -> None:
    """Arguments, environment, files, users, units, labels, taints and the kubelet's configuration are equal."""
    twin = TWINS[name]
    ((described, worker),) = twin.machines.items()
    theirs, filled_in = examples.text(examples.read(name, NEWEST)), examples.variables(NEWEST)
    # The data source and the metadata service of a cloud agree.
    called = metadata.name_of if twin.cloud_names else None
    join = partial(harbour.joiner, described=described, by=twin.by, cloud_name=called)
    machines = {
        "theirs": join(f"{name}-theirs", variables=filled_in, text=theirs),
        "ours": join(f"{name}-ours", text=twin.native(name)),
    }
    found = {}
    for whose, machine in machines.items():
        machine.wait_sentinel(timeout=SECONDS)
        full = metadata.name_of(machine.address) if twin.cloud_names else machine.name
        wait_ready(harbour.control_plane, full)
        found[whose] = looked_at(harbour, machine, full)
    said = {f"--{one['name']}={one['value']}" for one in worker.native["kubernetes"]["node"]["kubeletArguments"]}
    assert said <= set(found["theirs"]["kubelet"])
    assert any(path.endswith("/etc/kubernetes/kubelet.conf") for path in found["theirs"]["files"])
    assert found["theirs"] == found["ours"]
