"""The flags of what machines may download, shared by bootstrapper and controller."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--artifact-manifests", metavar="DIR", help="Signed manifests of releases that specs may ask for."),
    click.option("--artifact-keys", metavar="FILES", help="PEM files with the public keys that may have signed them."),
    click.option("--artifact-minimum-version", metavar="VERSION", help="Refuse older releases."),
    click.option("--artifact-mirrors", metavar="URLS", help="Where machines download, in order: URL/sha256/HEX."),
    click.option("--artifact-ca", metavar="FILE", help="PEM file with the certificate authorities of the mirrors."),
)


def artifact_options(command: F) -> F:
    """Add the flags to a click command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
