"""Following reports at a real server of the node gateway: what comes, what goes, and a server that is not there."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from slipway.controller import report_watch
from slipway.controller.report_watch import STREAMS, ReportServer, ReportWatch, TokenUnreadable
from slipway.controller.settings import ControllerSettings
from slipway.rpc.addresses import free_port
from slipway.rpc.channel import ChannelPool
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.reports.made import BEGUN, COMPLETE, FAILED, KEY
from tests.services.reports.served import serving

SINK = reportspb.REPORT_SOURCE_SINK
PLACE = (KEY.namespace, KEY.cluster, KEY.machine)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_LOOK_SECONDS", "_FIRST_PAUSE", "_LONGEST_PAUSE"):
        monkeypatch.setattr(report_watch, name, 0.05)


@asynccontextmanager
async def watching(address: str, *namespaces: str) -> AsyncIterator[tuple[ReportWatch, list[tuple[str, str]]]]:
    """Follow namespaces at a server; give the watch and its changes."""
    channels = ChannelPool(tls=None, trust_domain="slipway")
    watch = ReportWatch(ReportServer(address, channels), lambda: namespaces)
    changes: list[tuple[str, str]] = []
    watch.changed = lambda namespace, machine: changes.append((namespace, machine))
    task = asyncio.create_task(watch.run())
    try:
        yield watch, changes
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await channels.close()


async def until(holds: Callable[[], Any]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110  # what is waited for happens in a server
            await asyncio.sleep(0.02)


async def test_a_report_and_its_changes_are_told(tmp_path: Path) -> None:
    """What is there at first, and what changes; a step that goes on is no change."""
    async with serving(tmp_path) as served:
        await served.reports.store.add_events(KEY, SINK, BEGUN)
        async with watching(served.address, KEY.namespace) as (watch, changes):
            await until(lambda: watch.get(*PLACE))
            assert changes == [("default", "worker-1")]
            await served.reports.store.add_events(KEY, SINK, FAILED)
            await until(lambda: len(changes) > 1)
            report = watch.get(*PLACE)
            assert report is not None
            assert (report.step, report.exit_code, report.reason) == ("20-kubeadm", 1, "CommandFailed")
            assert watch.get("default", "harbour", "worker-2") is None


async def test_a_server_that_comes_later_is_found(tmp_path: Path) -> None:
    """Without the gateway nothing is known and nothing ends; as soon as it is there, it is."""
    port = free_port()
    async with watching(f"127.0.0.1:{port}", KEY.namespace) as (watch, _):
        await until(lambda: watch._problem)
        assert watch.get(*PLACE) is None
        async with serving(tmp_path, port=port) as served:
            await served.reports.store.add_events(KEY, SINK, COMPLETE)
            await until(lambda: watch.get(*PLACE))


async def test_more_namespaces_than_streams_take_turns(tmp_path: Path) -> None:
    """Each is read although there are more of them than a server takes streams."""
    names = [f"n-{number}" for number in range(2 * STREAMS + 3)]
    async with serving(tmp_path) as served:
        for name in names:
            await served.reports.store.add_events(replace(KEY, namespace=name), SINK, FAILED)
        async with watching(served.address, *names) as (watch, _):
            await until(lambda: all(watch.get(name, *PLACE[1:]) for name in names))


async def test_a_namespace_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    """Nothing of it is kept in memory."""
    namespaces = [KEY.namespace]
    async with serving(tmp_path) as served:
        await served.reports.store.add_events(KEY, SINK, FAILED)
        channels = ChannelPool(tls=None, trust_domain="slipway")
        watch = ReportWatch(ReportServer(served.address, channels), lambda: namespaces)
        task = asyncio.create_task(watch.run())
        await until(lambda: watch.get(*PLACE))
        namespaces.clear()
        await until(lambda: not watch._reports)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await channels.close()


def test_a_token_is_read_anew_each_time(tmp_path: Path) -> None:
    """A projected token changes every hour; one that cannot be read is a failure that says nothing of it."""
    file = tmp_path / "token"
    server = ReportServer("127.0.0.1:1", ChannelPool(tls=None, trust_domain="slipway"), file)
    with pytest.raises(TokenUnreadable, match="FileNotFoundError"):
        server.authorization()
    for token in ("first", "second"):
        file.write_text(f"{token}\n")
        assert server.authorization() == f"Bearer {token}"


@pytest.mark.parametrize(
    "settings",
    [
        {"reports_address": "gateway"},
        {"reports_address": "gateway:0"},
        {"reports_address": "gateway:9444"},
        {"reports_token_file": "/token"},
        {"reports_tls_cert_dir": "/certs"},
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any]) -> None:
    """It needs an address, and without certificates only this machine is called."""
    transport = {"insecure": True, "listen_address": "127.0.0.1:1", "embedded_provisioners": "talos"}
    with pytest.raises(ValidationError, match="reports"):
        ControllerSettings(**transport, **settings)
