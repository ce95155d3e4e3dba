"""Cluster API's providers beside an API server: what is applied for them, and each as a process of its own."""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tools.cluster import listening, manifests
from tools.cluster.access import Access
from tools.cluster.administration import Administration
from tools.cluster.fake_infrastructure import definitions, way_in
from tools.cluster.processes import Process, Supervisor
from tools.oracles import cache, cluster_api, go_programs

Object = dict[str, Any]

CORE = "core"
KUBEADM_BOOTSTRAP = "kubeadm-bootstrap"
KUBEADM_CONTROL_PLANE = "kubeadm-control-plane"
IN_MEMORY = "in-memory"
FAKE_INFRASTRUCTURE = "fake-infrastructure"

_FEATURES = ("MachinePool=true", "ClusterTopology=true")
_PORTS = {CORE: 0, KUBEADM_BOOTSTRAP: 1, KUBEADM_CONTROL_PLANE: 2, IN_MEMORY: 3}
_FIRST_PORT = 24000  # Below it the in-memory API servers, far above it those ports that clients get.
_ENVIRONMENTS = 800
_HEALTH = 5  # Above the port of the webhooks.


def names(version: str) -> tuple[str, ...]:
    """The providers of a release: its own ones, and the fake infrastructure where it has none."""
    own = tuple(cluster_api.MANIFESTS[version].sources)
    return own if IN_MEMORY in own else (*own, FAKE_INFRASTRUCTURE)


def webhook_port(name: str, address: str) -> int:
    """The port of a provider's webhooks, hardly the same in any two environments.

    Our own programs listen on the environment's address only, the providers' original ones on every address.
    """
    numbers = int(ipaddress.IPv4Address(address)) % _ENVIRONMENTS
    return _FIRST_PORT + 10 * numbers + _PORTS[name]


def documents(version: str, name: str, administration: Administration) -> list[Object]:
    """What is applied for a provider.

    Raises:
        EngineMissing: the manifests were not built yet.
    """
    if name == FAKE_INFRASTRUCTURE:
        return definitions.documents()
    published = cluster_api.MANIFESTS[version].require()[name]
    webhooks = f"https://{administration.address}:{webhook_port(name, administration.address)}"
    return manifests.localized(published, webhooks=webhooks, authority=administration.authority.certificate)


def service_account(documents: Iterable[Object]) -> tuple[str, str]:
    """Namespace and name of the account that a provider runs as, by its manifests."""
    for document in documents:
        if document["kind"] == "ServiceAccount":
            return document["metadata"]["namespace"], document["metadata"]["name"]
    return definitions.SERVICE_ACCOUNT


class Provider:
    """How one provider is run."""

    def __init__(  # noqa: PLR0913 keyword-only
        self,
        version: str,
        name: str,
        *,
        administration: Administration,
        features: Sequence[str] = (),
        flags: Sequence[str] = (),
        site_note: Path | None = None,
    ) -> None:
        """Say which; with a ``site_note`` the machines of the fake infrastructure are real (its ``--boot``)."""
        self.name = name
        self.documents = documents(version, name, administration)
        self._version = version
        self._administration = administration
        self._features = (*_FEATURES, *features)
        self._flags = flags
        self._site_note = site_note

    def process(self, supervisor: Supervisor, access: Access) -> Process:
        """Its process, not yet started.

        Raises:
            EngineMissing: its program was not built yet.
        """
        kubeconfig = access.write(self._administration.directory / f"{self.name}.kubeconfig")
        if self.name == FAKE_INFRASTRUCTURE:
            return self._fake_infrastructure(supervisor, kubeconfig)
        port = webhook_port(self.name, self._administration.address)
        health = f"{self._administration.address}:{port + _HEALTH}"
        program = go_programs.PROGRAMS[f"cluster-api-{self._version}"].require()
        command = (
            str(program), f"--parts={self.name}", f"--kubeconfig={kubeconfig}",
            f"--host={self._administration.address}", f"--webhook-port={port}",
            f"--webhook-cert-dir={self._administration.directory / 'serving'}", f"--health-addr={health}",
            f"--feature-gates={','.join(self._features)}", "-v=2", *self._flags,
        )  # fmt: skip
        # Loopback, where the management cluster is, is never proxied by programs in Go.
        env = {"HTTPS_PROXY": way_in.url(self._administration.address)} if self._site_note else {}
        return supervisor.process(
            self.name, command, ready=lambda: listening.answers_ok(f"http://{health}/readyz"), env=env
        )

    def _fake_infrastructure(self, supervisor: Supervisor, kubeconfig: Path) -> Process:
        command = (sys.executable, "-m", "tools.cluster.fake_infrastructure", f"--kubeconfig={kubeconfig}")
        env = {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
        note = self._site_note
        if note is None:
            return supervisor.process(self.name, command, ready=lambda: True, env=env)
        env["SLIPWAY_CACHE"] = str(cache.directory())
        real = (f"--boot={note}", f"--address={self._administration.address}")
        return supervisor.process(self.name, (*command, *real), ready=note.exists, env=env)
