"""What a test or a tool sees of a management cluster, whichever process runs it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tools.cluster.administration import Administration
from tools.cluster.audit import Log
from tools.cluster.authority import Pair
from tools.cluster.client import Client
from tools.cluster.fake_infrastructure import way_in
from tools.cluster.joining import Join, dry_run
from tools.node import site
from tools.node.machine import Machine

Object = dict[str, Any]

MANAGEMENT = "management"
PROGRAMS = "bin"
LOGS = "logs"
SITE_NOTE = "site"


@dataclass(frozen=True)
class Environment:
    """A management cluster in a directory and at a loopback address of its own; there, any other port is free."""

    directory: Path
    address: str

    @cached_property
    def administration(self) -> Administration:
        """All that an administrator of its API server can do."""
        return Administration(self.directory / MANAGEMENT, self.address)

    @property
    def programs(self) -> Path:
        """The folder with ``kubectl`` and ``kubeadm``."""
        return self.directory / PROGRAMS

    @property
    def logs(self) -> Path:
        """The folder with the log of every process."""
        return self.directory / LOGS

    @property
    def client(self) -> Client:
        """A client that may do everything."""
        return self.administration.client

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of somebody who may do everything."""
        return self.administration.kubeconfig

    @property
    def audit(self) -> Log:
        """What the API server was asked."""
        return self.administration.audit

    @property
    def environment(self) -> dict[str, str]:
        """Variables for a program that is to find ``kubectl`` and this cluster."""
        return {"PATH": f"{self.programs}:{os.environ['PATH']}", "KUBECONFIG": str(self.kubeconfig)}

    @property
    def way_in(self) -> dict[str, str]:
        """Variables for a program that is to reach API servers of real machines; of use only where there are any."""
        return {"HTTPS_PROXY": way_in.url(self.address), "NO_PROXY": self.address}

    @property
    def machines(self) -> dict[str, Machine]:
        """The real machines that were booted so far, by name.

        Raises:
            FileNotFoundError: this environment has none, or they have ended.
        """
        note = (self.directory / SITE_NOTE).read_text(encoding="utf-8")
        return site.reopened(Path(note)).machines

    def apply(self, documents: Sequence[Object]) -> None:
        """Apply documents: definitions first, the others once the kinds can be used; errors as of ``applying``."""
        self.administration.apply(documents)

    def apply_yaml(self, text: str) -> None:
        """``apply`` for YAML documents."""
        self.administration.apply_yaml(text)

    def kubeconfig_of_account(self, namespace: str, name: str) -> Path:
        """The kubeconfig of a service account, which is made when absent; it may do what roles are bound to it."""
        access = self.administration.service_account(namespace, name)
        return access.write(self.directory / "accounts" / f"{namespace}.{name}.kubeconfig")

    def token_of_account(self, namespace: str, name: str, *, audience: str = "") -> str:
        """A token of a service account that is there; without an audience it is the API server's."""
        return self.administration.token(namespace, name, audience=audience)

    def kubeconfig_of_user(self, name: str, *, groups: Sequence[str] = ()) -> Path:
        """The kubeconfig of a user by certificate; it may do what roles are bound to it."""
        access = self.administration.access(name, groups=groups)
        return access.write(self.directory / "accounts" / f"{name}.kubeconfig")

    def serving_certificate(self, *names: str) -> Pair:
        """A server's certificate for a webhook; ``administration.authority`` is its bundle."""
        return self.administration.authority.server(self.address, "localhost", "127.0.0.1", *names)

    def dry_run_join(self, documents: bytes) -> Join:
        """Let the real kubeadm join with these documents, as of ``joining.dry_run``."""
        return dry_run(self.programs, documents)
