"""Machines of their own, as standalone manifests have them: the label tells a control plane, the config its role."""

import pytest

from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.bootstrapper.importers.manifest_texts import INIT, JOIN, WORKER, by_name, manifests

MACHINE = """
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {name: %(name)s, labels: {%(label)s}}
spec:
  clusterName: %(cluster)s
  version: v1.34.1
  bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfig, name: %(name)s}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfig
metadata: {name: %(name)s}
spec: {%(spec)s}
"""
LABEL = 'cluster.x-k8s.io/control-plane: ""'
BEGINS, JOINS = "clusterConfiguration: {imageRepository: r}", "joinConfiguration: {caCertPath: /ca}"
FURTHER = "joinConfiguration: {controlPlane: {}}"
TABLE = [
    ([(LABEL, BEGINS), (LABEL, FURTHER)], [INIT, JOIN], "as they are written most often"),
    ([(LABEL, BEGINS), (LABEL, JOINS)], [INIT, JOIN], "a control plane that says no more than how it joins"),
    ([(LABEL, ""), (LABEL, "")], [INIT, JOIN], "nothing said: the first begins"),
    ([(LABEL, f"{BEGINS}, {JOINS}"), (LABEL, f"{BEGINS}, {JOINS}")], [INIT, JOIN], "one config for all"),
    ([(LABEL, f"{BEGINS}, {FURTHER}")], [JOIN], "what KubeadmControlPlane makes for a further machine"),
    ([("", BEGINS), ("", JOINS)], [WORKER, WORKER], "without the label it is a worker"),
]


@pytest.mark.parametrize(("machines", "roles", "reason"), TABLE, ids=[row[-1] for row in TABLE])
def test_the_label_makes_a_control_plane(
    machines: list[tuple[str, str]], roles: list[clusterpb.Role.ValueType], reason: str
) -> None:
    """No machine with the label is taken for a worker, and one of each cluster begins it."""
    texts = [
        MACHINE % {"name": f"{cluster}{index}", "cluster": cluster, "label": label, "spec": spec}
        for cluster in ("a", "b")
        for index, (label, spec) in enumerate(machines)
    ]
    found = by_name(manifests("".join(texts)))
    for cluster in ("a", "b"):
        assert [found[f"{cluster}{index}"].machine.role for index in range(len(roles))] == roles, reason


def test_a_labelled_config_is_one_of_a_control_plane() -> None:
    """KubeadmControlPlane gives the label to its configs, too: without their Machines they still are no workers."""
    config = MACHINE.rpartition("---")[2].replace("{name: %(name)s}", "{name: %(name)s, labels: {%(label)s}}")
    found = manifests(config % {"name": "a", "label": LABEL, "spec": JOINS})
    assert [one.machine.role for one in found.machines] == [JOIN]
