"""A bootstrapper's server with provisioners in its own process: no registry, no other port."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from slipway.contract.errors import SlipwayError
from slipway.rpc.addresses import free_port
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1.bootstrap_service_pb2_grpc import BootstrapServiceStub
from tests.bootstrapper.asking import question

pytestmark = pytest.mark.long

SECONDS = 30.0


@contextmanager
def server(folder: Path, *flags: str) -> Iterator[str]:
    """Run the server, and give its address."""
    address = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "slipway.bootstrap_server", f"--listen-address={address}", "--insecure", *flags]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            yield address
        finally:
            process.terminate()


async def ask(address: str, provisioner: str) -> bootstrappb.GetUserDataResponse:
    """Ask for a worker's user data, as soon as the server answers."""
    request = bootstrappb.GetUserDataRequest(subject=question("{}").subject, accept_gzip=True)
    request.subject.spec.provisioner.name = provisioner
    channels = ChannelPool(tls=None, trust_domain="slipway")
    try:
        stub = BootstrapServiceStub(channels.get(address))
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                return await invoke(stub.GetUserData, request, timeout=10)
            except SlipwayError as error:
                if error.code.name != "UNAVAILABLE" or time.monotonic() > deadline:
                    raise
    finally:
        await channels.close()


async def test_it_renders_without_a_registry(tmp_path: Path) -> None:
    """By those that are named; another one of ours is not there, though it is installed."""
    flags = ("--embedded-provisioners=cloud-init,ignition", f"--credentials-dir={tmp_path / 'credentials'}")
    with server(tmp_path, *flags) as address:
        assert (await ask(address, "cloud-init")).user_data.startswith(b"#cloud-config")
        assert (await ask(address, "ignition")).user_data.startswith(b'{"ignition"')
        with pytest.raises(SlipwayError) as caught:
            await ask(address, "talos")
    assert caught.value.reason == "PROVISIONER_NOT_FOUND"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ((), "--embedded-provisioners or --registry-address is needed"),
        (("--embedded-provisioners=cloudinit",), "cloudinit: not an embedded provisioner; choose from cloud-init"),
    ],
)
def test_without_a_provisioner_it_does_not_start(flags: tuple[str, ...], message: str) -> None:
    """A server that could render nothing would look healthy."""
    command = [sys.executable, "-m", "slipway.bootstrap_server", "--listen-address=127.0.0.1:0", "--insecure", *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
