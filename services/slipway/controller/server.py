"""The controller's process: leader election and work beside a server that every replica runs."""

import socket
import uuid
from collections.abc import Iterator
from pathlib import Path

import structlog

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.callers import Callers
from slipway.bootstrapper.provisioning.directory import ProvisionerDirectory
from slipway.bootstrapper.provisioning_service import provisioning_service
from slipway.controller.assembly import Assembled, assemble, connect_to, utc_now
from slipway.controller.machine_data import MachineData
from slipway.controller.metrics import MetricsCollector
from slipway.controller.opt_in.webhook import Webhook
from slipway.controller.reading import Readers
from slipway.controller.service import ManagementServicer
from slipway.controller.settings import ControllerSettings
from slipway.embedded.bootstrapper import bootstrapper_of
from slipway.embedded.joined import provisioners_of
from slipway.kubernetes_api.api import Api
from slipway.kubernetes_api.connection import Connection
from slipway.kubernetes_api.destinations import Destinations
from slipway.kubernetes_api.election import Election
from slipway.kubernetes_api.leader_work import LeaderWork
from slipway.kubernetes_api.rate_limiter import RateLimiter
from slipway.rpc.channel import ChannelPool
from slipway.rpc.lifecycle import serve
from slipway.rpc.server import ServerStartError, Service
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1.bootstrap_service_pb2_grpc import add_BootstrapServiceServicer_to_server

NAME = "slipway-controller"
LEASE = "slipway-controller.bootstrap.slipway.dev"
_NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_DEFAULT_NAMESPACE = "slipway-system"
LOG_KEYS = (
    "cluster",
    "config",
    "failure",
    "lease",
    "machine",
    "namespace",
    "node",
    "owner",
    "why",
    "work",
)
"""What its log has besides the keys of every server: names of objects, types of failures, and closed words."""

_log = structlog.get_logger("slipway.controller")


async def serve_controller(settings: ControllerSettings) -> None:
    """Serve until a signal ends it; exit with 1 when leadership is lost, since another replica writes then."""
    webhook = _webhook(settings)
    reports = settings.report_addresses(utc_now)
    report_server = settings.report_server()
    payloads = settings.payloads()
    callers = Callers(settings.allowed_callers, trust_domain=settings.trust_domain)
    channels = ChannelPool.of(settings)
    directory = ProvisionerDirectory(channels, settings.registry_address) if settings.registry_address else None
    provisioners = provisioners_of(settings, directory, channels)
    bootstrapper = bootstrapper_of(settings, provisioners)
    connection = await Connection.of_process(
        settings.kubeconfig, rate_limiter=RateLimiter(per_second=settings.kube_api_qps, burst=settings.kube_api_burst)
    )
    # Leases and watches must not stand in line behind a thousand machines.
    urgent = await Connection.of_process(settings.kubeconfig)
    assembled = assemble(
        Api(urgent),
        bootstrapper,
        timeouts=settings.timeouts,
        namespaces=sorted(settings.namespaces or ()),
        watch_filter=settings.watch_filter,
        workers=settings.workers,
        objects=Api(connection),
        opt_in=settings.webhook is not None,
        dial=connect_to(Destinations(settings.workload_servers)),
        reports=reports,
        report_server=report_server,
        workload_reports=settings.workload_reports,
        payloads=payloads,
        serving_certificates=settings.approve_kubelet_certificates,
    )
    controller = assembled.controller
    work = LeaderWork(
        controller.lead,
        _election(settings, Api(urgent)) if settings.leader_elect else None,
        name="controller",
        log=_log,
    )
    if directory is not None:
        directory.listen(lambda: controller.provisioners_told(provisioners.instances()))
        directory.start()
    controller.follow()
    try:
        if webhook is not None:
            await _listen(webhook)
        await serve(
            settings,
            list(services(bootstrapper, callers, assembled, objects=Api(connection), settings=settings)),
            name=NAME,
            policy=callers,
            on_start=[work.start],
            on_drain=[work.stop],
            collectors=[
                MetricsCollector(assembled.metrics, loads=controller.loads, calls=lambda: dict(connection.calls))
            ],
            log_keys=LOG_KEYS,
        )
    finally:
        await work.stop()
        await controller.stop()
        if directory is not None:
            await directory.stop()
        if webhook is not None:
            await webhook.stop()
        if report_server is not None:
            await report_server.channels.close()
        if payloads is not None:
            await payloads.close()
        for resource in (connection, urgent, channels):
            await resource.close()
    work.check()


def _election(settings: ControllerSettings, api: Api) -> Election:
    namespace = settings.lease_namespace
    if namespace is None:
        namespace = _NAMESPACE_FILE.read_text().strip() if _NAMESPACE_FILE.exists() else _DEFAULT_NAMESPACE
    name = f"{LEASE}.{settings.watch_filter}" if settings.watch_filter else LEASE
    return Election(api, namespace=namespace, name=name, identity=f"{socket.gethostname()}_{uuid.uuid4()}")


def _webhook(settings: ControllerSettings) -> Webhook | None:
    if settings.webhook is None:
        return None
    host, port, certificates = settings.webhook
    try:
        return Webhook(host=host, port=port, certificates=certificates, namespaces=settings.namespaces or ())
    except OSError:
        raise ServerStartError("--tls-cert-dir: no usable tls.crt and tls.key for the webhook") from None


async def _listen(webhook: Webhook) -> None:
    try:
        await webhook.start()
    except OSError:
        raise ServerStartError(
            "--webhook-address: cannot listen there with the certificate of --tls-cert-dir"
        ) from None


def services(
    bootstrapper: Bootstrapper, callers: Callers, parts: Assembled, *, objects: Api, settings: ControllerSettings
) -> Iterator[Service]:
    """Give what the controller serves: what a bootstrapper does, and the stored user data of Machines."""
    configs = {watches.configs.resource.group: watches.configs for watches in parts.every_watches}
    data = MachineData(objects, machines=parts.watches.machines, configs=configs)
    yield Service.of(
        bootstrappb.DESCRIPTOR.services_by_name["BootstrapService"],
        add_BootstrapServiceServicer_to_server,
        ManagementServicer(
            bootstrapper,
            callers,
            data=data,
            readers=Readers(objects, settings.machine_readers, settings.token_audiences),
        ),
    )
    yield provisioning_service(bootstrapper)
