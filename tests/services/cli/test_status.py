"""`slipway status` and `slipway logs` show what a server of reports has, and say why where it has nothing."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from click.testing import CliRunner
from structlog.testing import capture_logs

from slipway.cli.command_line import cli
from slipway.kubernetes_api.access_reviews import AccessReviews
from slipway.reports.access import ReportAccess
from slipway.reports.names import BundleKey
from slipway.reports.presentation import age
from slipway.reports.service import ReportServicer
from slipway.rpc.server import RpcServer, Service
from slipway.rpc.settings import ServerSettings
from slipway.v1alpha1 import report_service_pb2 as reportspb
from slipway.v1alpha1.report_service_pb2_grpc import add_ReportServiceServicer_to_server
from tests.services.reports.made import BEGUN, COMPLETE, FAILED, KEY, bundle_of, event, file_of
from tests.services.reports.served import Served, serving
from tests.services.reports.test_report_access import Reviewing

pytestmark = pytest.mark.long

SINK, CONSOLE = reportspb.REPORT_SOURCE_SINK, reportspb.REPORT_SOURCE_CONSOLE


@pytest.fixture(autouse=True)
def _logs_of_the_server() -> Iterator[None]:
    """Keep the log of the server, which is in this process, out of what the commands print."""
    with capture_logs():
        yield


async def run(served: Served, *arguments: str) -> Any:
    """Run a command against a server."""
    command = [*arguments, "--server", served.address, "--insecure"]
    return await asyncio.to_thread(CliRunner().invoke, cli, command)


async def fill(served: Served) -> None:
    """Have three machines report."""
    store = served.reports.store
    await store.add_events(KEY, SINK, FAILED)
    await store.add_events(KEY, CONSOLE, BEGUN)
    await store.add_events(BundleKey("default", "harbour", "worker-2", KEY.bundle_id), CONSOLE, COMPLETE)
    await store.add_events(BundleKey("default", "lighthouse", "worker-2", KEY.bundle_id), SINK, BEGUN)
    await store.add_logs(KEY, bundle_of({"kubelet.log": b"it failed\n\x1b[31mred\n", "journal/x.log": b"more\n"}))


async def test_all_machines_are_in_a_table(tmp_path: Path) -> None:
    """State, step, reason and source of each; by state; as JSON with both sources."""
    async with serving(tmp_path) as served:
        await fill(served)
        lines = [line.split() for line in (await run(served, "status")).stdout.splitlines()]
        cells = [line[:-1] for line in lines if line[:1] in (["harbour"], ["lighthouse"])]
        assert cells == [
            ["harbour", "worker-1", "failed", "bootstrap", "20-kubeadm", "CommandFailed", "sink", "yes"],
            ["harbour", "worker-2", "complete", "console"],
            ["lighthouse", "worker-2", "unfinished", "bootstrap", "20-kubeadm", "sink"],
        ]
        failed = await run(served, "status", "--state", "failed", "-o", "json")
        (tree,) = json.loads(failed.stdout)
        assert (tree["machine"], tree["bundleId"], tree["state"]) == ("worker-1", KEY.bundle_id, "failed")
        assert [(part["source"], part["exitCode"]) for part in tree["sources"]] == [("sink", 1), ("console", 0)]
        assert json.loads((await run(served, "status", "-n", "other", "-o", "json")).stdout) == []


async def test_one_machine_has_its_timeline(tmp_path: Path) -> None:
    """The step that failed, its exit code and its reason; a machine without a report is exit code 1."""
    async with serving(tmp_path) as served:
        await fill(served)
        shown = await run(served, "status", "worker-1")
        assert "failed in step 20-kubeadm: CommandFailed, exit code 1" in shown.stdout
        assert "harbour/worker-1, console:" in shown.stdout
        both = await run(served, "status", "worker-2", "-o", "json")
        assert [tree["cluster"] for tree in json.loads(both.stdout)] == ["harbour", "lighthouse"]
        absent = await run(served, "status", "worker-9")
        assert (absent.exit_code, "no report of worker-9" in absent.stderr) == (1, True)


async def test_logs_are_shown_listed_and_saved(tmp_path: Path) -> None:
    """As text without control sequences, by name, or as the bundle that `slipway diagnose` reads."""
    async with serving(tmp_path / "store") as served:
        await fill(served)
        shown = await run(served, "logs", "worker-1")
        assert shown.stdout == "==> kubelet.log <==\nit failed\nred\n==> journal/x.log <==\nmore\n"
        assert (await run(served, "logs", "worker-1", "--file", "journal/x.log")).stdout == "more\n"
        assert (await run(served, "logs", "worker-1", "--list")).stdout == "kubelet.log\njournal/x.log\n"
        saved = tmp_path / "logs.tar.gz"
        assert (await run(served, "logs", "worker-1", "--save", str(saved))).exit_code == 0
        diagnosed = await asyncio.to_thread(CliRunner().invoke, cli, ["diagnose", str(saved)])
        assert diagnosed.exit_code == 0
        for arguments, code, text in (
            (["worker-1", "--file", "x"], 1, "no file x"),
            (["worker-9"], 1, "no report of worker-9"),
            (["worker-2"], 2, "harbour, lighthouse"),
            (["worker-2", "--cluster", "harbour"], 1, "no log bundle"),
        ):
            refused = await run(served, "logs", *arguments)
            assert (refused.exit_code, text in refused.stderr) == (code, True), refused.stderr


async def test_a_watch_prints_what_changes(tmp_path: Path) -> None:
    """All at first, then a line for each change; the end of a stream is not the end of the watch."""
    async with serving(tmp_path) as served:
        await fill(served)
        command = ["status", "worker-1", "--watch", "-o", "json", "--server", served.address, "--insecure"]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "slipway.cli", *command, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        try:
            async with asyncio.timeout(60):
                assert json.loads(await process.stdout.readline())["state"] == "failed"
                await served.reports.store.add_events(KEY, SINK, COMPLETE.replace(b'"sequence":5', b'"sequence":9'))
                assert json.loads(await process.stdout.readline())["state"] == "complete"
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def test_a_token_is_shown_to_the_server(tmp_path: Path) -> None:
    """The management cluster is asked by it; without it, or with another one, nothing is shown."""
    async with serving(tmp_path / "store") as served:
        await fill(served)
        access = ReportAccess(AccessReviews(Reviewing(("list", "", ""))), readers=[], consoles=[])
        service = Service.of(
            reportspb.DESCRIPTOR.services_by_name["ReportService"],
            add_ReportServiceServicer_to_server,
            ReportServicer(served.reports.store, access),
        )
        server = RpcServer(ServerSettings.load({"listen_address": "127.0.0.1:0", "insecure": True}), [service])
        await server.start()
        by_token = Served(served.reports, f"127.0.0.1:{server.port}")
        token = tmp_path / "token"
        for content, code, text in (("good\n", 0, "worker-1"), ("bad", 1, "UNAUTHENTICATED"), ("a b", 2, "one token")):
            token.write_text(content)
            shown = await run(by_token, "status", "--token-file", str(token))
            assert (shown.exit_code, text in shown.stdout + shown.stderr) == (code, True), shown.stderr
        assert "show a token" in (await run(by_token, "status")).stderr
        await server.stop(grace=0)


async def test_a_server_that_does_not_answer_is_named(unused_port: int) -> None:
    """With why, and exit code 1; no transport at all is wrong usage."""
    address = f"127.0.0.1:{unused_port}"
    for command in (["status"], ["logs", "worker-1"], ["status", "--watch"]):
        shown = await asyncio.to_thread(CliRunner().invoke, cli, [*command, "--server", address, "--insecure"])
        assert (shown.exit_code, "nothing listens there" in shown.stderr) == (1, True), shown.stderr
    shown = await asyncio.to_thread(CliRunner().invoke, cli, ["status", "--server", address])
    assert (shown.exit_code, "--tls-cert-dir" in shown.stderr) == (2, True)


@pytest.mark.parametrize(
    ("seconds", "text"), [(-5, "0s"), (0, "0s"), (59, "59s"), (60, "1m"), (3599, "59m"), (7200, "2h"), (200_000, "2d")]
)
def test_an_age_has_one_unit(seconds: int, text: str) -> None:
    """As kubectl prints it; a server's clock that is ahead is no failure."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert age(now, now - timedelta(seconds=seconds)) == text


