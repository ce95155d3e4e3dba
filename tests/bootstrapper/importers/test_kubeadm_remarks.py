"""Whatever is understood differently from today is told, with the place where it was written."""

# ruff: noqa: E501  # the tables read best with one case a line

import pytest

from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.bootstrapper.importers.carrying import BETA1, BETA2, IGNITION, carried, codes


@pytest.mark.parametrize(("lock", "code"), [("true", ["LOCK_HONOURED"]), ("false", ["SSH_LEFT_ALONE"])])
def test_what_ignition_does_about_passwords_is_told(lock: str, code: list[str]) -> None:
    """Today a lock has no effect there, and its absence opens the SSH server: neither is done here, nor in silence."""
    got = carried(f"format: ignition\nusers: [{{name: u, passwd: p, lockPassword: {lock}}}]")
    assert codes(got) == code
    assert codes(carried(f"users: [{{name: u, passwd: p, lockPassword: {lock}}}]")) == ["DEFAULT_USER_OMITTED"]


REMARKS = [
    (BETA1, "useExperimentalRetryJoin: true", ["NO_EFFECT"], "removed long ago"),
    (BETA1, "clusterConfiguration: {kubernetesVersion: v1.2.3, clusterName: c, networking: {podSubnet: 10.0.0.0/8}}",
     ["NO_EFFECT"] * 3, "taken from the Cluster since v1.11"),
    (BETA2, "users: [{name: u}]", ["DEFAULT_USER_OMITTED"], "as today"),
    (BETA2, "users: [{name: default}, {name: u}]", [], "the image's own user stays, as today"),
    (BETA2, "users: [{name: default, shell: /bin/sh}]", ["DEFAULT_USER_NAMED"], "others do not know the name"),
    (BETA2, "format: ignition\nusers: [{name: default}]", [], "a user like others there, as today"),
    (BETA2, "files: [{path: /a, content: '${#a[@]}'}]", ["NOT_JINJA"], "cloud-init would give up"),
    (BETA2, IGNITION + "files: [{path: /a, content: x, append: true}]", ["APPEND_HONOURED"], "silently ignored today"),
    (BETA2, IGNITION + "files: [{path: /a, permissions: '644'}]", ["PERMISSIONS_OCTAL"], "decimal today"),
    (BETA2, IGNITION + "ntp: {enabled: false}", ["NTP_HONOURED"], "treated as enabled today"),
    (BETA2, IGNITION + "diskSetup: {partitions: [{device: /dev/sdb, layout: false}]}", ["LAYOUT_HONOURED"], "partitioned today"),
    (BETA2, IGNITION + "diskSetup: {partitions: [{device: /dev/sdb, diskLayout: [{percentage: 9}]}]}",
     ["DISK_LAYOUT_HONOURED"], "ignored today"),
    (BETA2, "diskSetup: {partitions: [{device: /dev/sdb, diskLayout: [{percentage: 30}, {percentage: 30}]}]}",
     ["LAST_PARTITION_TAKES_REST"], "the same machine as today"),
    (BETA2, "mounts: [[LABEL=x, /x, ext4, ro, '1', '2']]", ["DUMP_NOT_CARRIED"], "only dump(8) reads it"),
    (BETA2, IGNITION + "mounts: [[LABEL=x, /x]]", ["MOUNT_HONOURED"], "an empty What= today"),
    (BETA2, IGNITION + "users: [{name: u, sshAuthorizedKeys: ['', k]}]", ["EMPTY_KEY"], "an optional key"),
    (BETA2, "preKubeadmCommands: ['cd /x', ls]", ["COMMANDS_TOGETHER"], "one script"),
]  # fmt: skip


@pytest.mark.parametrize(("version", "spec", "wanted", "reason"), REMARKS)
def test_differences_are_told(version: str, spec: str, wanted: list[str], reason: str) -> None:
    """What is understood differently from today's output is a diagnostic with its origin."""
    got = carried(spec, version=version)
    assert codes(got) == wanted, reason
    assert all(diagnostic.origin.path.startswith("spec.") for diagnostic in got.diagnostics)


def test_places_of_v1beta1_are_those_of_the_document() -> None:
    """What the conversion moves is still named where the user wrote it."""
    spec = "joinConfiguration:\n  nodeRegistration:\n    kubeletExtraArgs:\n      b: '{{ x'\n      a: '1'"
    got = carried(spec, version=BETA1)
    assert [diagnostic.origin.path for diagnostic in got.diagnostics] == [
        "spec.joinConfiguration.nodeRegistration.kubeletExtraArgs.b"
    ]


UNUSED = [
    ("clusterConfiguration: {imageRepository: r}\ninitConfiguration: {skipPhases: [a]}",
     ["clusterConfiguration", "initConfiguration"], "all of it"),
    ("clusterConfiguration: {apiServer: {timeoutForControlPlane: 30s}}", [], "a time that machines that join wait, too"),
    ("clusterConfiguration: {imageRepository: r, apiServer: {timeoutForControlPlane: 30s, certSANs: [a], extraArgs: {v: '2'}}}",
     ["clusterConfiguration.imageRepository", "clusterConfiguration.apiServer.certSANs",
      "clusterConfiguration.apiServer.extraArgs"], "what stands beside it"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "paths", "reason"), UNUSED, ids=[row[-1] for row in UNUSED])
def test_a_worker_is_told_only_of_what_has_no_effect(spec: str, paths: list[str], reason: str) -> None:
    """A worker waits as long as the control plane's field says, so that field is not told of."""
    got = carried(spec, version=BETA1, role=clusterpb.ROLE_WORKER)
    assert [one.origin.path.removeprefix("spec.") for one in got.diagnostics] == paths, reason
    assert got.spec.kubernetes.timeouts.control_plane_component.seconds == (30 if "30s" in spec else 0)
