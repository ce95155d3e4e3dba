"""What stands in several namespaces of one input is kept apart, as Kubernetes does; `default` is the one not named."""

import pytest

from slipway.bootstrapper.documents.document_set import DocumentSet, read_document_set
from slipway.bootstrapper.documents.machines import MachineQuestion

ALL = """
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c%(namespace)s}
spec:
  controlPlaneEndpoint: {host: %(host)s, port: 6443}
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: cp}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: cp%(namespace)s}
spec:
  version: %(version)s
  machineTemplate: {spec: {infrastructureRef: {kind: AWSMachineTemplate, name: m}}}
  kubeadmConfigSpec:
    files: [{path: /a, contentFrom: {secret: {name: s, key: k}}}]
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachineTemplate
metadata: {name: m%(namespace)s}
spec: {template: {spec: {imageLookupBaseOS: %(base)s}}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: md%(namespace)s}
spec:
  clusterName: c
  template:
    spec:
      clusterName: c
      version: %(version)s
      bootstrap: {configRef: {kind: SlipwayConfigTemplate, name: w}}
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayConfigTemplate
metadata: {name: w%(namespace)s}
spec:
  template:
    spec:
      os:
        files:
          - {path: /s, content: {secretRef: {name: s, key: k}}}
          - {path: /c, content: {configMapRef: {name: m, key: k}}}
---
apiVersion: v1
kind: Secret
metadata: {name: s%(namespace)s}
stringData: {k: %(host)s}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: m%(namespace)s}
data: {k: %(host)s}
"""
ONE = {"namespace": "", "host": "one", "version": "v1.33.1", "base": "flatcar-stable"}
TWO = {"namespace": ", namespace: two", "host": "two", "version": "v1.34.1", "base": "ubuntu-24.04"}
WORDS = {"left out": "", "written out": ", namespace: default"}


def read(text: str) -> DocumentSet:
    """Read one file."""
    return read_document_set({"f.yaml": text}, variables={})


def told(one: MachineQuestion) -> tuple[object, ...]:
    """Give what differs between the two namespaces."""
    machine, cluster = one.subject.machine, one.subject.cluster
    values = [each.value.decode() for each in one.secrets.secrets]
    texts = [each.content.data.decode() for each in one.subject.spec.os.files if each.content.data]
    version = machine.kubernetes_version
    return cluster.namespace, cluster.endpoint.host, version, machine.target.distribution, values, texts


@pytest.mark.parametrize("order", [(ONE, TWO), (TWO, ONE)], ids=["one first", "two first"])
@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
def test_the_same_names_in_two_namespaces_are_two_clusters(word: str, order: tuple[dict[str, str], ...]) -> None:
    """Clusters, versions, machine templates, Secrets and ConfigMaps are those of the machine's own namespace."""
    texts = [ALL % ({**each, "namespace": each["namespace"] or word}) for each in order]
    found = [told(one) for one in read("---".join(texts)).questions]
    alone = [told(one) for text in texts for one in read(text).questions]
    assert sorted(found) == sorted(alone)
    assert ("", "one", "v1.33.1", "flatcar", ["one\n"], []) in found
    assert ("two", "two", "v1.34.1", "", ["two"], ["two"]) in found


def test_default_is_the_namespace_that_is_not_named() -> None:
    """A Cluster in `default` and machines without a namespace belong together, and so do their Secrets."""
    first, *others = (ALL % ONE).split("---")
    text = "---".join([first.replace("{name: c}", "{name: c, namespace: default}"), *others])
    assert [told(one) for one in read(text).questions] == [told(one) for one in read(ALL % ONE).questions]


def test_an_object_of_another_namespace_is_not_taken() -> None:
    """A Secret of the same name elsewhere is none of this machine, and a Cluster elsewhere tells it nothing."""
    cluster, _, _, _, _, secret, _ = ALL.split("---")
    text = (ALL % TWO).replace(secret % TWO, secret % ONE).replace(cluster % TWO, cluster % ONE)
    for one in read(text).questions:
        assert not one.secrets.secrets
        assert not one.subject.cluster.endpoint.host


def test_a_field_is_found_in_the_document_of_its_namespace() -> None:
    """Messages name the line of the machine's own document, not that of the one with the same name elsewhere."""
    found = read((ALL % ONE) + "---" + (ALL % TWO))
    lines = []
    for one in found.questions:
        place = found.places.find("KubeadmControlPlane/cp: spec.version", namespace=one.standing.namespace)
        assert place is not None
        assert place.position is not None
        lines.append(place.position.line)
    assert len(set(lines)) == 2


NATIVE = """
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayCluster
metadata: {name: c%(namespace)s}
spec:
  cluster: {name: c, endpoint: {host: %(host)s}, kubernetesVersion: %(version)s}
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayConfig
metadata: {name: %(host)s%(namespace)s}
spec: {os: {timeZone: {name: UTC}}}
"""


def test_a_lone_config_belongs_to_the_cluster_of_its_namespace() -> None:
    """With one cluster in each namespace there is nothing to ask; explicit `default` is the one not named."""
    found = read(NATIVE % {**ONE, "namespace": ", namespace: default"} + "---" + NATIVE % TWO).questions
    assert {one.name: (one.subject.cluster.endpoint.host, one.subject.cluster.namespace) for one in found} == {
        "one": ("one", ""),
        "two": ("two", "two"),
    }
