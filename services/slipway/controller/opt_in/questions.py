"""From an opted-in KubeadmConfig to the question of the bootstrapper, by the importer that reads templates as well.

What a KubeadmConfig has no field for is said by annotations: the provisioner and its format, the kubeadm of an image
whose version is not the Machine's, where the machine reports to, and compliance profiles. KubeadmControlPlane and
MachineSets copy them from their templates.
"""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.importers.cluster_api.infrastructure import infrastructure_of
from slipway.bootstrapper.importers.foreign_config import ForeignConfig, ImportResult, Surroundings
from slipway.bootstrapper.importers.kubeadm_import import import_config
from slipway.bootstrapper.importers.mapping.endpoint import cluster_of, spec_of
from slipway.bootstrapper.provisioning.wish import Wish
from slipway.bootstrapper.target import stated
from slipway.contract.source_position import Position, SourceError
from slipway.contract.yaml_decode import fill
from slipway.contract.yaml_document import Shape, Source
from slipway.contract.yaml_limits import SHORT
from slipway.contract.yaml_source import load_documents
from slipway.controller import ownership
from slipway.controller.cluster_object import ClusterObject
from slipway.controller.control_planes import ControlPlanes
from slipway.controller.facts import Facts
from slipway.controller.halt import Halt
from slipway.controller.opt_in.reporting import asks_for_address, reporting_of
from slipway.controller.question import Depends, Question
from slipway.controller.reasons import Reason
from slipway.controller.referenced_values import Key
from slipway.controller.references import external_etcd, secret_values
from slipway.controller.secret_reader import SecretReader
from slipway.controller.subject import cluster_facts, subject_of
from slipway.controller.work_budget import Share
from slipway.kubernetes_api.resources import KUBEADM_CONFIGS, Json
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb

_KUBEADM = "kubeadm"

_COMPLIANCE = ("metadata", "annotations", ownership.COMPLIANCE)


@dataclass(frozen=True, slots=True)
class KubeadmQuestions:
    """Makes questions of opted-in KubeadmConfigs."""

    reader: SecretReader
    control_planes: ControlPlanes
    bootstrapper: Bootstrapper
    depends: Depends

    async def ask(
        self, facts: Facts, cluster: ClusterObject, *, role: clusterpb.Role.ValueType, share: Share
    ) -> Question:
        """See Questions: the import needs the values, so they are read here."""
        tree: Json = facts.config.get("spec") or {}
        if presets_token(tree):
            raise Halt(Reason.BOOTSTRAP_TOKEN_PRESET)
        wanted = list(_references(tree))
        self.depends(facts, frozenset(("Secret", name) for _, (name, _) in wanted))
        version = await self.control_planes.version(cluster)
        values = await self._values(cluster, wanted, share)
        # An object has up to 1.5 MB, and the controller watches and answers meanwhile.
        work = partial(_imported, facts, cluster, role=role, version=version, values=values)
        result = await asyncio.to_thread(work)
        subject = self._subject(facts, cluster, result, role=role, version=version)
        self._check_control_plane(cluster, subject)
        share.take(sum(len(secret.value) for secret in result.secrets))
        complete = partial(self._material, cluster=cluster, result=result, values=values, role=role)
        return Question(subject, complete, asks_for_address=asks_for_address(facts.config))

    def _subject(
        self,
        facts: Facts,
        cluster: ClusterObject,
        result: ImportResult,
        *,
        role: clusterpb.Role.ValueType,
        version: str,
    ) -> bootstrappb.Subject:
        known = cluster_facts(cluster, version or _version(facts))
        spec = spec_of(known, result, role=role)
        _add_annotated(spec, facts.config)
        engines = self.bootstrapper.compiler.engines
        subject = subject_of(facts, spec, role=role, control_plane_version=version, engines=engines)
        subject.cluster.CopyFrom(cluster_of(subject.cluster, result, role=role))
        return subject

    def _check_control_plane(self, cluster: ClusterObject, subject: bootstrappb.Subject) -> None:
        """Refuse what KubeadmControlPlane could not look after.

        Raises:
            Halt: the provisioner makes machines without kubeadm, or for Windows only.
        """
        if subject.machine.role == clusterpb.ROLE_WORKER or cluster.control_plane_family != _KUBEADM:
            return
        wish = Wish.of(subject.spec, stated(subject.spec.target, subject.machine.target))
        candidate = self.bootstrapper.choose(wish)
        if not candidate.takes_plan or clusterpb.OS_FAMILY_LINUX not in candidate.format.os_families:
            message = f"KubeadmControlPlane does not support machines of provisioner {candidate.name}"
            raise Halt(Reason.CONTROL_PLANE_NEEDS_KUBEADM, message)

    async def _values(self, cluster: ClusterObject, wanted: list[tuple[str, Key]], share: Share) -> Mapping[Key, bytes]:
        values = await secret_values(wanted, self.reader, cluster, share=share)
        missing = [f"key {key} of Secret {name}" for name, key in sorted({key for _, key in wanted} - values.keys())]
        if missing:
            raise Halt(Reason.WAITING_FOR_SECRET, f"the spec refers to {', '.join(missing)}: not there")
        return values

    async def _material(
        self,
        spec: specpb.MachineBootstrapSpec,
        *,
        cluster: ClusterObject,
        result: ImportResult,
        values: Mapping[Key, bytes],
        role: clusterpb.Role.ValueType,
    ) -> secretpb.SecretMaterial:
        material = secretpb.SecretMaterial()
        every = {**values} | {(secret.name, secret.key): secret.value for secret in result.secrets}
        for (name, key), value in sorted(every.items()):
            material.secrets.add(name=name, key=key, kind=secretpb.SECRET_KIND_OPAQUE, value=value)
        if spec.kubernetes.etcd.HasField("external") and role != clusterpb.ROLE_WORKER:
            material.secrets.extend(await external_etcd(self.reader, cluster))
        return material


