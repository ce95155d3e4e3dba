"""Keeps each cluster's secrets in a folder of a directory, for use outside a management cluster.

Several processes may work on the same directory: whoever comes first makes the secrets under a lock,
everybody else reads them. Files are readable by their owner only, and are replaced in one step.
"""

import fcntl
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from slipway.bootstrapper.credentials.cluster_file import UnreadableClusterFile, decode, encode, folder_name
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.credentials.store import ClusterKey, Credentials, KeySettings, by_name, named, sorted_secrets
from slipway.contract.errors import CredentialsMissing
from slipway.v1alpha1 import secret_pb2 as secretpb

_FILE = "credentials.json"
_NEW_FILE = ".credentials.json.new"
_LOCK = ".lock"
_OWNER_ONLY_FILE = 0o600
_OWNER_ONLY_FOLDER = 0o700
_OTHERS = 0o077


class DirectoryStore:
    """A store in a directory. It makes each secret exactly once per cluster."""

    def __init__(self, directory: Path, factory: SecretFactory) -> None:
        """Name the directory; nothing is read or made before the first secret is asked for."""
        self._directory = directory
        self._factory = factory

    def ensure(
        self, cluster: ClusterKey, declarations: Iterable[secretpb.SecretDeclaration], settings: KeySettings
    ) -> Credentials:
        """Give every declared secret, making those that the cluster does not have yet.

        Raises:
            CredentialsMissing: the directory cannot be used, or what is in it cannot be trusted.
        """
        declared = list(declarations)
        folder = self._directory / folder_name(cluster)
        try:
            with _locked(folder):
                kept = _read(folder / _FILE, cluster)
                secrets = [secret for secret in kept if not self._factory.expired(secret)]
                made = self._factory.make_missing(declared, existing=by_name(secrets), settings=settings)
                if made:
                    secrets += made
                    _replace(folder, encode(cluster, secrets))
        except OSError as error:
            raise CredentialsMissing(
                f"the directory of credentials cannot be used: {error.strerror} ({error.filename})"
            ) from None
        gone = {secret.name for secret in kept if self._factory.expired(secret)}
        return Credentials(secrets=sorted_secrets(named(secrets, declared)), warnings=_renewed(gone, declared))


def _renewed(gone: Collection[str], declared: Sequence[secretpb.SecretDeclaration]) -> tuple[str, ...]:
    """Report each secret that had expired and was made again."""
    return tuple(
        f"The secret {declaration.name} had expired, and a new one was made: make it known to the running cluster, "
        "if there is one, before a machine uses it."
        for declaration in declared
        if declaration.name in gone
    )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the cluster's lock; the kernel releases it when a process dies."""
    # Parents that mkdir makes by itself would get the mode of the umask.
    for place in (folder.parent, folder):
        place.mkdir(mode=_OWNER_ONLY_FOLDER, parents=True, exist_ok=True)
    _refuse_if_open_to_others(folder)
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(folder / _LOCK, flags, _OWNER_ONLY_FILE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _read(path: Path, cluster: ClusterKey) -> list[secretpb.Secret]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return []
    with os.fdopen(descriptor, "rb") as file:
        _refuse_if_open_to_others(path)
        data = file.read()
    try:
        return decode(cluster, data)
    except UnreadableClusterFile as error:
        raise CredentialsMissing(f"{path} cannot be used: {error}; restore it, or move it away to begin anew") from None


def _replace(folder: Path, data: bytes) -> None:
    """Write beside the file, flush, then take its place: a crash leaves the old or the new file, whole."""
    new = folder / _NEW_FILE
    new.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    with os.fdopen(os.open(new, flags, _OWNER_ONLY_FILE), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    new.replace(folder / _FILE)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refuse_if_open_to_others(path: Path) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & _OTHERS:
        raise CredentialsMissing(
            f"{path} is open to others (mode {mode:04o}): run chmod go= on it; its secrets may be known"
        )
