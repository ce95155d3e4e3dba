"""Workers with one thing broken on purpose, end to end.

The machine boots, its runner and machineadm report to a node gateway, which keeps and diagnoses what arrives; the
controller follows ReportService, and its condition has the reason.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slipway.bootstrapper.assembly.report_addresses import Addresses
from slipway.reports.capability import Capabilities, Kind, Target
from slipway.reports.names import BundleKey
from tests.node.gateway import EXECUTOR, Gateway, gateway
from tests.node.harbour import SECONDS, Harbour, failure
from tests.node.test_breakage import LISTENER, SOON, before
from tests.services.controller.test_bootstrap_condition import worker_that_waits
from tests.services.controller.test_report_watch import until, watching
from tests.services.reports.served import serving

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(1200)]

HOURS = 3600
BROKEN: dict[str, tuple[str, dict[str, Any], str]] = {
    "sent-port": ("169.254.22.1", before(f"systemd-run python3 -c '{LISTENER}'", "sleep 2"), "PortInUse"),
    "sent-field": ("169.254.22.2", before("sed -i 's/tlsBootstrap: .*/tlsBootstrap: 5/' /etc/slipway/kubeadm.yaml"),
     "KubeadmConfigInvalid"),
    "sent-flag": ("169.254.22.3", before(SOON, "echo KUBELET_EXTRA_ARGS=--no-such-flag >/etc/default/kubelet"),
     "KubeletFlagUnknown"),
    "sent-command": ("169.254.22.4", before("curl -fsS -o /dev/null http://10.77.0.1/none"), "DownloadUnreachable"),
}  # fmt: skip


def take_reports(source: Gateway, harbour: Harbour, name: str) -> None:
    """Have a gateway take the reports of a machine, and the operator give it the addresses."""
    folder = source.store.parent
    (folder / "key").write_text("k" * 64)
    capabilities = Capabilities.of_file(folder / "key")
    source.command += f" --report-store=file://{folder}/reports --report-key-file={folder}/key"

    def addresses(bundle_id: str) -> Addresses:
        key = BundleKey("default", "harbour", name, bundle_id)
        expires = int(time.time()) + HOURS
        events, logs = (
            f"https://{source.address}" + capabilities.address(Target(key, kind), expires=expires)
            for kind in (Kind.EVENTS, Kind.LOGS)
        )
        return Addresses(events, logs)

    harbour.rendering = harbour.rendering.reporting(addresses)


async def condition_of(folder: Path, name: str) -> tuple[str, str, str]:
    """Give the condition of a controller that follows ReportService over what a gateway has kept."""
    async with serving(folder) as served, watching(served.address, "default") as (watch, _):
        await until(lambda: watch.get("default", "harbour", name))
        report = watch.get("default", "harbour", name)
    assert report is not None
    scene = await worker_that_waits()
    await scene.observed(report)
    return scene.bootstrap()


@pytest.mark.parametrize("name", BROKEN)
def test_condition_of_broken_machine(harbour: Harbour, engine: Callable[..., None], name: str) -> None:
    """The condition names the failing step by the machine's event, and what its log bundle shows."""
    address, spec, reason = BROKEN[name]
    with gateway(harbour, engine, address) as source:
        take_reports(source, harbour, name)
        source.start()
        commands = {"pre": [EXECUTOR, *spec["commands"]["pre"]]}
        machine = harbour.worker(name, **source.spec | spec | {"commands": commands})
        record, _ = failure(machine)
        kept = source.store.parent / "reports"
        machine.wait_until(
            lambda: any(kept.rglob("*_logs_*")) and any(kept.rglob("*_failed_*")), "no report", timeout=SECONDS
        )
        (source.store.parent / "files").mkdir()
        status, why, message = asyncio.run(condition_of(source.store.parent, name))
        assert (status, why) == ("False", record["reason"])
        assert message.startswith(f"step {record['step']} of the phase ")
        assert message.endswith(f"(source: machine); its logs show {reason}")
        assert not harbour.joined(machine.name)
