"""KubeadmConfigs of the corpus, each as a question to Slipway and as what today's provider would read.

A document of `corpus/` says in annotations which machines it is for; whole templates go through the same reader as
on the command line. Everything runs on bare metal here: there a machine knows its names without a cloud.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.bootstrapper.importers.foreign_config import Surroundings
from slipway.bootstrapper.importers.lone_config import import_kubeadm_config
from slipway.bootstrapper.importers.manifest_set import ManifestMachine
from slipway.bootstrapper.importers.manifests import read_manifests
from slipway.bootstrapper.importers.substitution import expand_all
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.oracles import cluster
from tools.oracles.kubeadm_provider import Role

CORPUS = Path(__file__).parent / "corpus"
EXAMPLES = Path(__file__).parents[2] / "examples"
ROLES = {
    Role.INIT: clusterpb.ROLE_INIT,
    Role.CONTROL_PLANE: clusterpb.ROLE_CONTROL_PLANE,
    Role.WORKER: clusterpb.ROLE_WORKER,
}
_SECRETS = {
    ("team", "hash"): b"$6$salt$WKhNPNW5.DIvZ8Kw0BbkeIPzlp6c7sHzdlKg",
    ("team", "file"): b"from a Secret\nwith two lines\n",
}


@dataclass(frozen=True)
class Config:
    """One KubeadmConfig for one machine.

    Attributes:
        name: of the document.
        kind: KubeadmConfig, or what else it stands in.
        api_version: of the spec, such as "v1beta2".
        spec: KubeadmConfigSpec as JSON has it.
        role: what the machine becomes.
        question: the machine for Slipway.
    """

    name: str
    kind: str
    api_version: str
    spec: Mapping[str, Any] = field(repr=False)
    role: Role
    question: MachineQuestion = field(repr=False)

    @property
    def version(self) -> str:
        """The machine's Kubernetes version."""
        return self.question.subject.machine.kubernetes_version

    @property
    def ignition(self) -> bool:
        """Whether the config is written for Ignition."""
        return bool(self.spec.get("format") == "ignition")

    def __str__(self) -> str:
        return f"{self.name}-{self.role}"


def corpus() -> Iterator[Config]:
    """All documents of `corpus/`, for each role that they name."""
    for document in documents().values():
        yield from configs_of(document)


def documents() -> dict[str, dict[str, Any]]:
    """The documents of `corpus/` by name; one that notes `spec-of` has the spec of another one."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(CORPUS.glob("*.yaml"))]
    found = {
        document["metadata"]["name"]: document
        for text in texts
        for document in yaml.load_all(text, Loader=yaml.CSafeLoader)
    }
    for one in found.values():
        one.setdefault("spec", found.get(one["metadata"]["annotations"].get("spec-of"), {}).get("spec"))
    return found


def configs_of(document: Mapping[str, Any], *, infrastructure: str = "metal") -> Iterator[Config]:
    """The machines of a KubeadmConfig with our annotations."""
    noted = document["metadata"]["annotations"]
    for word in noted["roles"].split():
        role = Role(word)
        machine = clusterpb.Machine(
            name="pier-0",
            role=ROLES[role],
            kubernetes_version=noted["version"],
            target=clusterpb.Target(
                os_family=clusterpb.OS_FAMILY_LINUX,
                distribution="debian",
                os_version="13",
                infrastructure=infrastructure,
            ),
        )
        surroundings = Surroundings(
            role=machine.role,
            target=machine.target,
            cluster=cluster.facts(),
            control_plane_version=noted["version"],
            secrets=_SECRETS,
        )
        found = import_kubeadm_config(json.dumps(document, ensure_ascii=False), surroundings)
        secrets = [secretpb.Secret(name=name, key=key, value=value) for (name, key), value in _SECRETS.items()]
        material = secretpb.SecretMaterial(secrets=[*secrets, *found.secrets])
        subject = bootstrappb.Subject(spec=found.spec, cluster=cluster.facts(), machine=machine)
        _set_own_endpoint(subject, found.cluster)
        yield Config(
            name=document["metadata"]["name"],
            kind=document["kind"],
            api_version=document["apiVersion"].rpartition("/")[2],
            spec=document["spec"],
            role=role,
            question=MachineQuestion(subject, material, list(found.diagnostics)),
        )


def _set_own_endpoint(subject: bootstrappb.Subject, own: clusterpb.Cluster) -> None:
    """An endpoint of kubeadm's own counts for control planes; discovery still goes to the cluster's."""
    if own.HasField("endpoint") and subject.machine.role != clusterpb.ROLE_WORKER:
        subject.cluster.endpoint.CopyFrom(own.endpoint)
        if subject.machine.role == clusterpb.ROLE_CONTROL_PLANE:
            subject.spec.join.kubernetes.discovery.token.endpoint = cluster.ENDPOINT


def example(name: str) -> list[Config]:
    """The Linux machines of one of our own templates."""
    return list(of_manifests({name: (EXAMPLES / name).read_text(encoding="utf-8")}))


def of_manifests(texts: Mapping[str, str]) -> Iterator[Config]:
    """The Linux machines of Cluster API manifests, moved to bare metal, and all of them in the same cluster."""
    expanded = expand_all(texts, variables={}, set_missing=True)
    documents = [
        document
        for each in expanded.values()
        for document in yaml.load_all(each.text, Loader=yaml.CSafeLoader)
        if document
    ]
    by_name = {f"{document['kind']}/{document['metadata']['name']}": document for document in documents}
    found = read_manifests(texts, set_missing=True)
    for machine in found.machines:
        if machine.machine.target.os_family != clusterpb.OS_FAMILY_WINDOWS:
            yield _of_machine(machine, by_name[machine.origin.document], machine.secrets)


def _of_machine(found: ManifestMachine, document: Mapping[str, Any], secrets: secretpb.SecretMaterial) -> Config:
    machine = clusterpb.Machine()
    machine.CopyFrom(found.machine)
    machine.target.infrastructure = "metal"
    subject = bootstrappb.Subject(spec=found.spec, cluster=cluster.facts(), machine=machine)
    spec: Any = document
    for part in found.origin.path.split("."):
        spec = spec.get(part) or {}
    if (spec.get("clusterConfiguration") or {}).get("controlPlaneEndpoint"):
        _set_own_endpoint(subject, found.cluster)
    return Config(
        name=found.machine.name,
        kind=document["kind"],
        api_version=document["apiVersion"].rpartition("/")[2],
        spec=spec,
        role={number: role for role, number in ROLES.items()}[machine.role],
        question=MachineQuestion(subject, secrets, list(found.diagnostics)),
    )


def codes(diagnostics: Sequence[diagnosticpb.Diagnostic]) -> set[str]:
    """The codes of diagnostics, for messages of tests."""
    return {diagnostic.code for diagnostic in diagnostics}
