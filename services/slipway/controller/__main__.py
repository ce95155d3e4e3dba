"""Start the controller."""

from pathlib import Path
from typing import Any

import click

from slipway.bootstrapper.policy_flags import policy_options
from slipway.controller.server import NAME, serve_controller
from slipway.controller.settings import ControllerSettings
from slipway.embedded.settings import embedded_option
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
@click.option(
    "--workload-reports/--no-workload-reports",
    default=None,
    help="Read the reports of machines that write them into their own clusters (the sink workloadCluster): they become "
    "the condition BootstrapSucceeded. Default: they are not read.",
)
@click.option(
    "--approve-kubelet-certificates/--no-approve-kubelet-certificates",
    default=None,
    help="Approve the serving certificates that kubelets ask for in their own clusters, where names and addresses are "
    "those of the Machine. Default: they are left to others.",
)
@click.option("--report-url-hours", type=float, help="How long these addresses are valid. Default: 48.")
@embedded_option
@policy_options
@click.option(
    "--callers", metavar="IDS", help="SPIFFE ids that may call. Default: clients, controllers, infrastructure."
)
@click.option(
    "--payload-store",
    metavar="URL",
    help="Store there what machines fetch, where the node gateway has its --store: file:///FOLDER, s3://BUCKET/PREFIX, "
    "gs://..., az://...",
)
@click.option(
    "--payload-presigned/--no-payload-presigned",
    default=None,
    help="Machines fetch from that bucket itself, by addresses that are signed for 25 hours. Default: from "
    "the node gateway.",
)
def main(server_flags: dict[str, Any], **own_flags: Any) -> None:
    """Serve the controller: data Secrets for the Machines of Cluster API."""
    settings = ControllerSettings.load(server_flags, **own_flags)
    run(serve_controller(settings))


if __name__ == "__main__":
    main()
