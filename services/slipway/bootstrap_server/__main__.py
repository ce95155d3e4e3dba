"""Start the bootstrapper's server."""

from typing import Any

import click

from slipway.bootstrapper.bootstrapper import utc_now
from slipway.bootstrapper.callers import Callers
from slipway.bootstrapper.credentials.directory_store import DirectoryStore
from slipway.bootstrapper.credentials.entropy import SystemEntropy
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.policy_flags import policy_options
from slipway.bootstrapper.provisioning.directory import ProvisionerDirectory
from slipway.bootstrapper.provisioning_service import provisioning_service
from slipway.bootstrapper.service import BootstrapServicer
from slipway.embedded.bootstrapper import bootstrapper_of
from slipway.embedded.joined import provisioners_of
from slipway.embedded.settings import EmbeddedSettings, embedded_option
from slipway.rpc.channel import ChannelPool
from slipway.rpc.flags import server_options
from slipway.rpc.lifecycle import run, serve
from slipway.rpc.server import Service
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1.bootstrap_service_pb2_grpc import add_BootstrapServiceServicer_to_server

_NAME = "slipway-bootstrapper"


@click.command(_NAME)
@server_options
@embedded_option
@click.option(
    "--credentials-dir", metavar="DIR", help="Keep clusters' secrets here. Without it requests must carry them."
)
@policy_options
@click.option(
    "--callers",
    metavar="IDS",
    help="SPIFFE ids that may call. ID=NAMESPACE limits one to the clusters of a namespace, ID=* equals ID. "
    "Default: the roles client, controller, infrastructure; with --credentials-dir and TLS none.",
)
def main(server_flags: dict[str, Any], **own_flags: Any) -> None:
    """Serve the bootstrapper: from a machine's spec to its user data."""
    run(_serve(EmbeddedSettings.load(server_flags, **own_flags)))


async def _serve(settings: EmbeddedSettings) -> None:
    callers = Callers(settings.allowed_callers, trust_domain=settings.trust_domain)
    channels = ChannelPool.of(settings)
    directory = ProvisionerDirectory(channels, settings.registry_address) if settings.registry_address else None
    store = None
    if settings.credentials_dir is not None:
        store = DirectoryStore(settings.credentials_dir, SecretFactory(entropy=SystemEntropy(), clock=utc_now))
    bootstrapper = bootstrapper_of(settings, provisioners_of(settings, directory, channels), store=store)
    service = Service.of(
        bootstrappb.DESCRIPTOR.services_by_name["BootstrapService"],
        add_BootstrapServiceServicer_to_server,
        BootstrapServicer(bootstrapper, callers),
    )
    if directory is not None:
        directory.start()
    try:
        await serve(settings, [service, provisioning_service(bootstrapper)], name=_NAME, policy=callers)
    finally:
        if directory is not None:
            await directory.stop()
        await channels.close()


if __name__ == "__main__":
    main()
