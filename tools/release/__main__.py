"""``python -m tools.release key FILE``, and ``build`` and ``distribute`` with ``FOLDER --key FILE --expires DATE``."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from slipway.bootstrapper.artifacts.distribution import FOLDER
from tools.image.build import IMAGE
from tools.oracles.failures import EngineError
from tools.release import distribution, folder, keys

_FILE = click.Path(path_type=Path, dir_okay=False)


_F = TypeVar("_F", bound=Callable[..., Any])


def _signing(command: _F) -> _F:
    """Add the options of what signs."""
    expires = click.option(
        "--expires", required=True, type=click.DateTime(["%Y-%m-%d"]), help="The day from which it is refused."
    )
    return click.option(
        "--key", "key_files", multiple=True, required=True, type=_FILE, help="Private key; once or twice."
    )(expires(command))


@click.group()
def main() -> None:
    """Make signed releases of Slipway and of its node agent."""


@main.command()
@click.argument("file", type=_FILE)
def key(file: Path) -> None:
    """Make a key: FILE is the private one, FILE with the suffix .pub the public one."""
    if file.exists():
        raise click.UsageError(f"{file}: exists already, and a key that signed releases is never overwritten")
    click.echo(f"{keys.generate(file)}: give it to SLIPWAY_ARTIFACT_KEYS")


@main.command()
@click.argument("target", type=click.Path(path_type=Path, file_okay=False))
@_signing
def build(target: Path, key_files: tuple[Path, ...], expires: datetime) -> None:
    """Build machineadm for every platform into a release folder."""
    try:
        release = folder.build(target, _signers(key_files), expires=expires.replace(tzinfo=UTC))
    except EngineError as failure:
        raise click.ClickException(str(failure)) from None
    for binary in release.binaries:
        click.echo(f"{binary.os}/{binary.architecture}: {binary.size} bytes, sha256:{binary.sha256}")
    click.echo(f"{target / release.manifest_path}: {release.name} {release.version}")


@main.command()
@click.argument("target", type=click.Path(path_type=Path, file_okay=False))
@click.option("--image", default=IMAGE, show_default=True, help="The image, as `make image` has built it.")
@_signing
def distribute(target: Path, image: str, key_files: tuple[Path, ...], expires: datetime) -> None:
    """Write image, wheels and bill of materials into a release folder, signed."""
    try:
        made = distribution.build(target, image, _signers(key_files), expires=expires.replace(tzinfo=UTC))
    except EngineError as failure:
        raise click.ClickException(str(failure)) from None
    for subject in made.subject:
        click.echo(f"{subject.name}: sha256:{subject.digest.sha256}")
    click.echo(f"{target / FOLDER / made.file_name}: signed")


def _signers(files: tuple[Path, ...]) -> list[Ed25519PrivateKey]:
    try:
        return [keys.read(path) for path in files]
    except (OSError, ValueError) as error:
        raise click.UsageError(f"--key: {error}") from None


if __name__ == "__main__":
    main()