def of_files(*arguments: str) -> Any:
    """Run the command without a server."""
    return CliRunner().invoke(cli, ["status", *arguments])


def test_files_are_read_without_a_server(tmp_path: Path) -> None:
    """A file of events, and a console with noise and the events of another bundle: a row and a timeline for each."""
    events, console = tmp_path / "events.jsonl", tmp_path / "console.log"
    events.write_bytes(FAILED)
    console.write_bytes(b"[    0.1] kernel\r\n" + file_of(event(1, "COMPLETE", bundle="b2", hostname="worker-2")))
    shown = of_files("-f", str(events), "-f", str(console))
    assert shown.exit_code == 0, shown.output
    rows = [line.split()[:3] for line in shown.stdout.splitlines() if line.split()[:1] == ["worker-1"]]
    assert ["worker-1", "failed", "bootstrap"] in rows
    assert "failed in step 20-kubeadm: CommandFailed, exit code 1" in shown.stdout
    trees = json.loads(of_files("-f", str(events), "-f", str(console), "--state", "complete", "-o", "json").stdout)
    assert [(tree["machine"], tree["bundleId"], tree["sources"][0]["source"]) for tree in trees] == [
        ("worker-2", "b2", "file")
    ]


@pytest.mark.parametrize(
    ("content", "arguments", "code", "message"),
    [
        (b"nothing\n", (), 1, "there is no event in it"),
        (FAILED, ("worker-9",), 1, "there is no such event in it"),
        (b"PK\x03\x04", (), 1, "kind zip"),
        (FAILED, ("--watch",), 2, "--watch is for --server"),
        (FAILED, ("--server", "127.0.0.1:1"), 2, "give one of --server, --kubeconfig and -f"),
    ],
)
def test_what_cannot_be_shown_of_a_file_is_said(
    tmp_path: Path, content: bytes, arguments: tuple[str, ...], code: int, message: str
) -> None:
    """A file without events, of another kind, and two sources at a time; never a traceback."""
    (tmp_path / "file").write_bytes(content)
    shown = of_files("-f", str(tmp_path / "file"), *arguments)
    assert (shown.exit_code, message in shown.output) == (code, True), shown.output


