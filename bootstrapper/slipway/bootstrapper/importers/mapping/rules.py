"""Rules over several fields of a KubeadmConfigSpec, as Cluster API's webhooks check them, and fields without a use.

Of a config that was written for control planes, too, a worker uses only a part.
"""

from collections import Counter
from collections.abc import Collection, Iterator

from slipway.bootstrapper.importers.kubeadm_config.os_items import DiskSetup, File, User
from slipway.bootstrapper.importers.kubeadm_config.v1beta2 import JoinConfiguration, KubeadmConfigSpec
from slipway.bootstrapper.importers.mapping.context import IGNITION
from slipway.bootstrapper.importers.mapping.place import Findings, Place
from slipway.contract.source_position import FieldPath
from slipway.contract.yaml_document import Tree

_WHOLE = 100


def check_rules(findings: Findings, place: Place, spec: KubeadmConfigSpec) -> None:
    """Note every rule that the spec breaks."""
    _check_files(findings, place.at("files"), spec.files)
    _check_users(findings, place.at("users"), spec.users)
    if spec.disk_setup is not None:
        _check_disks(findings, place.at("diskSetup"), spec.disk_setup)
    if spec.ignition is not None and spec.format != IGNITION:
        findings.refuse(place.at("ignition"), "needs format: ignition")
    etcd = spec.cluster_configuration.etcd if spec.cluster_configuration else None
    if etcd is not None and etcd.local is not None and etcd.external is not None:
        findings.refuse(place.at("clusterConfiguration", "etcd"), "only one of local and external can be set")
    for index, token in enumerate(spec.init_configuration.bootstrap_tokens if spec.init_configuration else []):
        if token.ttl_seconds is not None and token.expires is not None:
            here = place.at("initConfiguration", "bootstrapTokens", index)
            findings.refuse(here, "only one of the lifetime and expires can be set")
    if spec.join_configuration is not None:
        _check_discovery(findings, place.at("joinConfiguration", "discovery"), spec.join_configuration)


def _check_files(findings: Findings, place: Place, files: list[File]) -> None:
    uses = Counter(file.path for file in files)
    for index, file in enumerate(files):
        if file.content and file.content_from is not None:
            findings.refuse(place.at(index), "only one of content and contentFrom can be set")
        uses[file.path] -= 1
        if uses[file.path]:
            findings.refuse(place.at(index, "path"), "another file has the same path")


def _check_users(findings: Findings, place: Place, users: list[User]) -> None:
    for index, user in enumerate(users):
        if user.passwd and user.passwd_from is not None:
            findings.refuse(place.at(index), "only one of passwd and passwdFrom can be set")


def _check_disks(findings: Findings, place: Place, setup: DiskSetup) -> None:
    for index, partition in enumerate(setup.partitions):
        here = place.at("partitions", index)
        if (partition.layout is None) == (not partition.disk_layout):
            findings.refuse(here, "exactly one of layout and diskLayout must be set")
        if sum(layout.percentage for layout in partition.disk_layout) > _WHOLE:
            findings.refuse(here.at("diskLayout"), "the percentages add up to more than 100")


def _check_discovery(findings: Findings, place: Place, join: JoinConfiguration) -> None:
    discovery = join.discovery
    if discovery is None or discovery.file is None:
        return
    if discovery.bootstrap_token is not None:
        findings.refuse(place, "only one of bootstrapToken and file can be set")
    config = discovery.file.kube_config
    if config is not None and config.user.auth_provider is not None and config.user.exec_ is not None:
        findings.refuse(place.at("file", "kubeConfig", "user"), "only one of authProvider and exec can be set")


_OF_CONTROL_PLANES = ("clusterConfiguration", "initConfiguration")


def unused_by_workers(tree: Tree, carried: Collection[FieldPath]) -> Iterator[FieldPath]:
    """Give the outermost fields of which nothing counts on a worker.

    Args:
        tree: the config, as it was written.
        carried: fields, as written, that a joining machine gets wherever they stand.
    """
    for name in _OF_CONTROL_PLANES if isinstance(tree, dict) else ():
        if tree.get(name):
            yield from _unused(tree[name], (name,), carried)


def _unused(tree: Tree, path: FieldPath, carried: Collection[FieldPath]) -> Iterator[FieldPath]:
    if not any(entry[: len(path)] == path for entry in carried):
        yield path
    elif isinstance(tree, dict):
        for key in tree:
            yield from _unused(tree[key], (*path, key), carried)
