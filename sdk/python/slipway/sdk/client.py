"""What a bootstrap provider in Python needs to have machines provisioned: a connection, two calls, its own names."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from slipway.contract.errors import Violation
from slipway.contract.items import within
from slipway.contract.roles import BOOTSTRAPPER
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.rpc.tls import CertificateFiles
from slipway.v1alpha1 import provisioning_service_pb2 as provisioningpb
from slipway.v1alpha1.provisioning_service_pb2_grpc import ProvisioningServiceStub

if TYPE_CHECKING:
    from slipway.v1alpha1.provisioning_service_pb2_grpc import ProvisioningServiceAsyncStub

CALL_SECONDS = 30.0
"""Longest time of a call."""


class ProvisioningClient:
    """Calls ProvisioningService of one bootstrapper. Use it as an async context manager, or close it.

    Both calls have no side effects: a call whose answer is lost can be repeated.
    """

    def __init__(self, address: str, *, tls: Path | None) -> None:
        """Prepare a connection; nothing is dialled before the first call.

        Args:
            address: "HOST:PORT" of a bootstrapper or controller.
            tls: directory with tls.crt, tls.key and ca.crt. The server must have the certificate of a bootstrapper of
                the same trust domain; renewed files are used from the next call on. None: no TLS, which is accepted
                for addresses of this machine only.

        Raises:
            TlsFilesError: a file is missing or broken.
        """
        files = CertificateFiles(tls) if tls else None
        self._channels = ChannelPool(tls=files, trust_domain=files.trust_domain() if files else "")
        self._address = address

    async def provision(self, request: provisioningpb.ProvisionRequest) -> provisioningpb.ProvisionResponse:
        """Return the user data of a machine.

        Raises:
            SlipwayError: a refusal, with the path, feature and remedy of each field in `violations`; `retry_after` is
                set where the same request can succeed later.
            InsecureTargetError: there is no TLS, and the address is not of this machine.
        """
        return await invoke(self._stub().Provision, request, timeout=CALL_SECONDS)

    async def explain(self, request: provisioningpb.ExplainProvisionRequest) -> provisioningpb.ExplainProvisionResponse:
        """Return the result of each field for each provisioner and format: native, lowered or refused.

        Raises:
            SlipwayError: the spec itself is invalid.
            InsecureTargetError: as provision().
        """
        return await invoke(self._stub().ExplainProvision, request, timeout=CALL_SECONDS)

    async def close(self) -> None:
        """Close the connection; calls that are under way fail."""
        await self._channels.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _stub(self) -> "ProvisioningServiceAsyncStub":
        return ProvisioningServiceStub(self._channels.get(self._address, role=BOOTSTRAPPER))


def renamed(violations: Iterable[Violation], names: Mapping[str, str]) -> list[Violation]:
    """Return violations in the words of the caller's own config.

    Args:
        violations: of a refusal; their paths are those of the request.
        names: by path in the request, the caller's own name for it. Of several that enclose a path the longest counts;
            a path that none encloses stays.
    """
    own = []
    for violation in violations:
        enclosing = max((path for path in names if within(violation.path, path)), key=len, default=None)
        path = violation.path if enclosing is None else names[enclosing] + violation.path[len(enclosing) :]
        own.append(replace(violation, path=path))
    return own
