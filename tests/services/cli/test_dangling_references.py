"""A name that leads to nothing in the files is told, and nothing is refused for it: Cluster API takes it, too."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.services.cli.conftest import EXAMPLES, Slipway

CAPI = EXAMPLES / "cluster-vsphere.yaml"
NO = "the files have no"
DEPLOYMENT = "MachineDeployment/beacon-workers: spec"
PATHS = ("clusterName", "template.spec.clusterName")


@dataclass(frozen=True)
class Slip:
    """A name that is changed, and what is told of it after its place."""

    reason: str
    old: str
    new: str
    told: list[str]


SLIPS = [
    Slip(
        "another control plane",
        "kind: KubeadmControlPlane\n    name: beacon",
        "kind: KubeadmControlPlane\n    name: beacn",
        [f"Cluster/beacon: spec.controlPlaneRef.name: {NO} KubeadmControlPlane of this name; did you mean beacon?"],
    ),
    Slip(
        "another cluster",
        "clusterName: beacon",
        "clusterName: quite-else",
        [f"{DEPLOYMENT}.{path}: {NO} Cluster of this name; check the name, or add its file" for path in PATHS],
    ),
    Slip(
        "another template",
        "      name: beacon-control-plane\n",
        "      name: beacon-contol-plane\n",
        [
            (
                "KubeadmControlPlane/beacon: spec.machineTemplate.infrastructureRef.name: "
                f"{NO} VSphereMachineTemplate of this name; did you mean beacon-control-plane?"
            )
        ],
    ),
    Slip(
        "a kind that is misspelt",
        "kind: VSphereCluster\n    name",
        "kind: VSphereClusters\n    name",
        [
            (
                "Cluster/beacon: spec.infrastructureRef.kind: no object of this kind is in the files; did you mean "
                "VSphereCluster?"
            )
        ],
    ),
    Slip(
        "a template that is in another file",
        "Template\n        name: beacon-workers",
        "Template\n        name: quite-else",
        [],
    ),
]


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.reason)
def test_a_name_of_nothing_is_told(slipway: Slipway, write: Callable[..., Path], slip: Slip) -> None:
    """With file, line, column and path, and with what was meant."""
    text = re.sub(r'"\$\{CLUSTER_NAME:=beacon\}([a-z-]*)"', r"beacon\1", CAPI.read_text())
    assert slip.old in text
    file = write(text.replace(slip.old, slip.new))
    result = slipway("validate", "-f", file)
    told = [line for line in result.stderr.splitlines() if NO in line or "no object" in line]
    assert [one.split(": ", 2)[2] for one in told] == slip.told, result.stderr
    assert all(one.startswith(f"warning: {file}:") for one in told)


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("cluster-*.yaml")), ids=lambda path: path.stem)
def test_nothing_is_told_of_what_is_sound(slipway: Slipway, example: Path) -> None:
    """Neither of examples, nor where a file holds only a part of a cluster."""
    assert NO not in slipway("validate", "-f", example).stderr


CONTROL_PLANE = """apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: beacon}
spec:
  version: v1.34.2
  machineTemplate:
    spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: VSphereMachineTemplate, name: beacn}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: VSphereMachineTemplate
metadata: {name: beacon}
"""


def test_the_layout_of_v1beta2_is_read_too(slipway: Slipway, write: Callable[..., Path]) -> None:
    """There the reference of a control plane stands one level deeper."""
    told = slipway("validate", "-f", write(CONTROL_PLANE)).stderr
    path = "KubeadmControlPlane/beacon: spec.machineTemplate.spec.infrastructureRef.name"
    assert f"{path}: {NO} VSphereMachineTemplate of this name; did you mean beacon?" in told


def test_a_cluster_that_is_in_no_file_is_not_missed(slipway: Slipway, write: Callable[..., Path]) -> None:
    """Whoever validates the workers alone has not misspelt the name of their cluster."""
    text = CAPI.read_text()
    workers = [
        part for part in text.split("---\n") if not re.search(r"(?m)^kind: (Cluster|KubeadmControlPlane)$", part)
    ]
    file = write("---\n".join(workers))
    result = slipway("validate", "-f", file)
    assert "beacon-workers" in result.output
    assert NO not in result.stderr
