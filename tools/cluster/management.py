"""A management cluster: an API server with Cluster API in it, for the time of a ``with`` block.

::

    with ManagementCluster("1.14") as cluster:
        cluster.client.apply({...})                       # as admin
        cluster.providers["core"].kill()                  # each process ends, and starts again, on its own
        kubeconfig = cluster.kubeconfig_of_account("slipway-system", "controller")
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from tools.cluster import applying, place, processes, programs, providers
from tools.cluster.api_server import ApiServer, Shape
from tools.cluster.environment import LOGS, PROGRAMS, SITE_NOTE, Environment
from tools.cluster.fake_infrastructure import definitions
from tools.cluster.processes import Process, Supervisor
from tools.cluster.workload import WorkloadCluster
from tools.node import watchers

Object = dict[str, Any]

_WATCHERS = 16
"""Watchers of files that the processes of a management cluster open together, give or take a few."""


@dataclass(frozen=True)
class RunningCluster(Environment):
    """An environment of this process, which can end and start each of its processes."""

    server: ApiServer
    providers: Mapping[str, Process]
    supervisor: Supervisor
    ending: contextlib.ExitStack

    def workload_cluster(self, name: str) -> WorkloadCluster:
        """Start a real API server for a workload cluster, with this one's life time; 5 seconds.

        The fake infrastructure gives its endpoint to a Cluster of that name.
        """
        made = WorkloadCluster(self.supervisor, self.directory, name=name, programs=self.programs)
        self.ending.enter_context(made)
        if providers.FAKE_INFRASTRUCTURE in self.providers:
            host, port = made.endpoint
            self.client.apply(definitions.api_server(name, host=host, port=port), owner=f"workload-{name}")
        return made


class ManagementCluster:
    """etcd, API server, controllers, and the providers of one release of Cluster API; all on one loopback address.

    Entering it takes 10 to 20 seconds on a quiet machine. Everything ends with the block, or with the process.
    """

    def __init__(  # noqa: PLR0913 keyword-only, all with a default
        self, cluster_api: str | None = "1.14", *, extra: Sequence[Object] = (), only: Sequence[str] | None = None,
        features: Sequence[str] = (), provider_flags: Sequence[str] = (), api_server_flags: Sequence[str] = (),
        real_machines: bool = False,
    ) -> None:  # fmt: skip
        """Say what it is to be.

        Args:
            cluster_api: "1.12" (with its in-memory infrastructure), "1.14" (with the fake one), or None for neither.
            extra: documents applied before the providers start, definitions among them.
            only: the providers to be started at once, all by default; the others wait in ``providers``.
            features: feature gates of the providers beside MachinePool and ClusterTopology, as ``Name=true``.
            provider_flags: further flags of Cluster API's own providers.
            api_server_flags: further flags of kube-apiserver.
            real_machines: the machines of the fake infrastructure boot, as of ``fake_infrastructure.booted``.

        Raises:
            ValueError: real machines are asked for where the infrastructure is not the fake one.
        """
        if real_machines and (cluster_api is None or providers.FAKE_INFRASTRUCTURE not in providers.names(cluster_api)):
            raise ValueError("only the fake infrastructure has real machines: take Cluster API 1.14")
        self._version = cluster_api
        self._extra = extra
        self._only = only
        self._features = features
        self._provider_flags = provider_flags
        self._flags = api_server_flags
        self._real = real_machines
        self._ending = contextlib.ExitStack()

    def __enter__(self) -> RunningCluster:
        """Start it.

        Raises:
            EngineMissing: a program or the manifests were not built yet.
            EngineError: it did not come up; the message has the end of the log that tells.
        """
        try:
            return self._start()
        except BaseException:
            self._ending.close()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End everything and remove the files."""
        self._ending.close()

    def _start(self) -> RunningCluster:
        # An API server without watchers of its certificates' files ends, and says nothing of the limit.
        watchers.wait_free("the management cluster", needed=_WATCHERS)
        where = self._ending.enter_context(place.reserve())
        environment = Environment(where.directory, where.address)
        supervisor = self._ending.enter_context(processes.supervisor(where.directory / LOGS))
        shape = Shape(programs.link(where.directory / PROGRAMS), flags=self._flags)
        server = ApiServer(supervisor, environment.administration, shape)
        server.start()
        made = [] if self._version is None else self._providers(self._version, server)
        documents = [document for provider in made for document in provider.documents]
        environment.apply([*documents, *self._extra])
        server.start_controllers()
        applying.wait_aggregated(environment.client, documents)
        running = {}
        for provider in made:
            account = environment.administration.service_account(*providers.service_account(provider.documents))
            running[provider.name] = provider.process(supervisor, account)
        if self._real:
            # In order, so that nothing of the machines is left when this ends; else a keeper cleans up a little later.
            self._ending.callback(running[providers.FAKE_INFRASTRUCTURE].stop)
        self._start_providers([entry for name, entry in running.items() if self._only is None or name in self._only])
        return RunningCluster(where.directory, where.address, server, running, supervisor, self._ending)

    def _providers(self, version: str, server: ApiServer) -> list[providers.Provider]:
        note = server.administration.directory.parent / SITE_NOTE if self._real else None
        return [
            providers.Provider(
                version,
                name,
                administration=server.administration,
                features=self._features,
                flags=self._provider_flags,
                site_note=note,
            )
            for name in providers.names(version)
        ]

    def _start_providers(self, chosen: Sequence[Process]) -> None:
        for process in chosen:
            process.start(wait=False)
        for process in chosen:
            process.wait_ready()
