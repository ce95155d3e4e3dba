"""The flags of what the operator allows, shared by the servers of the bootstrapper and of the controller."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from slipway.bootstrapper.artifacts.settings import artifact_options
from slipway.bootstrapper.delivery.settings import delivery_options
from slipway.bootstrapper.provisioning.settings import versions_option

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--profiles-dir", metavar="DIR", help="Directory with OS profiles of the operator's own."),
    click.option(
        "--provisioner-profiles/--no-provisioner-profiles",
        default=None,
        help="Machines may have an OS profile of the provisioner that renders them. Default: they may.",
    ),
    click.option("--allowed-provisioners", metavar="NAMES", help="Provisioners that may get bundles, comma-separated."),
    versions_option,
    click.option("--denied-features", metavar="IDS", help='Features that no spec may use, e.g. "os.commands,ext.*".'),
    click.option(
        "--allowed-features",
        metavar="IDS",
        help='The only features that a spec may use, e.g. "kubernetes.node.labels,os.ntp*". Default: all.',
    ),
    click.option("--bundle-secrets-for", metavar="IDS", help="SPIFFE ids that may ask for bundles with secrets."),
    artifact_options,
    delivery_options,
    click.option("--render-timeout-seconds", type=float, help="Deadline of one call to a provisioner. Default: 10."),
)


def policy_options(command: F) -> F:
    """Add the flags to a click command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
