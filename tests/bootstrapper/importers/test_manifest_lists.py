"""What `kubectl get -o yaml` prints of a management cluster gives the same machines as what was once applied."""

from tests.bootstrapper.importers.manifest_texts import CLASS, INIT, JOIN, TOPOLOGY, WORKER, by_name, manifests

LIST = """
apiVersion: v1
kind: List
metadata: {resourceVersion: ""}
items:
- apiVersion: cluster.x-k8s.io/v1beta2
  kind: Cluster
  metadata: {name: c, namespace: default, uid: u}
  spec:
    controlPlaneEndpoint: {host: cp.example.com, port: 6443}
    controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: c}
  status: {phase: Provisioned}
- apiVersion: cluster.x-k8s.io/v1beta2
  kind: Machine
  metadata: {name: c-x, namespace: default, labels: {cluster.x-k8s.io/control-plane: ""},
             ownerReferences: [{apiVersion: v, kind: KubeadmControlPlane, name: c, uid: u, controller: true}]}
  spec: {clusterName: c, bootstrap: {configRef: {kind: KubeadmConfig, name: c-x}, dataSecretName: c-x},
         infrastructureRef: {kind: DockerMachine, name: c-x}, providerID: x}
- apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
  kind: KubeadmConfig
  metadata: {name: c-x, namespace: default,
             ownerReferences: [{apiVersion: v, kind: Machine, name: c-x, uid: u, controller: true}]}
  spec: {initConfiguration: {nodeRegistration: {criSocket: /x}}}
- apiVersion: cluster.x-k8s.io/v1beta2
  kind: MachineSet
  metadata: {name: md-1, namespace: default,
             ownerReferences: [{apiVersion: v, kind: MachineDeployment, name: md, uid: u, controller: true}]}
  spec:
    clusterName: c
    template: {spec: {clusterName: c, bootstrap: {configRef: {kind: KubeadmConfigTemplate, name: w}}}}
- apiVersion: controlplane.cluster.x-k8s.io/v1beta2
  kind: KubeadmControlPlane
  metadata: {name: c, namespace: default}
  spec: {replicas: 1, version: v1.34.1, kubeadmConfigSpec: {}}
- apiVersion: cluster.x-k8s.io/v1beta2
  kind: MachineDeployment
  metadata: {name: md, namespace: default}
  spec:
    clusterName: c
    template: {spec: {clusterName: c, bootstrap: {configRef: {kind: KubeadmConfigTemplate, name: w}}}}
- apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
  kind: KubeadmConfigTemplate
  metadata: {name: w, namespace: default}
"""


def test_what_an_object_has_made_is_not_taken_for_more_machines() -> None:
    """A Machine of a control plane, its config, and the set of a deployment are left alone, each with a note."""
    found = manifests(LIST)
    assert {name: one.machine.role for name, one in by_name(found).items()} == {
        "c-init": INIT,
        "c-join": JOIN,
        "md": WORKER,
    }
    assert [str(note).split(": ", 2)[1:] for note in found.notes] == [
        ["Machine/c-x", "KubeadmControlPlane/c has made it and defines it: it is left alone"],
        ["MachineSet/md-1", "MachineDeployment/md has made it and defines it: it is left alone"],
    ]


def test_a_machine_without_its_owner_speaks_for_itself() -> None:
    """Where nothing else tells of it, it is a machine."""
    before, _, after = LIST.partition("- apiVersion: controlplane")
    text = before + "- apiVersion: cluster" + after.partition("- apiVersion: cluster")[2]
    assert {name: one.machine.role for name, one in by_name(manifests(text)).items()} == {"c-x": INIT, "md": WORKER}


def test_the_kind_of_a_provider_is_no_slip_for_the_kind_it_is_named_after() -> None:
    """DockerMachine is not Machine misspelt, nor the template of it; a real slip is told."""
    assert not manifests(LIST).doubts
    text = LIST + (
        "- apiVersion: infrastructure.cluster.x-k8s.io/v1beta2\n  kind: %s\n  metadata: {name: t, namespace: default}\n"
    )
    machine = LIST.replace("KubeadmControlPlane, name: c, uid", "Other, name: c, uid")
    assert not manifests(machine).doubts
    assert not manifests(text % "DockerMachineTemplate").doubts
    assert "did you mean DokcerMachine?" in str(manifests(text % "DokcerMachine").doubts[0])


MADE = """
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: c-abc}
spec: {version: v1.33.0, replicas: 3, kubeadmConfigSpec: {clusterConfiguration: {imageRepository: patched}}}
"""


def test_what_was_made_of_a_topology_counts_for_more_than_its_class() -> None:
    """It has the patches; only what was not made yet comes from the class, which is not needed."""
    made = TOPOLOGY.replace("spec:\n", "spec:\n  controlPlaneRef: {kind: KubeadmControlPlane, name: c-abc}\n", 1) + MADE
    for text, workers in ((made, set[str]()), (made + CLASS, {"c-md-0", "c-mp-0"})):
        found = by_name(manifests(text))
        assert set(found) == {"c-abc-init", "c-abc-join", *workers}
        assert found["c-abc-init"].spec.kubernetes.images.repository == "patched"
