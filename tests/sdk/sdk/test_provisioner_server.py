"""A provisioner as a process: the calls over gRPC, errors with their reasons, health, and the command line."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from click.testing import CliRunner

from slipway.contract.errors import BundleInvalid, UnsupportedFeature
from slipway.contract.wire_entries import MAX_ENTRIES
from slipway.provisioners.cloud_init.render import CloudInit
from slipway.registry.server import serve_registry
from slipway.registry.settings import RegistrySettings
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke, stream
from slipway.rpc.server import RpcServer
from slipway.rpc.settings import ServerSettings
from slipway.sdk import ProvisionerCore, testing
from slipway.sdk.command import command
from slipway.sdk.server import Announcement, serve, service
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import provisioner_service_pb2_grpc as provisionergrpc
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1.registry_service_pb2_grpc import RegistryServiceStub


@asynccontextmanager
async def served() -> AsyncIterator[tuple["provisionergrpc.ProvisionerServiceAsyncStub", RpcServer]]:
    """Serve cloud-init on a free port, and give a stub and the server."""
    settings = ServerSettings(listen_address="127.0.0.1:0", insecure=True)
    server = RpcServer(settings, [service(ProvisionerCore(CloudInit()))])
    await server.start()
    pool = ChannelPool.of(settings)
    try:
        await server.health.set_all(serving=True)
        yield provisionergrpc.ProvisionerServiceStub(pool.get(server.address)), server
    finally:
        await pool.close()
        await server.stop(grace=1)


async def test_the_same_answer_as_embedded() -> None:
    """Over gRPC and in this process the very same bytes come."""
    of = testing.bundle(ospb.OperatingSystem(files=[testing.file("/etc/a", bytes(range(256)))]))
    request = testing.request(CloudInit(), of)
    async with served() as (stub, _):
        info = await invoke(stub.GetProvisionerInfo, provisionerpb.GetProvisionerInfoRequest(), timeout=5)
        response = await invoke(stub.Render, request, timeout=5)
    core = ProvisionerCore(CloudInit())
    assert info == core.info
    assert response == core.render_now(request)


async def test_refusals_arrive_with_reason_and_paths() -> None:
    """The bootstrapper gets what it needs to lower the refused items."""
    of = testing.bundle(ospb.OperatingSystem(files=[testing.file("/etc/a", b"", owner="1000")]))
    async with served() as (stub, _):
        with pytest.raises(UnsupportedFeature) as caught:
            await invoke(stub.Render, testing.request(CloudInit(), of), timeout=5)
    assert [violation.path for violation in caught.value.violations] == ["os.files[0]"]
    assert caught.value.metadata["features"] == "os.files"


async def test_a_bundle_of_countless_empty_items_is_refused_before_it_is_read() -> None:
    """Its message is never made: the refusal names the list, and comes although the bundle breaks everything else."""
    request = provisionerpb.RenderRequest()
    for _ in range(MAX_ENTRIES + 1):
        request.bundle.os.files.add()
    async with served() as (stub, _):
        with pytest.raises(BundleInvalid) as caught:
            await invoke(stub.Render, request, timeout=10)
    assert [violation.path for violation in caught.value.violations] == ["bundle.os.files"]


async def test_a_secret_that_expires_at_no_point_in_time_is_refused() -> None:
    """A provisioner copies the earliest expiry into its answer, of which no program can make a date."""
    of = testing.bundle(ospb.OperatingSystem(files=[testing.file("/etc/a", b"x")]))
    of.secrets.secrets.add(name="a", key="b").expire_time.seconds = 10**18
    with pytest.raises(BundleInvalid) as caught:
        ProvisionerCore(CloudInit()).render_now(testing.request(CloudInit(), of))
    assert [violation.path for violation in caught.value.violations] == ["secrets.secrets[0].expire_time"]


async def test_calls_in_flight_do_not_mix() -> None:
    """Many calls at once each get the answer to their own request."""

    def request(index: int) -> provisionerpb.RenderRequest:
        of = testing.bundle(ospb.OperatingSystem(files=[testing.file(f"/etc/{index}", b"x")]))
        made = testing.request(CloudInit(), of)
        made.request_tag = str(index)
        return made

    async with served() as (stub, _):
        responses = await asyncio.gather(*(invoke(stub.Render, request(index), timeout=10) for index in range(20)))
    for index, response in enumerate(responses):
        assert response.request_tag == str(index)
        assert f"path: /etc/{index}\n".encode() in response.user_data


@asynccontextmanager
async def registry() -> AsyncIterator[tuple[str, "RegistryServiceStub"]]:
    """Run a registry on a free port, and give its address and a stub."""
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    settings = RegistrySettings(listen_address="127.0.0.1:0", insecure=True)

    async def started(server: RpcServer) -> None:
        address.set_result(server.address)

    running = asyncio.ensure_future(serve_registry(settings, on_start=started, stop=stop))
    pool = ChannelPool.of(settings)
    try:
        yield await address, RegistryServiceStub(pool.get(await address))
    finally:
        await pool.close()
        stop.set()
        await running


async def _listed(stub: "RegistryServiceStub") -> list[registrypb.ProvisionerInstance]:
    answer = await invoke(stub.ListProvisioners, registrypb.ListProvisionersRequest(), timeout=5)
    return list(answer.instances)


async def test_the_lease_is_held_and_given_back() -> None:
    """The registry dials back and finds it ready; when it ends, it is gone at once and does not have to expire."""
    async with registry() as (address, stub), served() as (_, server):
        announcement = Announcement(
            ServerSettings(listen_address="127.0.0.1:0", insecure=True, registry_address=address), name="cloud-init"
        )
        await announcement.begin(server)
        try:
            await announcement.held()
            (instance,) = await _listed(stub)
            assert (instance.state, instance.info.name) == (registrypb.INSTANCE_STATE_READY, "cloud-init")
        finally:
            await announcement.end()
        assert await _listed(stub) == []


async def test_a_provisioner_announces_itself_when_it_serves() -> None:
    """The whole life of the process: it serves, it is listed, it ends when told to."""
    async with registry() as (address, stub):
        stop = asyncio.Event()
        settings = ServerSettings(listen_address="127.0.0.1:0", insecure=True, registry_address=address)
        provisioner = asyncio.ensure_future(serve(settings, CloudInit(), stop=stop))
        try:
            assert await _first_state(stub) == registrypb.INSTANCE_STATE_READY
        finally:
            stop.set()
            await provisioner


async def test_without_a_registry_nothing_is_announced() -> None:
    """A static endpoint needs no lease."""
    announcement = Announcement(ServerSettings(listen_address="127.0.0.1:0", insecure=True), name="cloud-init")
    async with served() as (_, server):
        await announcement.begin(server)
        await announcement.held()
        await announcement.end()


async def _first_state(stub: "RegistryServiceStub") -> int:
    """Wait until the registry knows cloud-init, and give the state that it has then."""
    async for answer in stream(stub.WatchProvisioners, registrypb.WatchProvisionersRequest(), timeout=10):
        for instance in answer.instances:
            assert instance.info.name == "cloud-init"
            return instance.state
    raise AssertionError("the registry ended the watch")


@pytest.mark.parametrize(
    ("arguments", "exit_code", "text", "reason"),
    [
        (["--version"], 0, "cloud-init, version 0.1.0", "who it is"),
        (["--help"], 0, "--registry-address", "how it is run"),
        ([], 2, "--insecure", "neither TLS nor a word that none is wanted"),
        (["--insecure"], 2, "127.0.0.1", "without TLS only on this machine"),
        (
            ["--insecure", "--listen-address", "127.0.0.1:0", "--registry-address", "registry:9443"],
            2,
            "--registry-address 127.0.0.1",
            "without TLS nothing but this machine is called",
        ),
        (["--no-such-flag"], 2, "no-such-flag", "a typing error"),
    ],
)
def test_command_line(arguments: list[str], exit_code: int, text: str, reason: str) -> None:
    """The command line teaches, and mistakes are told in words."""
    result = CliRunner().invoke(command(CloudInit()), arguments)
    assert result.exit_code == exit_code, reason
    assert text in result.output, reason
