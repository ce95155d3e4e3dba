"""Warnings and refusals of an imported config speak of fields that its document has."""

# ruff: noqa: E501, ISC004  # the tables read best with one case a line

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.services.cli.conftest import Slipway

Write = Callable[..., Path]

PLANE = """apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c}
spec: {controlPlaneEndpoint: {host: api.example.com, port: 6443}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: cp, labels: {cluster.x-k8s.io/cluster-name: c}}
spec:
  replicas: REPLICAS
  version: v1.34.1
  kubeadmConfigSpec:
"""
SPEC = "KubeadmControlPlane/cp: spec.kubeadmConfigSpec"
NAMES = """initConfiguration: {nodeRegistration: {name: one}}
joinConfiguration: {nodeRegistration: {name: one}}"""
FLAG = "names the flag nosuch, which the"

WORDS = [
    ("joinConfiguration: {nodeRegistration: {kubeletExtraArgs: [{name: nosuch, value: a}]}}",
     f"{SPEC}.joinConfiguration.nodeRegistration.kubeletExtraArgs[0]: {FLAG} kubelet", "the argument's own place"),
    ("clusterConfiguration: {apiServer: {extraArgs: [{name: a, value: b}, {name: nosuch, value: a}]}}",
     f"{SPEC}.clusterConfiguration.apiServer.extraArgs[1]: {FLAG} kube-apiserver", "of a component, too"),
    ("mounts: [[/dev/vdb, none, swap]]", "; set fail-swap-on: false in nodeRegistration.kubeletExtraArgs", "a field that is there"),
    ("clusterConfiguration: {apiServer: {extraVolumes: [{name: v, hostPath: /a, mountPath: /a}, {name: v, hostPath: /b, mountPath: /b}]}}",
     f"{SPEC}.clusterConfiguration.apiServer.extraVolumes[1]: has the same name as"
     " spec.kubeadmConfigSpec.clusterConfiguration.apiServer.extraVolumes[0]", "another field of the message"),
    ("mounts: [['', /data]]", f"{SPEC}.mounts[0][0]: is empty", "no mount, as today"),
    ("format: ignition\nmounts: [[/dev/vdb, /etc]]",
     f"{SPEC}.mounts[0]: does not go with what Slipway itself writes", "not a file that nobody wrote"),
]  # fmt: skip


def _document(spec: str, *, replicas: int = 1) -> str:
    body = "".join(f"    {line}\n" for line in spec.splitlines())
    return PLANE.replace("REPLICAS", str(replicas)) + body


@pytest.mark.parametrize(("spec", "wanted", "reason"), WORDS, ids=[case[2] for case in WORDS])
def test_fields_are_those_of_the_document(slipway: Slipway, write: Write, spec: str, wanted: str, reason: str) -> None:
    """Both the place and the remedy: no field of Slipway's own documents stands there."""
    output = slipway("render", "-f", write(_document(spec)), "--machine", "cp-join").stderr
    output += slipway("render", "-f", write(_document(spec)), "--machine", "cp-init").stderr
    assert wanted in output, reason
    assert "kubernetes.node." not in output
    assert ".files[" not in output


@pytest.mark.parametrize(
    ("replicas", "code"), [(1, 0), (2, 1)], ids=["a machine that is never made", "two machines of one name"]
)
def test_render_refuses_what_validate_refuses(slipway: Slipway, write: Write, replicas: int, code: int) -> None:
    """Two machines of one node name: the second gets no user data, and the field is named as it was written."""
    file = write(_document(NAMES, replicas=replicas))
    for command in ("validate", "render"):
        result = slipway(command, file)
        assert result.exit_code == code, command
        wanted = f"{SPEC}.joinConfiguration.nodeRegistration.name: machine cp-init has the same name"
        assert (wanted in result.output) == bool(code), command


def test_replicas_of_an_imported_config_are_rendered(slipway: Slipway, write: Write) -> None:
    """Of machines that share a name one joins today, so render makes its user data; validate reports the name."""
    file = write(_document("joinConfiguration: {nodeRegistration: {name: one}}", replicas=3))
    assert slipway("render", file).exit_code == 0
    assert slipway("validate", file).exit_code == 1
