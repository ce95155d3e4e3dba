"""``python -m tools.release key FILE`` and ``python -m tools.release build FOLDER --key FILE --expires DATE``."""

from datetime import UTC, datetime
from pathlib import Path

import click

from tools.release import folder, keys

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.group()
def main() -> None:
    """Make signed releases of the node agent."""


@main.command()
@click.argument("file", type=_FILE)
def key(file: Path) -> None:
    """Make a key: FILE is the private one, FILE with the suffix .pub the public one."""
    if file.exists():
        raise click.UsageError(f"{file}: exists already, and a key that signed releases is never overwritten")
    click.echo(f"{keys.generate(file)}: give it to SLIPWAY_ARTIFACT_KEYS")


@main.command()
@click.argument("target", type=click.Path(path_type=Path, file_okay=False))
@click.option("--key", "key_files", multiple=True, required=True, type=_FILE, help="Private key; once or twice.")
@click.option(
    "--expires", required=True, type=click.DateTime(["%Y-%m-%d"]), help="The day from which no machine gets it."
)
def build(target: Path, key_files: tuple[Path, ...], expires: datetime) -> None:
    """Build machineadm for every platform into a release folder."""
    try:
        signers = [keys.read(path) for path in key_files]
    except (OSError, ValueError) as error:
        raise click.UsageError(f"--key: {error}") from None
    release = folder.build(target, signers, expires=expires.replace(tzinfo=UTC))
    for binary in release.binaries:
        click.echo(f"{binary.os}/{binary.architecture}: {binary.size} bytes, sha256:{binary.sha256}")
    click.echo(f"{target / release.manifest_path}: {release.name} {release.version}")


if __name__ == "__main__":
    main()
