"""A provisioner and a client in Go, which know nothing of ours but the contract, in an installation with mutual TLS."""

import asyncio
import base64
import json
import subprocess
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format

from slipway.contract.errors import SlipwayError
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import plan_pb2 as planpb
from tests.examples.installation import Installation
from tests.integration.documents import questions
from tools.oracles.go_examples import EXAMPLES

pytestmark = pytest.mark.timeout(600)
_EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
_NAME = "bottlerocket.example.com"
_SECONDS = 180.0


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory, engine: Callable[..., None]) -> Iterator[Installation]:
    """Ours, and the Go provisioner beside them."""
    engine("provisioner-go")
    made = Installation(tmp_path_factory.mktemp("go"), _NAME, own=["cloud-init", "ignition", "talos", "windows"])
    try:
        made.start()
        made.run(_NAME, [str(EXAMPLES["provisioner-go"].require())])
        until(lambda: all(render(made, "native.yaml", "harbour-worker", name) for name in [*made.own[:3], _NAME]))
        yield made
    finally:
        made.kill()


def until(reached: Callable[[], Any]) -> None:
    """Wait for what processes do in their own time."""
    deadline = time.monotonic() + _SECONDS
    while True:
        try:
            if reached():
                return
        except SlipwayError as error:
            assert time.monotonic() < deadline, error  # noqa: PT017  # it may go on for a while
        assert time.monotonic() < deadline
        time.sleep(0.1)


def subject(
    file: str, machine: str, change: Callable[[bootstrappb.Subject], object] | None = None
) -> bootstrappb.Subject:
    """A machine of an example, changed."""
    found = questions(_EXAMPLES / file)[machine].subject
    if change is not None:
        change(found)
    return found


def render(
    installation: Installation,
    file: str,
    machine: str,
    provisioner: str,
    change: Callable[[bootstrappb.Subject], object] | None = None,
) -> bootstrappb.GetUserDataResponse:
    """Ask for user data as the operator's client."""

    async def ask() -> bootstrappb.GetUserDataResponse:
        async with installation.doors.caller() as caller:
            return await caller.user_data(subject(file, machine, change), provisioner)

    return asyncio.run(ask())


def test_a_machine_of_ours_becomes_a_bottlerocket_worker(installation: Installation) -> None:
    """Each thing of the spec is in the settings, under the names of Bottlerocket's own reference, and nothing else."""
    answer = render(installation, "provisioner-go/worker.yaml", "reef-worker", "")
    found = tomllib.loads(answer.user_data.decode())["settings"]
    cluster = found["kubernetes"]
    authority = base64.b64decode(cluster.pop("cluster-certificate"))
    assert authority.startswith(b"-----BEGIN CERTIFICATE-----\n")
    token = cluster.pop("bootstrap-token")
    assert (len(token), token[6]) == (23, ".")
    certificate = base64.b64decode(found["pki"]["company"].pop("data"))
    assert certificate.startswith(b"-----BEGIN CERTIFICATE-----\n")
    assert found == {
        "kubernetes": {
            "api-server": "https://api.reef.example.com:6443",
            "authentication-mode": "tls",
            "cluster-name": "reef",
            "cluster-dns-ip": "10.96.0.10",
            "cluster-domain": "reef.local",
            "hostname-override": "reef-worker",
            "cloud-provider": "external",
            "max-pods": 110,
            "node-labels": {"example.com/pool": "reef"},
            "node-taints": {"example.com/dedicated": ["batch:NoSchedule", "batch:NoExecute"]},
        },
        "kernel": {
            "sysctl": {"vm.max_map_count": "262144"},
            "modules": {"sctp": {"allowed": True, "autoload": True}},
        },
        "network": {
            "hostname": "reef-worker.example.com",
            "https-proxy": "http://proxy.example.com:3128",
            # What the node must reach directly stands behind what the spec names.
            "no-proxy": [
                "10.0.0.0/8",
                ".example.com",
                "localhost",
                "127.0.0.1",
                "::1",
                "api.reef.example.com",
                "10.244.0.0/16",
                "10.96.0.0/12",
                ".svc",
                ".reef.local",
                "169.254.169.254",
            ],
        },
        "ntp": {"time-servers": ["ntp1.example.com", "192.0.2.7"]},
        "pki": {"company": {"trusted": True}},
        "container-registry": {
            "mirrors": [
                {"registry": "docker.io", "endpoint": ["https://mirror.example.com"]},
                {"registry": "*", "endpoint": ["https://cache.example.com"]},
            ],
            "credentials": [{"registry": "docker.io", "username": "robot", "password": 'swim "deep"'}],
        },
        "host-containers": {
            "admin": {"enabled": True, "superpowered": True, "source": "registry.example.com/admin:v1"}
        },
    }
    assert (answer.format, answer.media_type, answer.file_extension) == ("bottlerocket/v1", "application/toml", "toml")
    assert not answer.lowered
    assert "KUBERNETES_VERSION_IN_IMAGE" in {diagnostic.code for diagnostic in answer.diagnostics}


