"""The controller as a program that serves the webhook: by TLS, with the certificate of its own directory."""

import asyncio
import base64
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.cli.processes import LOOPBACK
from slipway.rpc.addresses import free_port
from tests.controller import manifests
from tests.controller.opt_in import opting_in
from tests.controller.site import Site
from tests.controller.test_processes import Processes
from tests.services.certificates import Authority

pytestmark = [pytest.mark.engine, pytest.mark.timeout(400)]


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """End with the test, whatever becomes of it."""
    made = Processes(tmp_path)
    yield made
    made.end()


async def test_the_program_serves_the_webhook(site: Site, processes: Processes, tmp_path: Path) -> None:
    """The API server asks it and takes its answers, while it waits for a registry; it ends in order."""
    authority, address = Authority(), f"{LOOPBACK}:{free_port()}"
    certificates = authority.fill(tmp_path / "certs", uris=["spiffe://slipway/controller/controller"])
    processes.start(
        "controller",
        "slipway.controller",
        f"--tls-cert-dir={certificates}",
        f"--listen-address={LOOPBACK}:{free_port()}",
        f"--registry-address={LOOPBACK}:{free_port()}",
        f"--webhook-address={address}",
        f"--kubeconfig={site.kubeconfig}",
        f"--namespaces={site.namespace}",
        f"--lease-namespace={manifests.NAMESPACE}",
        "--drain-propagation-seconds=0",
        insecure=False,
    )
    await opting_in.guarded(site)
    document = manifests.webhook(site.namespace, f"https://{address}", authority.certificate)
    (webhook,) = document["webhooks"]
    assert base64.b64decode(webhook["clientConfig"]["caBundle"]) == authority.certificate
    await site.apply(document)
    await opting_in.asked(site)
    controller = processes.running["controller"]
    controller.send_signal(signal.SIGTERM)
    assert await asyncio.to_thread(controller.wait, 60) == 0
    assert "Traceback" not in processes.log("controller")
