"""A real Active Directory: a domain controller of Samba's, in namespaces of its own, with nothing else in its network.

The domain is made once, as a layer of files over the Debian root, so that a test has its controller after some
seconds. Each has a disk of its own over both: what a test changes is gone afterwards.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tools.oracles import cache, roots, sandbox
from tools.oracles.failures import EngineBroken, EngineMissing

NAME = "directory"
DOMAIN = "corp.example.com"
REALM = DOMAIN.upper()
ROOT_DN = ",".join(f"DC={label}" for label in DOMAIN.split("."))
HOST = f"dc1.{DOMAIN}"
ADDRESS = "10.77.0.1"
ADMINISTRATOR_PASSWORD = "Passw0rd-Test1"  # noqa: S105  # of a domain in a network of its own
_INIT = Path(__file__).with_name("directory_init.py")
_SECONDS = 600.0
_SETTINGS = "etc/samba/smb.conf"
_ORDER = {
    "address": ADDRESS, "host": HOST, "realm": REALM, "workgroup": "CORP", "password": ADMINISTRATOR_PASSWORD,
}  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class DomainController:
    """A controller that serves; ``process`` is the first process of its namespaces."""

    process: int
    scratch: Path

    @property
    def root(self) -> Path:
        """Its file system, as processes in its namespaces see it."""
        return self.scratch / "merged"

    @property
    def shared(self) -> Path:
        """A folder that has the same path on this machine and for programs of the root."""
        return self.scratch / "shared"

    @property
    def authority(self) -> Path:
        """The certificate of the authority that has signed the controller's."""
        return self.scratch / "ca.pem"

    def run(self, *argv: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Runs a program of the controller's root in its namespaces; its output has both streams."""
        return self._entered(["chroot", str(self.root), *argv], sandbox.ENVIRONMENT, stdin, subprocess.STDOUT)

    def outside(
        self, *argv: str, environment: Mapping[str, str] | None = None, stdin: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        """Runs a program of this machine that sees its files, and of all networks only the controller's."""
        return self._entered(argv, {**os.environ, **(environment or {})}, stdin, subprocess.PIPE)

    def _entered(
        self, argv: Sequence[str], environment: Mapping[str, str], stdin: bytes, errors: int
    ) -> subprocess.CompletedProcess[bytes]:
        command = ["nsenter", f"--target={self.process}", "--mount", "--net", "--uts", "--ipc", "--", *argv]
        return subprocess.run(
            command, check=False, input=stdin, stdout=subprocess.PIPE, stderr=errors, env=environment, timeout=_SECONDS,
            cwd=self.scratch,
        )  # fmt: skip


def place() -> Path:
    """Where the layer with the domain is, or will be; the name changes with the recipe."""
    recipe = f"{roots.ROOTS[NAME].path.name}\n{json.dumps(_ORDER)}\n{_INIT.read_text(encoding='utf-8')}"
    return cache.directory() / f"domain-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"


def require() -> Path:
    """The layer's path.

    Raises:
        EngineMissing: it, or the root below it, was not built yet.
    """
    roots.ROOTS[NAME].require()
    if not place().is_dir():
        raise EngineMissing(NAME)
    return place()


def build() -> Path:
    """Makes the root and the domain unless they are there; half a minute."""
    root = roots.build(roots.ROOTS[NAME])
    with cache.locked("domain"):
        if place().is_dir():
            return place()
        for old in cache.directory().glob("domain-????????????"):
            with cache.unused(old.name) as nobody_runs_on_it:
                if nobody_runs_on_it:
                    cache.discard(old)
        with sandbox.scratch_folder() as scratch, cache.being_built(place()) as beside:
            _prepare(scratch)
            with _started(scratch, {"task": "provision", "lowers": [str(root)]}) as process:
                _, errors = process.communicate(timeout=_SECONDS)
            if process.returncode:
                raise EngineBroken(f"samba-tool domain provision: {errors.decode(errors='replace')[-2000:]}")
            # `cp` and not a move: the layer's extended attributes hold the access rights of Samba's files.
            subprocess.run(["cp", "--archive", f"{scratch}/upper/.", beside], check=True)
    return place()


@contextlib.contextmanager
def opened() -> Iterator[DomainController]:
    """Gives a fresh controller that serves, and ends it.

    Raises:
        EngineMissing: it was not built.
        EngineBroken: it does not serve within a minute.
    """
    layer, root = require(), roots.ROOTS[NAME].require()
    with cache.in_use(layer.name), cache.in_use(root.name), sandbox.scratch_folder() as scratch:
        _prepare(scratch)
        _forward_nothing(layer, scratch)
        _certify(scratch)
        with _started(scratch, {"task": "serve", "lowers": [str(layer), str(root)]}) as process:
            try:
                if process.stdout is None or process.stdout.readline() != b"ready\n":
                    process.kill()
                    log = scratch / "samba.log"
                    words = log.read_text(errors="replace")[-2000:] if log.exists() else process.communicate()[1]
                    raise EngineBroken(f"the domain controller does not serve: {words!r}")
                yield DomainController(_first_process(process.pid), scratch)
            finally:
                process.kill()


def _prepare(scratch: Path) -> None:
    for name in ("upper", "work", "merged", "shared"):
        (scratch / name).mkdir(mode=0o755)


@contextlib.contextmanager
def _started(scratch: Path, order: Mapping[str, Any]) -> Iterator[subprocess.Popen[bytes]]:
    # The kernel kills all of it when this process dies, however it dies.
    command = [
        "setpriv", "--pdeathsig", "KILL", "--", "unshare", "--mount", "--net", "--uts", "--ipc", "--pid", "--fork",
        "--kill-child", "--propagation", "private", sys.executable, "-I", "-S", "-B", str(_INIT),
    ]  # fmt: skip
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        if process.stdin is None:
            raise EngineBroken("no pipe to the domain controller")
        process.stdin.write(json.dumps({**_ORDER, **order, "scratch": str(scratch)}).encode() + b"\n")
        process.stdin.flush()
        yield process


def _first_process(unshare: int) -> int:
    return int(Path(f"/proc/{unshare}/task/{unshare}/children").read_text(encoding="ascii").split()[0])


def _forward_nothing(layer: Path, scratch: Path) -> None:
    """Takes out the server of other names: it is this one itself, which would ask itself for ever."""
    lines = (layer / _SETTINGS).read_text(encoding="utf-8").splitlines(keepends=True)
    file = scratch / "upper" / _SETTINGS
    file.parent.mkdir(parents=True)
    file.write_text("".join(line for line in lines if "dns forwarder" not in line), encoding="utf-8")


def _certify(scratch: Path) -> None:
    """Gives the controller a certificate for its name, of an authority of its own."""
    now = datetime.now(UTC)
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority of a test")])

    def builder(subject: x509.Name, public: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        made = x509.CertificateBuilder().subject_name(subject).issuer_name(authority_name).public_key(public)
        made = made.serial_number(x509.random_serial_number())
        return made.not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(days=1))

    authority = (
        builder(authority_name, authority_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    certificate = (
        builder(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)]), key.public_key())
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    folder = scratch / "upper/var/lib/samba/private/tls"
    folder.mkdir(parents=True, mode=0o700)
    (scratch / "ca.pem").write_bytes(authority.public_bytes(pem))
    (folder / "ca.pem").write_bytes(authority.public_bytes(pem))
    (folder / "cert.pem").write_bytes(certificate.public_bytes(pem))
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(private)
    (folder / "key.pem").chmod(0o600)
