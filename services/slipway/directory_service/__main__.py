"""Start the service of computer accounts."""

from pathlib import Path
from typing import Any

import click

from slipway.directory_service.server import NAME, serve_directory
from slipway.directory_service.settings import DirectorySettings
from slipway.rpc.flags import server_options
from slipway.rpc.lifecycle import run

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(NAME)
@server_options
@click.option("--directory-domain", metavar="NAME", help="DNS name of the domain; other domains are left alone.")
@click.option("--directory-server", metavar="URL", help="The domain controller: ldaps://HOST or ldaps://HOST:PORT.")
@click.option("--directory-user", metavar="NAME@DOMAIN", help="The delegated account; an administrator is refused.")
@click.option("--directory-password-file", type=_FILE, help="A file with its password, read for each connection.")
@click.option("--directory-ca-file", type=_FILE, help="PEM file with the CA of the controller. Default: the system's.")
@click.option("--directory-base", metavar="DN", help="The unit outside of which nothing is made, changed or removed.")
@click.option("--directory-unit", metavar="DN", help="Where new computers go. Default: the base.")
@click.option("--directory-units", type=_FILE, help="YAML file with units by namespace and Cluster.")
@click.option("--directory-owner", metavar="ID", help="Id in the mark of our objects, such as this cluster's name.")
@click.option(
    "--directory-cleanup/--no-directory-cleanup",
    default=None,
    help="Remove the computers of Machines that are deleted. Default: they stay.",
)
@click.option("--net-program", help="Samba's program for blobs. Default: net.")
@click.option("--namespaces", metavar="NAMES", help="Follow these namespaces only, comma-separated. Default: all.")
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="The management cluster. Default: the one that this process runs in.",
)
@click.option("--leader-elect/--no-leader-elect", default=None, help="Only the leader writes. Default: it does.")
@click.option("--lease-namespace", help="Namespace of the leader's Lease. Default: this process's own.")
def main(server_flags: dict[str, Any], **own_flags: Any) -> None:
    """Make the computer accounts of Machines that join a domain of Active Directory."""
    settings = DirectorySettings.load(server_flags, **own_flags)
    run(serve_directory(settings))


if __name__ == "__main__":
    main()
