"""Opens what answers the commands: everything in this process, or a server by gRPC."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import click
from pydantic import ValidationError

from slipway.bootstrapper.artifacts.settings import ArtifactSettings
from slipway.bootstrapper.bootstrapper import utc_now
from slipway.bootstrapper.credentials.directory_store import DirectoryStore
from slipway.bootstrapper.credentials.entropy import SystemEntropy
from slipway.bootstrapper.credentials.ephemeral_store import EphemeralStore
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.credentials.store import CredentialStore
from slipway.bootstrapper.delivery.settings import DeliverySettings
from slipway.bootstrapper.policy import Policy
from slipway.bootstrapper.provisioning.settings import VersionSettings
from slipway.cli.backend import MYSELF, Backend, EmbeddedBackend
from slipway.cli.options import Connection


@asynccontextmanager
async def connected(connection: Connection, *, dry: bool = False) -> AsyncIterator[Backend]:
    """Give a backend, and close it afterwards. `dry` means placeholders in place of secrets: nothing is created."""
    backend = _remote(connection) if connection.server else _embedded(connection, dry=dry)
    try:
        yield backend
    finally:
        await backend.close()


def credential_store(connection: Connection) -> CredentialStore:
    """Give the store of the clusters' secrets: a directory, or this process's memory with a warning."""
    factory = SecretFactory(entropy=SystemEntropy(), clock=utc_now)
    if connection.credentials is not None:
        return DirectoryStore(connection.credentials, factory)
    return EphemeralStore(factory)


@contextmanager
def _environment(name: str) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        problems = "; ".join(str(problem["msg"]) for problem in error.errors(include_url=False, include_input=False))
        raise click.UsageError(f"environment {name}: {problems}") from None


def _embedded(connection: Connection, *, dry: bool) -> Backend:
    from slipway.embedded.bootstrapper import embedded_bootstrapper  # noqa: PLC0415  # a client of a server needs no compiler

    if connection.tls_cert_dir or connection.insecure:
        raise click.UsageError("--tls-cert-dir and --insecure are for --server")
    store = PlaceholderStore() if dry else credential_store(connection)
    with _environment("SLIPWAY_ARTIFACT_..."):
        artifacts = ArtifactSettings().artifacts()
    with _environment("SLIPWAY_FETCH_INFRASTRUCTURES, SLIPWAY_PAYLOAD_..."):
        fetching = DeliverySettings().fetching()
    with _environment("SLIPWAY_PROVISIONER_VERSIONS"):
        versions = VersionSettings().versions()
    policy = Policy(secrets_for=frozenset({MYSELF}), versions=versions)
    try:
        bootstrapper = embedded_bootstrapper(
            store=store, policy=policy, profiles=connection.profiles, artifacts=artifacts, fetching=fetching
        )
        return EmbeddedBackend(bootstrapper)
    except ValueError as error:
        raise click.ClickException(f"--profiles: {error}") from None


def _remote(connection: Connection) -> Backend:
    from slipway.cli.remote import RemoteBackend  # noqa: PLC0415  # gRPC: nothing else of the command needs it

    if connection.profiles or connection.credentials:
        raise click.UsageError("--profiles and --credentials are the server's business with --server")
    return RemoteBackend(connection)
