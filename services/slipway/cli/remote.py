"""A server that answers the commands."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

import click

from slipway.cli.options import Connection
from slipway.contract.errors import ForeignStatus, VersionSkew
from slipway.contract.roles import BOOTSTRAPPER, DEFAULT_TRUST_DOMAIN, REGISTRY
from slipway.rpc.channel import ChannelPool, InsecureTargetError
from slipway.rpc.client import invoke
from slipway.rpc.tls import CertificateFiles, TlsFilesError
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1.bootstrap_service_pb2_grpc import BootstrapServiceStub
from slipway.v1alpha1.reasons import Code
from slipway.v1alpha1.registry_service_pb2_grpc import RegistryServiceStub

if TYPE_CHECKING:
    from slipway.v1alpha1.bootstrap_service_pb2_grpc import BootstrapServiceAsyncStub

CALL_SECONDS = 30.0
_SILENT = frozenset({Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED})
_WHY = (
    ("Connection refused", "nothing listens there"),
    ("Domain name not found", "no such host is known"),
    ("WRONG_VERSION_NUMBER", "it speaks no TLS; --insecure asks it without, on this machine"),
    ("CERTIFICATE_VERIFY_FAILED", "its certificate is not of the authority in ca.crt of --tls-cert-dir"),
    ("Hostname Verification", "its certificate is for another name than that of this address"),
    ("http1.x server", "what answers there does not speak gRPC"),
    ("Socket closed", "it ended the connection: does it want TLS, by --tls-cert-dir DIR?"),
)
"""What gRPC says, in part, and what it means."""
A = TypeVar("A")


class ServerUnreachableError(ConnectionError):
    """A server does not answer. It is no answer about a machine, so it ends the command."""


class RemoteBackend:
    """Answers by a bootstrapper and a registry somewhere else. All calls raise ServerUnreachableError too."""

    def __init__(self, connection: Connection) -> None:
        """Prepare channels; nothing is dialled yet.

        Raises:
            click.UsageError: neither TLS nor --insecure was asked for, or it is not enough for the address.
        """
        if connection.tls_cert_dir is None and not connection.insecure:
            raise click.UsageError("a server needs --tls-cert-dir DIR, or --insecure when it is on this machine")
        tls = CertificateFiles(connection.tls_cert_dir) if connection.tls_cert_dir else None
        self._channels = ChannelPool(tls=tls, trust_domain=trust_domain(tls))
        self._connection = connection

    async def user_data(self, request: bootstrappb.GetUserDataRequest) -> bootstrappb.GetUserDataResponse:
        """Give user data."""
        return await self._bootstrap(lambda stub: invoke(stub.GetUserData, request, timeout=CALL_SECONDS))

    async def bundle(self, request: bootstrappb.GetBundleRequest) -> bootstrappb.GetBundleResponse:
        """Give a bundle."""
        return await self._bootstrap(lambda stub: invoke(stub.GetBundle, request, timeout=CALL_SECONDS))

    async def explain(self, request: bootstrappb.ExplainRequest) -> bootstrappb.ExplainResponse:
        """Give the matrix of fields and formats."""
        return await self._bootstrap(lambda stub: invoke(stub.Explain, request, timeout=CALL_SECONDS))

    async def import_config(
        self, request: bootstrappb.ImportKubeadmConfigRequest
    ) -> bootstrappb.ImportKubeadmConfigResponse:
        """Turn one KubeadmConfig into a spec."""
        return await self._bootstrap(lambda stub: invoke(stub.ImportKubeadmConfig, request, timeout=CALL_SECONDS))

    async def provisioners(self) -> Sequence[registrypb.ProvisionerInstance]:
        """Give all instances that the registry knows.

        Raises:
            click.UsageError: no registry was named.
        """
        address = self._connection.registry
        if not address:
            raise click.UsageError("a server's provisioners are listed by its registry: give --registry HOST:PORT too")
        request = registrypb.ListProvisionersRequest()
        with right_address(address):
            stub = RegistryServiceStub(self._channels.get(address, role=REGISTRY))
        call = invoke(stub.ListProvisioners, request, timeout=CALL_SECONDS)
        return list((await answered(call, f"registry at {address}")).instances)

    async def known_provisioners(self) -> Sequence[registrypb.ProvisionerInstance]:
        """Give all instances that the registry knows, or nothing when no registry was named."""
        return await self.provisioners() if self._connection.registry else []

    async def close(self) -> None:
        """Close the channels."""
        await self._channels.close()

    async def _bootstrap(self, call: Callable[["BootstrapServiceAsyncStub"], Awaitable[A]]) -> A:
        address = self._connection.server
        with right_address(address):
            stub = BootstrapServiceStub(self._channels.get(address, role=BOOTSTRAPPER))
        return await answered(call(stub), f"server at {address}")


def trust_domain(files: CertificateFiles | None) -> str:
    """Return the trust domain of the own certificate; files that cannot be read are reported when they are used."""
    with suppress(TlsFilesError):
        return files.trust_domain() if files else DEFAULT_TRUST_DOMAIN
    return DEFAULT_TRUST_DOMAIN


@contextmanager
def right_address(address: str) -> Iterator[None]:
    """Report to a person who named a wrong address, or a directory without certificates."""
    try:
        yield
    except InsecureTargetError:
        raise click.UsageError(
            f"{address} is not an address of this machine, so --insecure is not enough: give --tls-cert-dir DIR"
        ) from None
    except TlsFilesError as error:
        raise click.UsageError(str(error)) from None


async def answered(call: Awaitable[A], who: str) -> A:
    try:
        return await call
    except ForeignStatus as error:
        if error.code in _SILENT and not error.reason:
            raise ServerUnreachableError(f"the {who} does not answer: {_silence(error.message)}") from None
        raise
    except VersionSkew:
        raise ServerUnreachableError(
            f"the {who} has no such call: it is another service (--server is the bootstrapper's address, "
            "--registry the registry's), or of another version"
        ) from None


def _silence(message: str) -> str:
    """Say why no usable server answers: what gRPC's message means, else the message."""
    return next((explanation for part, explanation in _WHY if part in message), message)
