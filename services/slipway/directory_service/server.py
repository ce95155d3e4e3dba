"""The process: leader election and the work, beside a server of health and metrics alone."""

import socket
import uuid
from pathlib import Path

import structlog

from slipway.controller.assembly import utc_now
from slipway.controller.report import Reporter
from slipway.directory.failures import ConfigurationInvalid
from slipway.directory.ldap_directory import connected
from slipway.directory.offline_join import offline_blob
from slipway.directory.settings import Settings
from slipway.directory_service.accounts_maker import AccountsMaker
from slipway.directory_service.service import DirectoryService
from slipway.directory_service.settings import DirectorySettings
from slipway.directory_service.units import Units
from slipway.directory_service.watches import Watches
from slipway.kubernetes_api.api import Api
from slipway.kubernetes_api.connection import Connection
from slipway.kubernetes_api.election import Election
from slipway.kubernetes_api.leader_work import LeaderWork
from slipway.rpc.lifecycle import serve
from slipway.rpc.server import ServerStartError

NAME = "slipway-directory"
_NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_DEFAULT_NAMESPACE = "slipway-system"
LOG_KEYS = ("machine", "computer", "failure", "result", "lease")
_log = structlog.get_logger("slipway.directory")


async def serve_directory(settings: DirectorySettings) -> None:
    """Work until SIGTERM; exit with 1 when leadership is lost, since another replica writes then.

    Raises:
        ServerStartError: a setting cannot be used.
    """
    maker = maker_of(settings)
    connection = await Connection.of_process(settings.kubeconfig)
    api = Api(connection)
    watches = Watches.of(api, namespaces=sorted(settings.namespaces or ()))
    reporter = Reporter(api, utc_now, component=NAME)
    service = DirectoryService(watches, api, maker, reporter, cleanup=settings.directory_cleanup)
    work = LeaderWork(
        service.lead, _election(settings, api) if settings.leader_elect else None, name="service", log=_log
    )
    for informer in watches.informers:
        informer.start()
    try:
        await serve(settings, [], name=NAME, on_start=[work.start], on_drain=[work.stop], log_keys=LOG_KEYS)
    finally:
        await work.stop()
        for informer in watches.informers:
            await informer.stop()
        await connection.close()
    work.check()


def maker_of(settings: DirectorySettings) -> AccountsMaker:
    """Return what works in the domain; nothing is connected.

    Raises:
        ServerStartError: a setting cannot be used, or ldap3 is not installed.
    """
    try:
        units = Units.read(settings.directory_units)
        settings.connection("")
    except ConfigurationInvalid as error:
        raise ServerStartError(str(error)) from None

    def make_blob(connection: Settings, computer: str, domain: str) -> bytes:
        return offline_blob(connection, computer=computer, domain=domain, program=settings.net_program)

    return AccountsMaker(
        domain=settings.directory_domain,
        connect=connected,
        make_blob=make_blob,
        settings=settings.connection,
        unit_of=units.unit_of,
    )


def _election(settings: DirectorySettings, api: Api) -> Election:
    """Return the election for the Lease of the domain: each domain has a service of its own."""
    namespace = settings.lease_namespace
    if namespace is None:
        namespace = _NAMESPACE_FILE.read_text().strip() if _NAMESPACE_FILE.exists() else _DEFAULT_NAMESPACE
    name = f"{NAME}.{settings.directory_domain}"
    return Election(api, namespace=namespace, name=name, identity=f"{socket.gethostname()}_{uuid.uuid4()}")