def presets_token(tree: Json) -> bool:
    """Whether a KubeadmConfigSpec has a joinConfiguration.discovery.bootstrapToken, be it an empty one."""
    value: object = tree
    for name in ("joinConfiguration", "discovery", "bootstrapToken"):
        value = value.get(name) if isinstance(value, dict) else None
    return value is not None


def _references(tree: Json) -> Iterator[tuple[str, Key]]:
    """Give path, name and key of every Secret that a KubeadmConfigSpec refers to, as far as it is well formed."""
    for items, source in (("files", "contentFrom"), ("users", "passwdFrom")):
        for index, item in enumerate(tree.get(items) or ()):
            secret = ((item.get(source) or {}) if isinstance(item, dict) else {}).get("secret") or {}
            if secret.get("name") and secret.get("key"):
                yield f"spec.{items}[{index}].{source}.secret", (str(secret["name"]), str(secret["key"]))


def _imported(
    facts: Facts, cluster: ClusterObject, *, role: clusterpb.Role.ValueType, version: str, values: Mapping[Key, bytes]
) -> ImportResult:
    target = clusterpb.Target()
    if facts.owner is not None and infrastructure_of(facts.owner.infrastructure_kind):
        target.infrastructure = infrastructure_of(facts.owner.infrastructure_kind)
    config = ForeignConfig(
        kind=KUBEADM_CONFIGS.kind,
        name="",  # as read_spec() does: the configs of a template remain the same but for their machines
        api_version=str(facts.config.get("apiVersion") or KUBEADM_CONFIGS.api_version),
        tree=facts.config.get("spec") or {},
        source=Source("", Shape(Position(1, 1))),
        path=("spec",),
    )
    surroundings = Surroundings(
        role=role,
        target=target,
        cluster=cluster_facts(cluster, version or _version(facts)),
        control_plane_version=version,
        secrets=values,
        whole=True,
    )
    return import_config(config, surroundings)


def _add_annotated(spec: specpb.MachineBootstrapSpec, config: Json) -> None:
    if ownership.annotation(config, ownership.PROVISIONER):
        spec.provisioner.name = ownership.annotation(config, ownership.PROVISIONER)
    if ownership.annotation(config, ownership.FORMAT):
        spec.provisioner.format = ownership.annotation(config, ownership.FORMAT)
    if ownership.annotation(config, ownership.KUBEADM_VERSION):
        spec.engine_options.kubeadm.version = ownership.annotation(config, ownership.KUBEADM_VERSION)
    reporting = reporting_of(config)
    if reporting is not None:
        spec.reporting.CopyFrom(reporting)
    compliance = compliance_of(config)
    if compliance is not None:
        spec.compliance.CopyFrom(compliance)


def _version(facts: Facts) -> str:
    return "" if facts.owner is None else facts.owner.version


def compliance_of(config: Json) -> specpb.Compliance | None:
    """Read the annotation that holds what a SlipwayConfig has in `spec.compliance`; None if the config has none.

    Raises:
        SourceError: it is no YAML, or holds something else than profiles and waivers; by field path.
    """
    if ownership.COMPLIANCE not in (config["metadata"].get("annotations") or {}):
        return None
    text = ownership.annotation(config, ownership.COMPLIANCE)
    source = Source("", Shape(Position(1, 1)))
    try:
        documents = load_documents(text, file="", limits=SHORT)
    except SourceError as error:
        raise SourceError(source.problem(_COMPLIANCE, problem.message) for problem in error.problems) from None
    if len(documents) != 1:
        raise SourceError([source.problem(_COMPLIANCE, "must be one mapping in YAML, with profiles and waivers")])
    compliance = specpb.Compliance()
    problems = fill(documents[0].value, compliance, path=_COMPLIANCE, document=KUBEADM_CONFIGS.kind)
    if problems:
        raise SourceError(source.problem(path, message) for path, message in problems)
    return compliance
