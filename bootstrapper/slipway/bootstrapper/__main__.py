"""Start the bootstrapper's server."""

from typing import Any

import click

from slipway.bootstrapper.artifacts.flags import artifact_options
from slipway.bootstrapper.bootstrapper import Bootstrapper, utc_now
from slipway.bootstrapper.callers import Callers
from slipway.bootstrapper.compilation.compiler import Compiler
from slipway.bootstrapper.credentials.directory_store import DirectoryStore
from slipway.bootstrapper.credentials.entropy import SystemEntropy
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.delivery.settings import delivery_options
from slipway.bootstrapper.engines.table import installed_engines
from slipway.bootstrapper.engines.third_party import log_unusable
from slipway.bootstrapper.lowering.table import all_passes
from slipway.bootstrapper.os_profiles import ProfileTable
from slipway.bootstrapper.provisioning.directory import ProvisionerDirectory
from slipway.bootstrapper.provisioning.remote import RemoteProvisioners
from slipway.bootstrapper.provisioning.settings import versions_option
from slipway.bootstrapper.provisioning_service import provisioning_service
from slipway.bootstrapper.service import BootstrapServicer
from slipway.bootstrapper.settings import BootstrapperSettings
from slipway.contract.version import VERSION
from slipway.rpc.channel import ChannelPool
from slipway.rpc.flags import server_options
from slipway.rpc.lifecycle import run, serve
from slipway.rpc.server import Service
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1.bootstrap_service_pb2_grpc import add_BootstrapServiceServicer_to_server

_NAME = "slipway-bootstrapper"


@click.command(_NAME)
@server_options
@click.option(
    "--credentials-dir", metavar="DIR", help="Keep clusters' secrets here. Without it requests must carry them."
)
@click.option("--profiles-dir", metavar="DIR", help="Directory with OS profiles of the operator's own.")
@click.option(
    "--provisioner-profiles/--no-provisioner-profiles",
    default=None,
    help="Machines may have an OS profile of the provisioner that renders them. Default: they may.",
)
@click.option("--allowed-provisioners", metavar="NAMES", help="Provisioners that may get bundles, comma-separated.")
@versions_option
@click.option("--denied-features", metavar="IDS", help='Features that no spec may use, e.g. "os.commands,ext.*".')
@click.option(
    "--allowed-features",
    metavar="IDS",
    help='The only features that a spec may use, e.g. "kubernetes.node.labels,os.ntp*". Default: all.',
)
@click.option("--bundle-secrets-for", metavar="IDS", help="SPIFFE ids that may ask for bundles with secrets.")
@click.option(
    "--callers",
    metavar="IDS",
    help="SPIFFE ids that may call. ID=NAMESPACE limits one to the clusters of a namespace, ID=* equals ID. "
    "Default: the roles client, controller, infrastructure; with --credentials-dir and TLS none.",
)
@artifact_options
@delivery_options
@click.option("--render-timeout-seconds", type=float, help="Deadline of one call to a provisioner. Default: 10.")
def main(server_flags: dict[str, Any], **own_flags: Any) -> None:
    """Serve the bootstrapper: from a machine's spec to its user data."""
    settings = BootstrapperSettings.load(server_flags, **own_flags)
    if settings.registry_address is None:
        raise click.UsageError("--registry-address is needed: the bootstrapper learns of provisioners there")
    run(_serve(settings, settings.registry_address))


async def _serve(settings: BootstrapperSettings, registry: str) -> None:
    callers = Callers(settings.allowed_callers)
    channels = ChannelPool.of(settings)
    directory = ProvisionerDirectory(channels, registry)
    engines = installed_engines()
    log_unusable(engines.unusable)
    bootstrapper = Bootstrapper(
        provisioners=RemoteProvisioners(directory.instances, channels),
        compiler=Compiler(
            engines=engines,
            profiles=ProfileTable.extended(settings.profiles_dir) if settings.profiles_dir else ProfileTable.shipped(),
            passes=all_passes(),
            takes_declared_profiles=settings.provisioner_profiles,
        ),
        version=VERSION,
        store=None
        if settings.credentials_dir is None
        else DirectoryStore(settings.credentials_dir, SecretFactory(entropy=SystemEntropy(), clock=utc_now)),
        policy=settings.policy(),
        artifacts=settings.artifacts(),
        fetching=settings.fetching(),
        render_timeout=settings.render_timeout_seconds,
    )
    service = Service.of(
        bootstrappb.DESCRIPTOR.services_by_name["BootstrapService"],
        add_BootstrapServiceServicer_to_server,
        BootstrapServicer(bootstrapper, callers),
    )
    directory.start()
    try:
        await serve(settings, [service, provisioning_service(bootstrapper)], name=_NAME, policy=callers)
    finally:
        await directory.stop()
        await channels.close()


if __name__ == "__main__":
    main()
