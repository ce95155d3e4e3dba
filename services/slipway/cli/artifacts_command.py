"""slipway artifacts."""

import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from slipway.bootstrapper.artifacts.distribution import FOLDER, SUFFIX, DistributionFolder
from slipway.bootstrapper.artifacts.dsse import read_envelope
from slipway.bootstrapper.artifacts.folder import ReleaseFolder
from slipway.bootstrapper.artifacts.refusal import ArtifactRefused
from slipway.bootstrapper.artifacts.release import Release
from slipway.bootstrapper.artifacts.trust import Trust
from slipway.cli.exit_codes import FAILED
from slipway.cli.failures import reported
from slipway.cli.options import F, output_option
from slipway.cli.output import emit, note, show, table

_COLUMNS = ("name", "version", "platform", "sha256", "size", "expires", "state")
_FOLDER = click.Path(path_type=Path, file_okay=False)
Rows = list[Sequence[str]]


@click.group("artifacts")
def artifacts() -> None:
    """Signed releases of programs that machines download, such as machineadm. No command uses the network."""


def _trust_options(command: F) -> F:
    keys = click.option(
        "--keys", required=True, envvar="SLIPWAY_ARTIFACT_KEYS", metavar="FILES",
        help="PEM files with the Ed25519 public keys that are trusted, comma-separated.",
    )  # fmt: skip
    minimum = click.option(
        "--minimum-version", envvar="SLIPWAY_ARTIFACT_MINIMUM_VERSION", metavar="VERSION",
        help="Refuse releases that are older than this.",
    )  # fmt: skip
    return keys(minimum(output_option()(command)))


@artifacts.command("verify", short_help="Check signature, age and files of releases.")
@click.argument("folder", type=_FOLDER)
@_trust_options
@reported
def verify(folder: Path, keys: str, minimum_version: str | None, output: str) -> None:
    """Check every release of a folder: signature, expiry, minimum version, and digest and size of every file.

    Image, wheels and bill of materials below distribution/ are checked in the same way, where that folder exists.

    \b
    Examples:
      slipway artifacts verify dist/release --keys release.pub
      slipway artifacts verify /mnt/usb/release --keys release.pub,next.pub --minimum-version 0.1.0

    \b
    Exit codes:
      0  every release of the folder can be used
      1  one cannot, or there is none
      2  the command line is wrong
    """  # noqa: D301  # click's mark for lines that stay
    trust, source = _trust(keys, minimum_version), ReleaseFolder(folder)
    distribution = DistributionFolder(folder / FOLDER)
    rows, refused = _verified(distribution, trust) if distribution.root.is_dir() else ([], False)
    if not rows or (folder / "manifests").is_dir():
        more, wrong = _judged(folder, lambda manifest: source.verify(manifest, trust), "verified")
        rows, refused = [*more, *rows], refused or wrong
    _print(rows, output)
    sys.exit(FAILED if refused else 0)


@artifacts.command("add", short_help="Take verified releases over into a folder.")
@click.argument("release", type=_FOLDER)
@click.argument("folder", type=_FOLDER)
@_trust_options
@reported
def add(release: Path, folder: Path, keys: str, minimum_version: str | None, output: str) -> None:
    """Verify the releases of a folder and copy them into another one, such as that of a node gateway.

    Nothing is copied unless everything is verified. A manifest is copied after the files that it names.

    \b
    Examples:
      slipway artifacts add /mnt/usb/release /srv/slipway --keys release.pub

    \b
    Exit codes:
      0  everything was copied
      1  a release was refused, or there is none
      2  the command line is wrong
    """  # noqa: D301  # click's mark for lines that stay
    trust, source = _trust(keys, minimum_version), ReleaseFolder(release)
    rows, refused = _judged(release, lambda manifest: source.verify(manifest, trust), "added")
    if refused:
        sys.exit(FAILED)
    ReleaseFolder(folder).add(source, trust)
    _print(rows, output)


@artifacts.command("list", short_help="Show the releases of a folder.")
@click.argument("folder", type=_FOLDER)
@_trust_options
@reported
def list_(folder: Path, keys: str, minimum_version: str | None, output: str) -> None:
    """Show the trusted releases of a folder by platform, and name those that are refused. Files are not read.

    \b
    Examples:
      slipway artifacts list /srv/slipway --keys release.pub
      slipway artifacts list /srv/slipway --keys release.pub -o json

    \b
    Exit codes:
      0  the releases are shown
      1  the folder has none, or cannot be read
      2  the command line is wrong
    """  # noqa: D301  # click's mark for lines that stay
    trust = _trust(keys, minimum_version)
    rows, _ = _judged(folder, lambda manifest: trust.open(read_envelope(manifest)), "trusted")
    if not rows:
        sys.exit(FAILED)
    _print(rows, output)


def _judged(folder: Path, judge: Callable[[Path], Release], state: str) -> tuple[Rows, bool]:
    """Give a row for each binary of every release, and whether one was refused or there is none."""
    rows: Rows = []
    refused = False
    for manifest in ReleaseFolder(folder).manifests():
        try:
            rows += _rows(judge(manifest), state)
        except ArtifactRefused as refusal:
            refused = True
            note(f"{manifest.name}: {refusal.reason}: {refusal}", "refused")
            rows.append((manifest.stem, "", "", "", "", "", f"refused {refusal.reason}"))
    if not rows:
        note(f"{folder}: has no manifests/*.json", "refused")
    return rows, refused or not rows


def _verified(folder: DistributionFolder, trust: Trust) -> tuple[Rows, bool]:
    """Return a row for each file of every distribution, and whether one was refused or there is none."""
    rows: Rows = []
    refused = False
    for envelope in folder.envelopes():
        try:
            distribution = folder.verify(envelope, trust)
        except ArtifactRefused as refusal:
            refused = True
            note(f"{envelope.name}: {refusal.reason}: {refusal}", "refused")
            rows.append((envelope.name, "", "", "", "", "", f"refused {refusal.reason}"))
            continue
        version, expires = distribution.predicate.version, distribution.predicate.expires.isoformat()
        for subject in distribution.subject:
            size = str((folder.root / subject.name).stat().st_size)
            rows.append((subject.name, version, "", subject.digest.sha256, size, expires, "verified"))
    if not rows:
        note(f"{folder.root}: has no *{SUFFIX}", "refused")
    return rows, refused or not rows


def _rows(release: Release, state: str) -> Iterator[Sequence[str]]:
    for binary in release.binaries:
        platform, expires = f"{binary.os}/{binary.architecture}", release.expires.isoformat()
        yield release.name, release.version, platform, binary.sha256, str(binary.size), expires, state


def _print(rows: Rows, output: str) -> None:
    if output == "table":
        show(table("", _COLUMNS, rows))
    else:
        emit([dict(zip(_COLUMNS, row, strict=True)) for row in rows], output)


def _trust(keys: str, minimum: str | None) -> Trust:
    files = [Path(part.strip()) for part in keys.split(",") if part.strip()]
    if not files:
        raise click.UsageError("--keys needs at least one file")
    try:
        return Trust.of(files, minimum, lambda: datetime.now(UTC))
    except ValueError as error:
        raise click.UsageError(f"--keys or --minimum-version: {error}") from None
