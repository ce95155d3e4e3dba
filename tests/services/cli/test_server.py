"""Against a server every command gives what it gives embedded; the server is the one of `slipway up`."""

import json
import shutil
from pathlib import Path

import pytest

from slipway.bootstrapper.importing import import_document
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tests.services.cli.conftest import EXAMPLES, Local, Slipway

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("local")]

NATIVE, AWS = EXAMPLES / "native.yaml", EXAMPLES / "cluster-aws.yaml"


def test_up_says_what_runs(local: Local) -> None:
    """Six services, each a process of its own, by the names that they have everywhere."""
    assert {str(service["service"]) for service in local.services} == {
        "registry", "bootstrapper", "cloud-init", "ignition", "talos", "windows",
    }  # fmt: skip
    assert len({service["pid"] for service in local.services}) == 6


@pytest.mark.parametrize("file", [NATIVE, AWS, EXAMPLES / "cluster-flatcar.yaml"], ids=lambda path: path.name)
def test_user_data_is_the_same(slipway: Slipway, local: Local, tmp_path: Path, file: Path) -> None:
    """Byte for byte, where the cluster's secrets are the same; so are refusals and what is lowered."""
    arguments = ("render", "-f", file, "--provisioner", "all")
    remote = slipway(*arguments, *local.flags, "-o", tmp_path / "remote")
    kept = tmp_path / "kept"
    shutil.copytree(local.credentials, kept)
    embedded = slipway(*arguments, "--credentials", kept, "-o", tmp_path / "embedded")
    assert (remote.exit_code, embedded.exit_code) == (0, 0)
    trees = [_files(tmp_path / name) for name in ("remote", "embedded")]
    assert len(trees[0]) >= 4
    assert trees[0] == trees[1]
    accounts = [json.loads((tmp_path / name / "summary.json").read_text()) for name in ("remote", "embedded")]
    for account in accounts:
        for entry in account:
            del entry["milliseconds"]
            entry["diagnostics"] = [
                diagnostic for diagnostic in entry["diagnostics"] if diagnostic["code"] != "CREDENTIALS"
            ]
    assert accounts[0] == accounts[1]


QUESTIONS = [
    ("explain", "-f", NATIVE, "-o", "json"),
    ("explain", "-f", AWS, "--machine", "lighthouse-linux", "-o", "yaml"),
    ("bundle", "-f", NATIVE, "-o", "json"),
    ("bundle", "-f", NATIVE, "--machine", "harbour-worker", "--lowered-for", "ignition"),
    ("import", AWS),
    ("import", AWS, "-o", "json"),
]


@pytest.mark.parametrize("arguments", QUESTIONS, ids=[" ".join(map(str, row))[:40] for row in QUESTIONS])
def test_answers_are_the_same(slipway: Slipway, local: Local, arguments: tuple[str | Path, ...]) -> None:
    """What is printed, and the exit code."""
    remote, embedded = slipway(*arguments, *local.flags), slipway(*arguments)
    assert embedded.exit_code == 0
    assert (remote.exit_code, remote.stdout) == (embedded.exit_code, embedded.stdout)


def test_sizes_are_those_of_real_secrets(slipway: Slipway, local: Local) -> None:
    """A server counts with its own secrets, and embedded ones are made that are thrown away: both are real keys."""
    arguments = ("size", "-f", NATIVE, "--provisioner", "cloud-init", "-o", "json")
    remote, embedded = (json.loads(slipway(*arguments, *flags).stdout) for flags in (local.flags, ()))
    for one, other in zip(remote, embedded, strict=True):
        assert sorted(item["field"] for item in one["items"]) == sorted(item["field"] for item in other["items"])
        assert abs(one["raw_bytes"] - other["raw_bytes"]) < 200


def test_provisioners_are_those_of_the_registry(slipway: Slipway, local: Local) -> None:
    """The registry alone is enough to list them; names, versions, formats and features are those of embedded ones."""
    registry = local.flags[2:]
    remote, embedded = (json.loads(slipway("provisioners", *flags, "-o", "json").stdout) for flags in (registry, ()))
    told = [
        [{key: one[key] for key in ("name", "version", "state", "formats")} for one in each]
        for each in (remote, embedded)
    ]
    assert sorted(told[0], key=lambda one: str(one["name"])) == sorted(told[1], key=lambda one: str(one["name"]))


def test_a_lone_config_is_carried_over_by_the_server(slipway: Slipway, local: Local, tmp_path: Path) -> None:
    """One KubeadmConfig goes through ImportKubeadmConfig, and comes out as it does here."""
    file = tmp_path / "f.yaml"
    file.write_text(
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfig\nmetadata: {name: k}\n"
        'spec: {joinConfiguration: {nodeRegistration: {name: "${NAME:=a}"}}, ntp: {enabled: true}}\n'
    )
    remote, embedded = slipway("import", file, *local.flags), slipway("import", file)
    assert (remote.exit_code, remote.stdout) == (0, embedded.stdout)
    assert embedded.stdout.startswith("apiVersion: bootstrap.slipway.dev/v1alpha1\nkind: SlipwayConfig\n")
    document = file.read_text().replace("${NAME:=a}", "a")
    direct = import_document(bootstrappb.ImportKubeadmConfigRequest(document=document.encode())).document.decode()
    assert direct.split("spec:", 1)[1].strip() == embedded.stdout.split("spec:", 1)[1].strip()


def test_a_server_gives_secrets_to_nobody_unknown(slipway: Slipway, local: Local) -> None:
    """--show-secrets is the server's to allow; embedded, the person may see the secrets of the own files."""
    arguments = ("bundle", "-f", NATIVE, "--machine", "harbour-worker", "--show-secrets")
    remote, embedded = slipway(*arguments, *local.flags), slipway(*arguments)
    assert (remote.exit_code, remote.stdout) == (1, "")
    assert "does not give bundles with secrets" in remote.stderr
    assert "Leave out --show-secrets, or have the operator" in remote.stderr
    assert embedded.exit_code == 0
    assert "bytes>" not in embedded.stdout


def _files(folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != "summary.json"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}
