"""Slipway in a management cluster on loopback: its kinds and roles, the webhook, and the controller as one process.

What the sources have in ``deploy/kubernetes`` is applied, and the controller has the account and the roles from there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from slipway.embedded.provisioners import NAMES
from tools.cluster import listening, manifests
from tools.cluster.environment import Environment
from tools.cluster.processes import Process, Supervisor

Object = dict[str, Any]

DEPLOY = Path(__file__).resolve().parents[2] / "deploy" / "kubernetes"
NAMESPACE = "slipway-system"
ACCOUNT = "slipway-controller"
TOKEN_SECONDS = 900.0
_PARTS = ("crd", "rbac", "opt-in")
_PORT = 19443
_CALLS_PORT = 19444
_THIS_MACHINE = "127.0.0.0/8"
"""Where the API servers of workload clusters listen."""
_LEFT_OUT = frozenset({"NetworkPolicy", "Kustomization", "Component"})
"""Kinds that say nothing to an API server which runs no pods, or are none of its kinds."""


def start(
    supervisor: Supervisor,
    environment: Environment,
    *,
    token_seconds: float = TOKEN_SECONDS,
    env: Mapping[str, str] | None = None,
) -> Process:
    """Apply Slipway's documents and run its controller; KubeadmConfigs can opt in.

    Args:
        supervisor: ends it.
        environment: the management cluster.
        token_seconds: how long a bootstrap token is accepted after it was last refreshed.
        env: further variables of the process, for example how it reaches workload clusters.

    Raises:
        FileNotFoundError: this is not run from Slipway's sources, which hold the manifests.
        EngineError: it did not come up.
    """
    address = f"{environment.address}:{_PORT}"
    webhooks = [document for document in _documents() if document["kind"] == "MutatingWebhookConfiguration"]
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    environment.apply([namespace, *(document for document in _documents() if document not in webhooks)])
    kubeconfig = environment.kubeconfig_of_account(NAMESPACE, ACCOUNT)
    certificates = environment.directory / "slipway"
    environment.serving_certificate().write(certificates)
    authority = environment.administration.authority.certificate
    (certificates / "ca.crt").write_bytes(authority)
    process = supervisor.process(
        "slipway",
        (
            sys.executable, "-m", "slipway.controller", f"--kubeconfig={kubeconfig}",
            f"--tls-cert-dir={certificates}", f"--listen-address={environment.address}:{_CALLS_PORT}",
            f"--webhook-address={address}", f"--embedded-provisioners={','.join(NAMES)}", "--no-leader-elect",
            f"--bootstrap-token-ttl-seconds={token_seconds}", f"--workload-servers={_THIS_MACHINE}",
        ),
        ready=lambda: listening.accepts(environment.address, _PORT),
        env=dict(env or {}),
    )  # fmt: skip
    process.start()
    environment.apply(manifests.localized(webhooks, webhooks=f"https://{address}", authority=authority))
    return process


def _documents() -> Iterator[Object]:
    for part in _PARTS:
        if not (DEPLOY / part).is_dir():
            raise FileNotFoundError(f"{DEPLOY / part} is not there: only Slipway's sources have it")
        for path in sorted((DEPLOY / part).glob("*.yaml")):
            documents = (document for document in yaml.safe_load_all(path.read_text(encoding="utf-8")) if document)
            yield from (document for document in documents if document["kind"] not in _LEFT_OUT)
