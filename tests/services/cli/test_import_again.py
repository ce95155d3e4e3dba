"""Rendering what `slipway import` printed gives, byte for byte, what rendering the original gives."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.services.cli.conftest import EXAMPLES, Slipway

pytestmark = pytest.mark.long

NATIVE_POOL = (EXAMPLES / "cluster-aws.yaml", EXAMPLES / "pool-native.yaml")
SETS = [*((path,) for path in sorted(EXAMPLES.glob("cluster-*.yaml"))), NATIVE_POOL]


def rendered(slipway: Slipway, folder: Path, *arguments: str | Path) -> tuple[dict[str, bytes], list[dict[str, Any]]]:
    """Give the files of a render and its account, without what differs from call to call or names a document."""
    result = slipway("render", *arguments, "-o", folder)
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    account = json.loads(files.pop("summary.json"))
    for entry in account:
        # The id of a bundle also covers where its items came from.
        del entry["milliseconds"], entry["diagnostics"]
        entry["lowered"] = [one["feature"] for one in entry["lowered"]]
        # What an import keeps is refused in words of the config, and in the native spec as the extension that it is.
        entry["refusals"] = [
            (refusal["feature"], "" if refusal["feature"].startswith("ext.") else refusal["reason"])
            for refusal in entry["refusals"]
        ]
    return files, [*account, result.exit_code]


@pytest.mark.parametrize("choice", [(), ("--provisioner", "all")], ids=["own choice", "all"])
@pytest.mark.parametrize("files", SETS, ids=lambda paths: "+".join(path.name for path in paths))
def test_user_data_is_the_same(
    slipway: Slipway, write: Callable[..., Path], tmp_path: Path, files: tuple[Path, ...], choice: tuple[str, ...]
) -> None:
    """By every provisioner and by the one that nobody has to name; refusals are the same, too."""
    options = (*choice, "--set-missing", "--credentials", tmp_path / "credentials")
    native = write(slipway("import", *files, "--set-missing", "--show-secrets").stdout, "native.yaml")
    first = rendered(slipway, tmp_path / "first", *files, *options)
    assert first == rendered(slipway, tmp_path / "again", native, *options)
    assert first[0]


TWO_ENDPOINTS = """\
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c%(namespace)s}
spec: {controlPlaneEndpoint: {host: outside.example.com, port: 443}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: cp%(namespace)s}
spec:
  version: v1.34.1
  kubeadmConfigSpec:
    format: ignition
    clusterConfiguration: {controlPlaneEndpoint: "inside.example.com:6443"}
    preKubeadmCommands: ["sed -i s/a/b/ /etc/kubeadm.yml"]
    files: [{path: /a, contentFrom: {secret: {name: s, key: k}}}]
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineSet
metadata: {name: w%(namespace)s}
spec:
  clusterName: c
  template: {spec: {clusterName: c, version: v1.34.1, bootstrap: {configRef: {kind: KubeadmConfigTemplate, name: w}}}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {name: w%(namespace)s}
spec: {template: {spec: {format: ignition}}}
---
apiVersion: v1
kind: Secret
metadata: {name: s%(namespace)s}
stringData: {k: "canary%(namespace)s"}
"""
LABELS = "labels: {cluster.x-k8s.io/cluster-name: c}"


def test_machines_find_their_cluster_again(slipway: Slipway, write: Callable[..., Path], tmp_path: Path) -> None:
    """Each by the endpoint that it knows, and of two namespaces each its own; what binds a config to its format stays.

    The credentials are those of the original cluster, and so are the authorities that a worker trusts.
    """
    spaces = ({"namespace": ""}, {"namespace": ", namespace: other"})
    original = write("---\n".join(TWO_ENDPOINTS % space for space in spaces), "original.yaml")
    native = write(slipway("import", original, "--show-secrets").stdout, "native.yaml")
    heads = [
        document["metadata"]
        for document in yaml.safe_load_all(native.read_text())
        if document["kind"] == "SlipwayCluster"
    ]
    assert heads == [
        {"name": "c"},
        {"name": "c-2"},
        {"name": "c", "namespace": "other"},
        {"name": "c-2", "namespace": "other"},
    ]
    options = ("--provisioner", "all", "--credentials", tmp_path / "credentials")
    first = rendered(slipway, tmp_path / "first", original, *options)
    assert first == rendered(slipway, tmp_path / "again", native, *options)
    status = {(one["machine"], one["provisioner"]): one["status"] for one in first[1][:-1]}
    assert status["cp-init", "ignition"] == status["w", "ignition"] == "rendered"
    assert status["cp-init", "cloud-init"] == "refused"


def test_a_cluster_that_is_called_like_a_second_document_is_read_again(
    slipway: Slipway, write: Callable[..., Path]
) -> None:
    """Each document has a name that no other has, also where `c` needs two and another cluster is called `c-2`."""
    text = (TWO_ENDPOINTS % {"namespace": ""}).replace("{name: cp}", f"{{name: cp, {LABELS}}}")
    cluster, plane, *_ = text.split("---\n")
    others = [
        cluster.replace("{name: c}", "{name: c-2}"),
        plane.replace("{name: cp,", "{name: d,").replace(": c}", ": c-2}"),
    ]
    native = slipway("import", write("---\n".join([text, *others])), "--show-secrets").stdout
    assert [
        document["metadata"]["name"] for document in yaml.safe_load_all(native) if document["kind"] == "SlipwayCluster"
    ] == [
        "c",
        "c-3",
        "c-2",
    ]
    assert slipway("validate", "-", stdin=native).exit_code == 0


def test_a_spec_is_free_once_nothing_binds_it(slipway: Slipway, write: Callable[..., Path]) -> None:
    """Without the command that edits the provider's file every format takes it."""
    original = write(TWO_ENDPOINTS % {"namespace": ""})
    text = slipway("import", original, "--show-secrets").stdout
    asked = ("--machine", "cp-init", "--provisioner", "cloud-init")
    result = slipway("render", "-", *asked, stdin=text)
    assert (result.exit_code, "SlipwayConfig/cp-init: spec.commands.pre[0]: edits files" in result.stderr) == (1, True)
    assert slipway("render", "-", *asked, stdin=text.replace("/etc/kubeadm.yml", "/etc/other.yml")).exit_code == 0


def test_secrets_of_the_files_are_written_only_when_asked_for(slipway: Slipway, write: Callable[..., Path]) -> None:
    """Without --show-secrets a note names them."""
    original = write(TWO_ENDPOINTS % {"namespace": ""})
    result = slipway("import", original)
    assert "kind: Secret" not in result.stdout
    assert "Y2FuYXJ5" not in result.output
    assert (
        "note: Secrets of the files were not written: give them beside the spec, or use --show-secrets: s"
        in result.stderr
    )
    assert "Y2FuYXJ5" in slipway("import", original, "--show-secrets").stdout


@pytest.mark.parametrize("word", ["butane", '""', "[]", "{}", "7"])
def test_a_format_that_is_none_is_refused(slipway: Slipway, write: Callable[..., Path], word: str) -> None:
    """With its place, since it decides what is rendered."""
    text = slipway("import", write(TWO_ENDPOINTS % {"namespace": ""}), "--show-secrets").stdout
    file = write(text.replace("imported-format: ignition", f"imported-format: {word}"), "wrong.yaml")
    result = slipway("validate", file)
    assert result.exit_code == 1
    assert (
        "metadata.annotations[bootstrap.slipway.dev/imported-format]: must be cloud-config or ignition" in result.stderr
    )
