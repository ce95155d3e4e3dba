"""A set of manifests with everything in it, and how tests read it."""

from textwrap import dedent

from slipway.bootstrapper.importers.manifest_set import ManifestMachine, ManifestSet
from slipway.bootstrapper.importers.manifests import read_manifests
from slipway.v1alpha1 import cluster_pb2 as clusterpb

INIT, JOIN, WORKER = clusterpb.ROLE_INIT, clusterpb.ROLE_CONTROL_PLANE, clusterpb.ROLE_WORKER
CLUSTER = """
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: "${CLUSTER_NAME}", namespace: ns}
spec:
  clusterNetwork:
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
    serviceDomain: k8s.example.com
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: "${CLUSTER_NAME}-cp"}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: VSphereCluster, name: "${CLUSTER_NAME}"}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: VSphereCluster
metadata: {name: "${CLUSTER_NAME}", namespace: ns}
spec: {controlPlaneEndpoint: {host: "${CONTROL_PLANE_ENDPOINT_IP}", port: 8443}, server: x}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: "${CLUSTER_NAME}-cp", namespace: ns}
spec:
  replicas: 3
  version: ${KUBERNETES_VERSION}
  machineTemplate: {spec: {infrastructureRef: {kind: VSphereMachineTemplate, name: linux}}}
  kubeadmConfigSpec:
    clusterConfiguration: {imageRepository: r.example.com}
    initConfiguration: {nodeRegistration: {name: "{{ local_hostname }}"}}
    joinConfiguration: {nodeRegistration: {name: "{{ local_hostname }}"}}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: "${CLUSTER_NAME}-win", namespace: ns}
spec:
  clusterName: "${CLUSTER_NAME}"
  replicas: 2
  selector: {matchLabels: null}
  template:
    spec:
      clusterName: "${CLUSTER_NAME}"
      version: v1.33.0
      bootstrap: {configRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: win}}
      infrastructureRef: {kind: VSphereMachineTemplate, name: windows}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfigTemplate
metadata: {name: win, namespace: ns}
spec:
  template:
    spec:
      preKubeadmCommands: [echo]
      files: [{path: 'C:/a', contentFrom: {secret: {name: user, key: text}}}]
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: VSphereMachineTemplate
metadata: {name: windows, namespace: ns}
spec: {template: {spec: {os: Windows}}}
---
apiVersion: v1
kind: Secret
metadata: {name: user, namespace: ns}
stringData: {text: hello, unused: x}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: addon, namespace: ns}
data:
  addon.yaml: |
    ---
    kind: KubeadmControlPlane
    spec: {kubeadmConfigSpec: {nonsense: true}}
---
apiVersion: addons.cluster.x-k8s.io/v1beta2
kind: ClusterResourceSet
metadata: {name: addon, namespace: ns}
"""
VARIABLES = {"CLUSTER_NAME": "c1", "CONTROL_PLANE_ENDPOINT_IP": "10.0.0.9", "KUBERNETES_VERSION": "v1.34.1"}

TOPOLOGY = """
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c}
spec:
  controlPlaneEndpoint: {host: cp.example.com, port: 7443}
  topology:
    classRef: {name: quick}
    version: v1.33.0
    workers:
      machineDeployments: [{class: small, name: md-0, replicas: 4}]
      machinePools: [{class: pool, name: mp-0}]
"""
CLASS = """
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: quick}
spec:
  controlPlane:
    templateRef: {kind: KubeadmControlPlaneTemplate, name: cp}
    machineInfrastructure: {templateRef: {kind: DockerMachineTemplate, name: cp}}
  workers:
    machineDeployments: [{class: small, bootstrap: {templateRef: {kind: KubeadmConfigTemplate, name: w}},
                          infrastructure: {templateRef: {kind: DockerMachineTemplate, name: w}}}]
    machinePools: [{class: pool, template: {bootstrap: {ref: {kind: KubeadmConfigTemplate, name: w}}}}]
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlaneTemplate
metadata: {name: cp}
spec: {template: {spec: {kubeadmConfigSpec: {clusterConfiguration: {imageRepository: r}}}}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {name: w}
"""


def manifests(text: str, **arguments: object) -> ManifestSet:
    """Read one file."""
    return read_manifests({"f.yaml": dedent(text)}, **arguments)  # type: ignore[arg-type]


def line_of(text: str) -> int:
    """Give the line of the cluster's file in which a text starts."""
    return CLUSTER[: CLUSTER.index(text)].count("\n") + 1


def by_name(found: ManifestSet) -> dict[str, ManifestMachine]:
    """Give the machines by name."""
    return {each.machine.name: each for each in found.machines}
