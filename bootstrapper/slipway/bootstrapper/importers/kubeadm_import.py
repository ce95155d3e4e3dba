"""A KubeadmConfigSpec, wherever it stands, becomes a neutral spec that behaves on the machine as it does today.

What cannot be carried over is an error with its place; what is understood differently, or has no effect today
either, is a diagnostic with its place. Nothing is dropped in silence.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from slipway.bootstrapper.importers.container_linux_config import read_container_linux_config
from slipway.bootstrapper.importers.foreign import read
from slipway.bootstrapper.importers.foreign_config import ForeignConfig, ImportResult, Surroundings
from slipway.bootstrapper.importers.kubeadm_config import v1beta1, v1beta2
from slipway.bootstrapper.importers.mapping.accounts import set_accounts
from slipway.bootstrapper.importers.mapping.commands import set_commands
from slipway.bootstrapper.importers.mapping.context import CLOUD_CONFIG, EXECUTES, IGNITION, Context, unquoted
from slipway.bootstrapper.importers.mapping.control_plane import set_cluster_configuration
from slipway.bootstrapper.importers.mapping.disks import set_disks, set_mounts
from slipway.bootstrapper.importers.mapping.endpoint import endpoint
from slipway.bootstrapper.importers.mapping.feature_gates import set_local_mode
from slipway.bootstrapper.importers.mapping.files import file_item, normal_path
from slipway.bootstrapper.importers.mapping.hiding_mounts import warn_of_hidden
from slipway.bootstrapper.importers.mapping.node import set_init, set_join
from slipway.bootstrapper.importers.mapping.ntp import set_ntp
from slipway.bootstrapper.importers.mapping.place import Findings, Place
from slipway.bootstrapper.importers.mapping.raw_items import keep_file
from slipway.bootstrapper.importers.mapping.rules import check_rules, unused_by_workers
from slipway.bootstrapper.importers.mapping.snippet import set_snippet
from slipway.bootstrapper.importers.mapping.whole_disks import leave_out_tables
from slipway.bootstrapper.importers.metadata_variables import FilledIn, filled_in
from slipway.bootstrapper.importers.mixed_templates import mixed
from slipway.contract.source_position import SourceError, SourceProblem
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import spec_pb2 as specpb

_WINDOWS_PATH = re.compile(r"[A-Za-z]:[\\/]|npipe:")
_CONTROL_PLANE_KINDS = frozenset({"KubeadmControlPlane", "KubeadmControlPlaneTemplate"})
_OPTIONS = "engineOptions.kubeadm"

__all__ = ["ForeignConfig", "ImportResult", "Surroundings", "import_config"]


def import_config(config: ForeignConfig, surroundings: Surroundings | None = None) -> ImportResult:
    """Carry over a config.

    Raises:
        SourceError: the config breaks its schema or says something that cannot be carried over; everything that
            was found is in it.
    """
    known = surroundings or Surroundings()
    importing = _Import(config, known)
    result = importing.result()
    if mixed(result.spec):
        # Only cloud-init can render it, wherever the config stands.
        return _Import(config, replace(known, facts=False, whole=True)).result()
    if importing.findings.needs_jinja:
        return _Import(config, replace(known, facts=False)).result()
    return result


class _Import:
    def __init__(self, config: ForeignConfig, surroundings: Surroundings) -> None:
        self.config = config
        self.findings = Findings()
        if surroundings.target.infrastructure == EXECUTES:
            config = self.config = replace(config, tree=unquoted(config.tree))
        converted = _converted(config)
        self.foreign = converted.spec
        self.place = Place(config.document, config.source, config.path, moved=converted.moved)
        for path, message in converted.dropped:
            self.findings.warn(self.place.at(*path), "NO_EFFECT", message)
        target = clusterpb.Target()
        target.CopyFrom(surroundings.target)
        if not target.os_family and any(_WINDOWS_PATH.match(text) for text in _paths(self.foreign)):
            target.os_family = clusterpb.OS_FAMILY_WINDOWS
            self.findings.inform(self.place, "WINDOWS", "paths of this config are those of Windows: so is the machine")
        elif not target.os_family and self.foreign.format == IGNITION:
            target.os_family = clusterpb.OS_FAMILY_LINUX  # Ignition is for nothing else.
        self.spec = specpb.MachineBootstrapSpec()
        if target.os_family and not surroundings.target.os_family:
            self.spec.target.os_family = target.os_family
        self.context = Context(
            format=self.foreign.format or CLOUD_CONFIG,
            role=surroundings.role,
            target=target,
            cluster=surroundings.cluster,
            control_plane_version=surroundings.control_plane_version,
            secrets=surroundings.secrets,
            set_missing=surroundings.set_missing,
            findings=self.findings,
            whole=surroundings.whole,
            facts=surroundings.facts,
        )

    def result(self) -> ImportResult:
        check_rules(self.findings, self.place, self.foreign)
        self.context = replace(self.context, filled=self.filled())
        self.set_os()
        self.set_kubernetes()
        if self.config.kind in _CONTROL_PLANE_KINDS:
            set_local_mode(self.context, self.place, self._own_gates(), self.spec)
        self.set_provenance()
        cluster = endpoint(self.context, self.place, self.foreign, worker=self.is_worker())
        if self.findings.problems:
            raise SourceError(self.findings.problems)
        for name in ("os", "kubernetes"):
            if not getattr(self.spec, name).ByteSize():
                self.spec.ClearField(name)
        findings, derived = tuple(self.findings.diagnostics), tuple(self.context.derived)
        return ImportResult(self.spec, findings, cluster, derived, self.written())

    def written(self) -> dict[str, str]:
        """Give where the plain values of the spec stand; what Slipway added stands for the whole config."""
        whole, cluster = self.place, self.place.at("clusterConfiguration")
        given = self._own_gates()
        gates = (gate.name for gate in self.spec.engine_options.kubeadm.feature_gates)
        places = {
            **dict.fromkeys(("commands", "engineOptions", "kubernetes", "os", "spec", "target.osFamily"), whole),
            **dict.fromkeys(("kubernetes.images", "kubernetes.images.repository"), cluster.at("imageRepository")),
            f"{_OPTIONS}.certificateValidity": cluster.at("certificateValidityPeriodDays"),
            f"{_OPTIONS}.etcdServerSans": cluster.at("etcd", "local", "serverCertSANs"),
            f"{_OPTIONS}.etcdPeerSans": cluster.at("etcd", "local", "peerCertSANs"),
            "os.defaultUser": whole.at("users"),
            **{
                f"{_OPTIONS}.featureGates[{index}]": cluster.at("featureGates", name) if name in given else whole
                for index, name in enumerate(gates)
            },
        }
        return {name: f"{place.document}: {place.text}" for name, place in places.items()}

    def filled(self) -> FilledIn:
        """Give what pre-commands fill into kubeadm's file, unless some of it means no fact."""
        if self.context.format != IGNITION:
            return FilledIn()
        texts = [file.content for file in self.foreign.files if file.content]
        filled = filled_in(self.foreign.pre_kubeadm_commands, texts=[*texts, self.snippet_text()])
        if any(filled.pieces(text) is None for text in self.kubeadm_texts()):
            return FilledIn()
        for index in filled.commands:
            message = "not needed any more: what it fills in is understood as a fact of the machine"
            self.findings.inform(self.place.at("preKubeadmCommands", index), "MACHINE_FACT", message)
        return filled

    def kubeadm_texts(self) -> Iterator[str]:
        names = {"cluster_configuration", "init_configuration", "join_configuration"}
        yield from _texts(self.foreign.model_dump(include=names, exclude_unset=True))

    def snippet_text(self) -> str:
        ignition = self.foreign.ignition
        snippet = ignition.container_linux_config if ignition else None
        return snippet.additional_config if snippet else ""

    def set_os(self) -> None:
        foreign, place, context, os = self.foreign, self.place, self.context, self.spec.os
        for index, file in enumerate(foreign.files):
            if normal_path(file.path) in self.overwritten():
                message = "has no effect today either: the kubeadm provider writes this file after it"
                self.findings.warn(place.at("files", index), "NO_EFFECT", message)
            elif not keep_file(context, place.at("files", index), file, self.spec):
                os.files.append(file_item(context, place.at("files", index), file))
        optional = set_accounts(context, place.at("users"), foreign.users, self.spec)
        self.spec.optional_features.extend(optional)
        if foreign.disk_setup is not None:
            set_disks(context, place.at("diskSetup"), foreign.disk_setup, self.spec)
        set_mounts(context, place.at("mounts"), foreign.mounts, self.spec)
        if foreign.ntp is not None:
            set_ntp(context, place.at("ntp"), foreign.ntp, self.spec)
        if self.snippet_text():
            here = place.at("ignition", "containerLinuxConfig", "additionalConfig")
            snippet = read_container_linux_config(self.snippet_text(), source=place.source, path=here.written)
            set_snippet(context, here, snippet, self.spec)
        warn_of_hidden(context, place.at("mounts"), os)
        leave_out_tables(context, place, self.spec)
        lists = {
            "bootCommands": foreign.boot_commands,
            "preKubeadmCommands": foreign.pre_kubeadm_commands,
            "postKubeadmCommands": foreign.post_kubeadm_commands,
        }
        commands = planpb.Commands()
        set_commands(context, place, lists, commands, skipped=context.filled.commands)
        if commands.ByteSize():
            self.spec.commands.CopyFrom(commands)

    def overwritten(self) -> set[str]:
        """Give the paths that today's provider writes after the config's own files, on every machine."""
        if self.context.format != IGNITION:
            return {"/run/cluster-api/placeholder"}
        ntp = self.foreign.ntp
        return {"/etc/kubeadm.sh"} | ({"/etc/ntp.conf"} if ntp and ntp.enabled and ntp.servers else set())

    def set_kubernetes(self) -> None:
        foreign, place, spec = self.foreign, self.place, self.spec
        worker = self.is_worker()
        cluster, init, join = foreign.cluster_configuration, foreign.init_configuration, foreign.join_configuration
        if cluster is not None and not worker:
            set_cluster_configuration(self.context, place.at("clusterConfiguration"), cluster, spec)
        overrides = specpb.RoleOverrides(), specpb.RoleOverrides()
        if init is not None and not worker:
            set_init(self.context, place.at("initConfiguration"), init, overrides[0])
        if join is not None:
            set_join(self.context, place.at("joinConfiguration"), join, overrides[1])
            if worker and join.control_plane is not None:
                message = "must not be set: the machine is a worker"
                self.findings.refuse(place.at("joinConfiguration", "controlPlane"), message)
        if worker:
            self.warn_of_unused()
        for each in overrides:
            # A list of a role replaces that of the spec.
            own = each.engine_options.kubeadm.machine_values
            if own:
                own.extend(spec.engine_options.kubeadm.machine_values)
        self.place_overrides(*overrides)
        if foreign.verbosity is not None:
            spec.engine_options.kubeadm.verbosity = foreign.verbosity
            if not spec.engine_options.kubeadm.HasField("origin"):
                spec.engine_options.kubeadm.origin.CopyFrom(place.at("verbosity").origin())

    def is_worker(self) -> bool:
        if self.context.role:
            return self.context.role == clusterpb.ROLE_WORKER
        join = self.foreign.join_configuration
        plane = self.foreign.cluster_configuration or self.foreign.init_configuration or (join and join.control_plane)
        return self.config.kind not in _CONTROL_PLANE_KINDS and not plane

    def warn_of_unused(self) -> None:
        carried = [written for path, written in self.place.moved.items() if path[0] == "joinConfiguration"]
        for path in unused_by_workers(self.config.tree, carried):
            message = "has no effect on a worker, and is not carried over"
            self.findings.warn(self.place.at(*path), "NO_EFFECT", message)

    def place_overrides(self, init: specpb.RoleOverrides, join: specpb.RoleOverrides) -> None:
        """Put what differs by role where it belongs: what is for another role has no effect today."""
        both = bool(init.ByteSize() and join.ByteSize()) or self.config.kind in _CONTROL_PLANE_KINDS
        for overrides, item, role in (
            (init, self.spec.init, clusterpb.ROLE_INIT),
            (join, self.spec.join, clusterpb.ROLE_CONTROL_PLANE),
        ):
            if both or not (self.is_worker() or self.context.role == role):
                if overrides.ByteSize():
                    item.CopyFrom(overrides)
            else:
                self.spec.kubernetes.MergeFrom(overrides.kubernetes)
                self.spec.engine_options.MergeFrom(overrides.engine_options)
        self.warn_of_another_role()

    def warn_of_another_role(self) -> None:
        others = {clusterpb.ROLE_INIT: "joinConfiguration", clusterpb.ROLE_CONTROL_PLANE: "initConfiguration"}
        key = others.get(self.context.role)
        if key in (self.config.tree or ()) and self.config.kind not in _CONTROL_PLANE_KINDS:
            self.findings.warn(self.place.at(str(key)), "NO_EFFECT", "has no effect on a machine of this role")

    def _own_gates(self) -> Mapping[str, bool]:
        return self.foreign.cluster_configuration.feature_gates if self.foreign.cluster_configuration else {}

    def set_provenance(self) -> None:
        policy, imported = self.spec.execution, self.spec.imported
        keep_going = self.context.format == CLOUD_CONFIG
        after = planpb.FAILURE_POLICY_CONTINUE if keep_going else planpb.FAILURE_POLICY_STOP
        policy.on_pre_failure = policy.on_bootstrap_failure = policy.on_post_failure = after
        policy.sentinel = planpb.SENTINEL_TIME_AFTER_BOOTSTRAP
        policy.literal_commands = True
        imported.kind, imported.api_version = self.config.kind, self.config.api_version
        imported.format = self.context.format
        imported.bound_by.extend(self.findings.bound_by)


def _converted(config: ForeignConfig) -> v1beta1.Converted:
    version = config.api_version.rpartition("/")[2]
    tree: Any = {} if config.tree is None else config.tree
    if version == "v1beta1":
        older = read(v1beta1.KubeadmConfigSpec, tree, source=config.source, path=config.path)
        return v1beta1.convert(older, source=config.source, path=config.path)
    if version == "v1beta2":
        return v1beta1.Converted(read(v1beta2.KubeadmConfigSpec, tree, source=config.source, path=config.path))
    message = "only v1beta1 and v1beta2 can be read"
    position = config.source.position(("apiVersion",))
    raise SourceError([SourceProblem(config.source.file, position, "apiVersion", message)])


def _paths(spec: v1beta2.KubeadmConfigSpec) -> Iterator[str]:
    yield from (file.path for file in spec.files)
    for part in (spec.init_configuration, spec.join_configuration):
        if part is not None and part.node_registration is not None:
            yield part.node_registration.cri_socket


def _texts(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for value in tree.values():
            yield from _texts(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _texts(value)