def test_it_needs_one_source() -> None:
    """Without any the options are named."""
    shown = of_files()
    assert shown.exit_code == 2
    assert "--server HOST:PORT, --kubeconfig FILE, or -f FILE" in shown.output


def config(name: str, condition: dict[str, str] | None, *, kind: str = "Machine") -> dict[str, Any]:
    """Give a SlipwayConfig as the controller leaves it."""
    conditions = [
        {"type": "Ready", "status": "True"},
        *([{"type": "BootstrapSucceeded", **condition}] if condition else []),
    ]
    owners = [{"kind": kind, "name": f"{name}-machine"}]
    labels = {"cluster.x-k8s.io/cluster-name": "harbour"}
    metadata = {"name": name, "namespace": "default", "uid": name, "resourceVersion": "1", "labels": labels}
    return {"metadata": {**metadata, "ownerReferences": owners}, "status": {"bundleId": "b", "conditions": conditions}}


@asynccontextmanager
async def management(folder: Path, *configs: dict[str, Any]) -> AsyncIterator[Path]:
    """Serve SlipwayConfigs as an API server does; give a kubeconfig."""

    async def listed(request: web.Request) -> web.Response:
        assert request.match_info["namespace"] == "default"
        return web.json_response({"metadata": {"resourceVersion": "1"}, "items": list(configs)})

    application = web.Application()
    path = "/apis/bootstrap.slipway.dev/v1alpha1/namespaces/{namespace}/slipwayconfigs"
    application.router.add_get(path, listed)
    async with TestServer(application) as server:
        file = folder / "kubeconfig"
        file.write_text(
            json.dumps(
                {
                    "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.port}"}}],
                    "users": [{"name": "u", "user": {"token": "not-a-secret"}}],
                    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                    "current-context": "x",
                }
            )
        )
        yield file


FAILURE = {
    "status": "False", "reason": "CommandFailed", "message": "step 20-kubeadm failed (source: machine)",
    "lastTransitionTime": "2026-01-02T03:04:05Z",
}  # fmt: skip


async def test_the_management_cluster_has_conditions(tmp_path: Path) -> None:
    """The condition of each Machine's config; pools have none, and one without a condition has no state."""
    joined = FAILURE | {"status": "True", "reason": "NodeJoined"}
    configs = [config("a", FAILURE), config("b", joined), config("c", None), config("p", None, kind="MachinePool")]
    async with management(tmp_path, *configs) as file:
        shown = await asyncio.to_thread(of_files, "--kubeconfig", str(file), "-o", "json")
        rows = [(tree["machine"], tree["state"], tree["reason"]) for tree in json.loads(shown.stdout)]
        assert rows == [
            ("a-machine", "failed", "CommandFailed"), ("b-machine", "complete", "NodeJoined"), ("c-machine", "", ""),
        ]  # fmt: skip
        failed = await asyncio.to_thread(of_files, "--kubeconfig", str(file), "--state", "failed")
        assert "20-kubeadm" in failed.stdout
        assert "b-machine" not in failed.stdout
        missing = await asyncio.to_thread(of_files, "nobody", "--kubeconfig", str(file))
        assert (missing.exit_code, "there is no SlipwayConfig of nobody" in missing.output) == (1, True)


async def test_a_management_cluster_that_does_not_answer_is_named(tmp_path: Path) -> None:
    """So is a file that is no kubeconfig."""
    async with management(tmp_path) as file:
        pass
    shown = await asyncio.to_thread(of_files, "--kubeconfig", str(file))
    assert (shown.exit_code, "the management cluster: GET SlipwayConfig" in shown.output) == (1, True), shown.output
    file.write_text("no")
    for path in (file, tmp_path / "missing"):
        shown = await asyncio.to_thread(of_files, "--kubeconfig", str(path))
        assert (shown.exit_code, "no usable kubeconfig" in shown.output) == (2, True), shown.output
