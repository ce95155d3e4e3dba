"""Write a directory of certificates for each service: DIR/NAME/{tls.crt,tls.key,ca.crt}."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from slipway.certificates.authority import Authority, read_subject

_FOLDER_MODE = 0o750
_KEY_MODE = 0o640
_PUBLIC_MODE = 0o644


@click.command("slipway-certificates")
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--subject", "subjects", multiple=True, required=True, metavar="ROLE/NAME[=HOST,...]",
    help="Who gets a certificate, e.g. provisioner/acme=acme,127.0.0.1. May be given several times.",
)  # fmt: skip
@click.option("--trust-domain", default="slipway", show_default=True, help="Trust domain of the SPIFFE ids.")
@click.option("--days", default=30, show_default=True, type=click.IntRange(1, 3650), help="How long they are valid.")
def main(directory: Path, subjects: tuple[str, ...], trust_domain: str, days: int) -> None:
    """Make a new authority and a certificate for each subject. The authority's key is not kept.

    Run it again to renew: running services follow the files. The authority before stays trusted beside the new one
    until the next renewal, so that no call fails while some of them have new certificates and others do not yet.
    """
    now = datetime.now(UTC)
    authority = Authority(trust_domain=trust_domain, now=now, validity=timedelta(days=days))
    folders = {directory / subject.name: subject for subject in map(read_subject, subjects)}
    trusted = authority.certificate + b"".join(sorted({_previous(folder / "ca.crt", now=now) for folder in folders}))
    for folder in folders:
        _prepare(folder)
        _written(folder / "ca.crt", trusted, _PUBLIC_MODE).rename(folder / "ca.crt")
    for folder, subject in folders.items():
        issued = authority.issue(subject)
        key, certificate = folder / "tls.key", folder / "tls.crt"
        new_key = _written(key, issued.key, _KEY_MODE)
        new_certificate = _written(certificate, issued.certificate, _PUBLIC_MODE)
        new_key.rename(key)
        new_certificate.rename(certificate)
    click.echo(f"{len(folders)} certificates in {directory}, valid for {days} days")


def _prepare(folder: Path) -> None:
    """Make the folder this user's and group's; a volume that is mounted there may have other ideas of its mode."""
    folder.mkdir(parents=True, exist_ok=True, mode=_FOLDER_MODE)
    os.chown(folder, -1, os.getegid())
    folder.chmod(_FOLDER_MODE)


def _previous(path: Path, *, now: datetime) -> bytes:
    """Give the newest authority of a file while it is valid; nothing for a file that is not there, or is broken."""
    try:
        newest = x509.load_pem_x509_certificates(path.read_bytes())[0]
    except (OSError, ValueError):
        return b""
    return newest.public_bytes(Encoding.PEM) if newest.not_valid_after_utc > now else b""


def _written(path: Path, content: bytes, mode: int) -> Path:
    """Write beside a file, so that a rename replaces it in one step; it is never readable by more than `mode` says."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    return new


if __name__ == "__main__":
    main()