def test_the_same_question_has_the_same_answer(installation: Installation) -> None:
    """Byte for byte."""
    answers = {render(installation, "provisioner-go/worker.yaml", "reef-worker", "").user_data for _ in range(3)}
    assert len(answers) == 1


@pytest.mark.parametrize(
    ("change", "field", "feature"),
    [
        (lambda one: one.spec.os.users.add(name="me"), "os.users[0]", "os.users"),
        (lambda one: one.spec.commands.pre.append(planpb.Command(argv=["x"])), "commands.pre[0]", "os.commands.pre"),
        (lambda one: one.spec.os.sysctls.add(name="a." + 200 * "b", value="1"), "os.sysctls[1]", "os.sysctls"),
        (lambda one: setattr(one.machine, "role", clusterpb.ROLE_CONTROL_PLANE), "", "kubernetes.role.control_plane"),
        (lambda one: one.spec.kubernetes.node.kubelet_arguments.add(name="tls-min-version", value="x"),
         "spec.kubernetes.node", "kubernetes.node.kubelet_arguments"),
    ],
)  # fmt: skip
def test_what_it_can_not_honour_is_refused(
    installation: Installation, change: Callable[[bootstrappb.Subject], object], field: str, feature: str
) -> None:
    """By the place in the spec and the id of the feature, whether it is not declared or refused after all."""
    with pytest.raises(SlipwayError) as caught:
        render(installation, "provisioner-go/worker.yaml", "reef-worker", "", change)
    assert caught.value.reason == "UNSUPPORTED_FEATURE"
    found = {(violation.path, violation.feature) for violation in caught.value.violations}
    assert any(path.endswith(field) and id_ == feature for path, id_ in found), found


def test_it_comes_back_after_the_registry(installation: Installation) -> None:
    """A registry that was restarted has forgotten it; it registers again by itself."""
    installation.said(_NAME, '"registered"', times=1)
    before = installation.log(_NAME).count('"event":"registered"')
    installation.end("registry")
    installation.service("registry")
    installation.said(_NAME, '"event":"registered"', times=before + 1)
    until(lambda: render(installation, "provisioner-go/worker.yaml", "reef-worker", ""))


def test_it_ends_decently(installation: Installation) -> None:
    """SIGTERM: it gives its lease back, and ends with 0; the next one takes its place."""

    async def listed() -> set[str]:
        async with installation.doors.caller() as caller:
            return {provisioner.info.name for provisioner in await caller.provisioners()}

    until(lambda: _NAME in asyncio.run(listed()))
    assert installation.end(_NAME) == 0
    assert _NAME not in asyncio.run(listed())
    installation.run(_NAME, [str(EXAMPLES["provisioner-go"].require())])
    until(lambda: render(installation, "provisioner-go/worker.yaml", "reef-worker", ""))


