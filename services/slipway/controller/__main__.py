"""Start the controller."""

from pathlib import Path
from typing import Any

import click

from slipway.bootstrapper.artifacts.flags import artifact_options
from slipway.bootstrapper.delivery.settings import delivery_options
from slipway.bootstrapper.provisioning.settings import versions_option
from slipway.controller.server import NAME, serve_controller
from slipway.controller.settings import ControllerSettings
from slipway.embedded.provisioners import NAMES
from slipway.rpc.flags import server_options
from slipway.rpc.lifecycle import run


@click.command(NAME)
@server_options
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="The management cluster. Default: the one that this process runs in.",
)
@click.option("--namespaces", metavar="NAMES", help="Follow these namespaces only, comma-separated. Default: all.")
@click.option("--watch-filter", help="Only configs whose label cluster.x-k8s.io/watch-filter has this value.")
@click.option("--leader-elect/--no-leader-elect", default=None, help="Only the leader writes. Default: it does.")
@click.option("--lease-namespace", help="Namespace of the leader's Lease. Default: this process's own.")
@click.option("--workers", type=int, help="Configs that are worked on at a time. Default: 32.")
@click.option(
    "--kube-api-qps",
    type=float,
    help="Calls of the management cluster a second. Default: 0, no limit: API Priority and Fairness decides.",
)
@click.option("--kube-api-burst", type=int, help="Calls that may be made at once under --kube-api-qps. Default: 200.")
@click.option("--bootstrap-token-ttl-seconds", type=float, help="How long a bootstrap token is accepted. Default: 900.")
@click.option(
    "--machine-readers",
    metavar="IDS",
    help="SPIFFE ids that may read user data by Machine without a token, each alone, or ID=NAMESPACE.",
)
@click.option(
    "--token-audiences",
    metavar="NAMES",
    help="For one of these a token must be issued that a caller shows. Default: slipway.",
)
@click.option(
    "--workload-servers",
    metavar="NAMES",
    help="Servers that kubeconfigs may name although they are on this machine or in the management cluster: networks, "
    'addresses, names, or endings such as ".svc".',
)
@click.option(
    "--webhook-address",
    metavar="HOST:PORT",
    help="Serve the webhook for opted-in KubeadmConfigs there, and bootstrap them. Default: they are left alone.",
)
@click.option(
    "--report-url-base",
    metavar="URL",
    help="Where machines reach the node gateway, https://HOST:PORT: each machine that can gets an address there to "
    "report to, unless its spec has `reporting`.",
)
@click.option(
    "--report-key-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The gateway's file of keys; the first one signs these addresses.",
)
@click.option(
    "--reports-address",
    metavar="HOST:PORT",
    help="The node gateway's --management-address: reports there become the condition BootstrapSucceeded.",
)
@click.option(
    "--reports-tls-cert-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Directory with tls.crt, tls.key and ca.crt for calls there. Default: --tls-cert-dir.",
)
@click.option(
    "--reports-token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A token of the management cluster for calls there, where this controller is not on the gateway's list.",
)
@click.option("--report-url-hours", type=float, help="How long these addresses are valid. Default: 48.")
@click.option(
    "--embedded-provisioners",
    metavar="NAMES",
    help=f"Provisioners in this process: {', '.join(NAMES)}; comma-separated. A registry cannot replace them.",
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
    "--callers", metavar="IDS", help="SPIFFE ids that may call. Default: clients, controllers, infrastructure."
)
@artifact_options
@delivery_options
@click.option(
    "--payload-store",
    metavar="URL",
    help="Store there what machines fetch, where the node gateway has its --store: file:///FOLDER, s3://BUCKET/PREFIX, "
    "gs://..., az://...",
)
@click.option(
    "--payload-presigned/--no-payload-presigned",
    default=None,
    help="Machines fetch from that bucket itself, by addresses that are signed for 25 hours; s3:// only. Default: from "
    "the node gateway.",
)
@click.option("--render-timeout-seconds", type=float, help="Deadline of one call to a provisioner. Default: 10.")
def main(server_flags: dict[str, Any], **own_flags: Any) -> None:
    """Serve the controller: data Secrets for the Machines of Cluster API."""
    settings = ControllerSettings.load(server_flags, **own_flags)
    run(serve_controller(settings))


if __name__ == "__main__":
    main()
