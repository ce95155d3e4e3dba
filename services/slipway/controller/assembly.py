"""The parts of the controller put together, apart from the process that they run in."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.controller.cluster_object import ClusterObject
from slipway.controller.control_planes import ControlPlanes
from slipway.controller.controller import Controller
from slipway.controller.engines import Engines
from slipway.controller.init_lock import InitLock
from slipway.controller.metrics import Metrics
from slipway.controller.opt_in.decision import decide_opted_in
from slipway.controller.opt_in.questions import KubeadmQuestions
from slipway.controller.opt_in.reporter import OptedInReporter
from slipway.controller.payloads import Payloads
from slipway.controller.question import NativeQuestions
from slipway.controller.reconciler import Reconciler
from slipway.controller.rendering import Renderer
from slipway.controller.report import Reporter
from slipway.controller.report_addresses import ReportAddresses
from slipway.controller.report_forwarding import ReportForwarding
from slipway.controller.report_sources import ReportSource
from slipway.controller.report_watch import ReportServer, ReportWatch
from slipway.controller.secret_reader import SecretReader
from slipway.controller.serving_certificates import ServingCertificates
from slipway.controller.timeouts import Timeouts
from slipway.controller.watches import Watches
from slipway.controller.workload import Connect, Connected, Workloads
from slipway.controller.workload_reports import WorkloadReports
from slipway.kubernetes_api.api import Api
from slipway.kubernetes_api.connection import Connection
from slipway.kubernetes_api.destinations import Destinations
from slipway.kubernetes_api.kubeconfig import ClusterAccess
from slipway.kubernetes_api.objects import Objects

_WORKLOAD_SECONDS = 10.0


def utc_now() -> datetime:
    """Give the time: the controller's only clock for what objects say."""
    return datetime.now(UTC)


class WorkloadApi(Api):
    """The API of a workload cluster, by a connection of its own."""

    async def close(self) -> None:
        """Close the connection."""
        await self.connection.close()


def connect_to(destinations: Destinations) -> Connect:
    """Give what connects to a workload cluster; one that does not answer costs its own machines ten seconds."""

    def connect(access: ClusterAccess) -> Connected:
        return WorkloadApi(Connection.to(access, destinations, seconds=_WORKLOAD_SECONDS))

    return connect


@dataclass(frozen=True, slots=True)
class Assembled:
    """A controller with the parts that others ask; `opted_in` follows KubeadmConfigs, where that is asked for."""

    controller: Controller
    watches: Watches
    reader: SecretReader
    metrics: Metrics
    opted_in: Watches | None = None

    @property
    def every_watches(self) -> list[Watches]:
        """The watches of every kind of configs."""
        return [watches for watches in (self.watches, self.opted_in) if watches is not None]


def assemble(  # noqa: PLR0913  # keyword-only settings
    api: Api,
    bootstrapper: Bootstrapper,
    *,
    timeouts: Timeouts | None = None,
    namespaces: Collection[str] = (),
    watch_filter: str = "",
    workers: int = 32,
    objects: Objects | None = None,
    opt_in: bool = False,
    dial: Connect | None = None,
    reports: ReportAddresses | None = None,
    report_server: ReportServer | None = None,
    workload_reports: bool = False,
    payloads: Payloads | None = None,
    serving_certificates: bool = False,
) -> Assembled:
    """Put a controller together.

    Args:
        api: the management cluster, for watches.
        bootstrapper: what renders.
        timeouts: times of the reconciler.
        namespaces: the only ones that are followed; none for all.
        watch_filter: value of Cluster API's label that a config must have, or "".
        workers: how many configs are worked on at a time.
        objects: for calls that are not watches, where that is not the same as `api`.
        opt_in: opted-in KubeadmConfigs are worked on as well.
        dial: connects to workload clusters; by default to none on this machine or in the management cluster.
        reports: gives machines addresses to report to.
        report_server: where reports are followed.
        workload_reports: reports are read in workload clusters, of the machines that report there.
        payloads: stores user data that machines fetch.
        serving_certificates: serving certificates of kubelets are approved in workload clusters.
    """
    calls = objects or api
    watches = Watches.of(api, namespaces=namespaces, watch_filter=watch_filter)
    reader = SecretReader(calls, watches.secrets, watches.clusters)
    watches.secret_gone = lambda key: reader.forget(*key)
    workloads = Workloads(reader, dial or connect_to(Destinations()))
    native = _reconciler(calls, bootstrapper, watches, workloads, timeouts or Timeouts())
    native = replace(native, renderer=replace(native.renderer, reports=reports, payloads=payloads))
    if payloads is not None:
        watches.payload_gone = lambda url, namespace: payloads.forget(url, namespace=namespace)
    theirs: Watches | None = None
    if opt_in:
        theirs = watches.of_kubeadm_configs(api, namespaces=namespaces, watch_filter=watch_filter)
    every = [each for each in (watches, theirs) if each is not None]
    sources: list[ReportSource] = []
    if report_server is not None:
        sources.append(ReportWatch(report_server, watches.namespaces))
    if workload_reports:
        sources.append(
            WorkloadReports(
                workloads,
                lambda: chain.from_iterable(each.reporting_machines() for each in every),
                utc_now,
                None if report_server is None else ReportForwarding(report_server),
            )
        )
    if sources:
        native = replace(native, reporter=Reporter(calls, utc_now, reports=True))
    beside = [Controller(theirs, _opted_in(native, calls, theirs), workers=workers)] if theirs else []
    runs = [ServingCertificates(workloads, lambda: _clusters(every), watches.machines_of).run]
    controller = Controller(
        watches, native, workers=workers, beside=beside, reports=sources, runs=runs if serving_certificates else ()
    )
    return Assembled(controller, watches, reader, native.metrics, theirs)


def _clusters(every: Sequence[Watches]) -> list[ClusterObject]:
    """Give the Clusters with machines of ours, each once."""
    return list({(each.namespace, each.name): each for watches in every for each in watches.own_clusters()}.values())


def _reconciler(
    calls: Objects, bootstrapper: Bootstrapper, watches: Watches, workloads: Workloads, timeouts: Timeouts
) -> Reconciler:
    reader = workloads.reader
    renderer = Renderer(
        objects=calls,
        reader=reader,
        bootstrapper=bootstrapper,
        clock=utc_now,
        questions=NativeQuestions(reader, ControlPlanes(calls), bootstrapper.compiler.engines, watches.depend),
        engines=Engines(bootstrapper, watches.machines_of, watches.secrets),
        workloads=workloads,
    )
    return Reconciler(
        objects=calls,
        renderer=renderer,
        reporter=Reporter(calls, utc_now),
        lock=InitLock(calls, watches.machines),
        workloads=workloads,
        clock=utc_now,
        metrics=Metrics(),
        timeouts=timeouts,
    )


def _opted_in(native: Reconciler, calls: Objects, watches: Watches) -> Reconciler:
    """Give the reconciler of opted-in KubeadmConfigs: the same, but for what is read of them and written into them."""
    renderer = native.renderer
    questions = KubeadmQuestions(renderer.reader, ControlPlanes(calls), renderer.bootstrapper, watches.depend)
    return replace(
        native,
        renderer=replace(renderer, questions=questions),
        reporter=OptedInReporter(calls, utc_now, reports=native.reporter.reports),
        decide=decide_opted_in,
    )
