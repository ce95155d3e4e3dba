"""A machine and the real node gateway: what fails on the one is read at the other."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

from slipway.diagnosis.diagnosis import diagnose
from slipway.diagnosis.log_files import logs_of
from slipway.reports.capability import Kind
from slipway.reports.names import BundleKey
from tests.bootstrapper.lowering.runners import reporting_machine as reports
from tests.bootstrapper.lowering.runners.conftest import linux_machine
from tests.bootstrapper.lowering.runners.plans import script
from tests.services.node_gateway.test_uploads import gateway
from tools.oracles import machineadm

KEY = BundleKey("default", "harbour", "worker-1", "bundle-1")
_KEPT_EVENTS = re.compile(r"/[0-9]+_sink_[0-9a-f]+_failed_bootstrap_3_CommandFailed_m\.jsonl$")


async def test_a_failed_bootstrap_arrives(tmp_path: Path, engine: Callable[..., None]) -> None:
    """The gateway keeps the events, with the failing step in their name, and a log bundle that gives the reason."""
    engine(machineadm.NAME)
    (tmp_path / "gateway").mkdir()
    kept = tmp_path / "gateway/reports/reports/default/harbour/worker-1/bundle-1"
    async with gateway(tmp_path / "gateway") as served:
        async with served.client.put("/") as answer:
            base = str(answer.url).removesuffix("/")
        paths = served.address(key=KEY), served.address(Kind.LOGS, key=KEY)
        for machine in linux_machine("dash", tmp_path / "machine"):
            machine.path("/opt/bin").mkdir(parents=True)
            machine.path("/opt/bin/machineadm").write_bytes(machineadm.require().read_bytes())
            machine.path("/opt/bin/machineadm").chmod(0o755)
            step = script("m", "echo '[ERROR Swap]: running with swap on'; exit 3")
            reports.prepare(machine, base, step, paths=paths)
            assert await asyncio.to_thread(machine.run, reports.ENTRY) == 1
            await asyncio.to_thread(reports.wait_for, lambda: bool(list(kept.glob("*_logs_*"))))
            reports.stop(machine)
        assert any(_KEPT_EVENTS.search(name) for name in served.names())
        (name,) = [name for name in served.names() if "_logs_" in name]
        logs = logs_of("logs", (tmp_path / "gateway/reports" / name).read_bytes())
        assert [finding.rule.reason for finding in diagnose(logs).findings] == ["SwapOn"]