def test_it_follows_its_certificates(installation: Installation) -> None:
    """After a renewal by a new authority, everybody still finds everybody."""
    installation.renew()
    until(lambda: render(installation, "provisioner-go/worker.yaml", "reef-worker", ""))
    installation.renew()  # now the first authority is trusted by nobody
    until(lambda: render(installation, "provisioner-go/worker.yaml", "reef-worker", ""))


def client(installation: Installation, folder: Path, asked: bootstrappb.Subject, *flags: str) -> list[str]:
    """Give the command that runs the client until it has user data in `folder`."""
    request = bootstrappb.GetUserDataRequest(subject=asked, accept_gzip=True)
    folder.mkdir(exist_ok=True)
    (folder / "request.json").write_text(json_format.MessageToJson(request), encoding="utf-8")
    program = str(EXAMPLES["client-go"].require())
    return [
        program, "--server", installation.addresses["bootstrapper"], "--request", str(folder / "request.json"),
        "--tls-cert-dir", str(installation.certificates / "client"), "--out", str(folder), *flags,
    ]  # fmt: skip


def read(folder: Path, name: str) -> Any:
    """Read what the client has written."""
    return json.loads((folder / name).read_text(encoding="utf-8"))


def test_a_controller_gets_user_data_once(
    installation: Installation, engine: Callable[..., None], tmp_path: Path
) -> None:
    """It writes the data Secret with the remarks; the second run has nothing to ask."""
    engine("client-go")
    asked = subject("native.yaml", "harbour-worker", lambda one: setattr(one.spec.provisioner, "name", "ignition"))
    command = client(installation, tmp_path, asked)
    assert subprocess.run(command, check=False).returncode == 0
    first = read(tmp_path, "secret.json")
    assert first["Format"] == "ignition"
    assert b'"ignition"' in base64.b64decode(first["Value"]) or base64.b64decode(first["Value"])[:2] == b"\x1f\x8b"
    assert read(tmp_path, "status.json")["ready"]
    assert subprocess.run(command, check=False).returncode == 0
    assert read(tmp_path, "secret.json") == first


def test_a_controller_shows_refusals(installation: Installation, engine: Callable[..., None], tmp_path: Path) -> None:
    """What only a person can change is in the status, by the path in the spec; it does not come back by itself."""
    engine("client-go")
    asked = subject("provisioner-go/worker.yaml", "reef-worker", lambda one: one.spec.os.users.add(name="me"))
    assert subprocess.run(client(installation, tmp_path, asked), check=False).returncode == 1
    status = read(tmp_path, "status.json")
    assert status["reason"] == "UNSUPPORTED_FEATURE"
    assert [field["feature"] for field in status["fields"]] == ["os.users"]
    assert status["fields"][0]["path"].endswith("os.users[0]")
    assert not (tmp_path / "secret.json").exists()


def test_a_controller_outlives_the_bootstrapper(
    installation: Installation, engine: Callable[..., None], tmp_path: Path
) -> None:
    """While it is away the controller comes back; when it is there again it has what it would have had before."""
    engine("client-go")
    asked = subject("provisioner-go/worker.yaml", "reef-worker")
    assert subprocess.run(client(installation, tmp_path / "before", asked), check=False).returncode == 0
    installation.end("bootstrapper")
    once = subprocess.run(
        client(installation, tmp_path / "during", asked, "--once"), check=False, capture_output=True, text=True
    )
    assert (once.returncode, read(tmp_path / "during", "status.json")["reason"]) == (1, "Unavailable")
    assert "again in 1s" in once.stdout
    with subprocess.Popen(client(installation, tmp_path / "during", asked)) as waiting:
        installation.service("bootstrapper")
        assert waiting.wait(timeout=_SECONDS) == 0
    same = [read(tmp_path / folder, "secret.json") for folder in ("before", "during")]
    assert same[0] == same[1]
