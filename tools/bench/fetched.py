"""What delivery by fetching costs beside inline user data: bytes, and the processor's time for one machine."""

import hashlib
import time
from dataclasses import dataclass, replace

from slipway.bootstrapper.bootstrapper import Bootstrapper, utc_now
from slipway.bootstrapper.credentials.entropy import SystemEntropy
from slipway.bootstrapper.credentials.ephemeral_store import EphemeralStore
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.delivery.fetching import Fetching
from slipway.cli.rendering import role_name
from slipway.contract.errors import SlipwayError
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import spec_pb2 as specpb
from tools.bench.subjects import native

PROVISIONERS = ("cloud-init", "ignition")
_INFRASTRUCTURE = "metal"
_BASE = "https://gateway.example.com:8443"
CALLS = 50


@dataclass(frozen=True, slots=True)
class Delivered:
    """User data of one machine, inline and fetched.

    Attributes:
        provisioner: who renders.
        role: of the machine.
        inline: bytes of inline user data.
        stub: bytes of the stub.
        payload: bytes of what is fetched.
        inline_ms: milliseconds of the processor for inline user data, the median.
        fetched_ms: the same for stub and payload.
    """

    provisioner: str
    role: str
    inline: int
    stub: int
    payload: int
    inline_ms: float
    fetched_ms: float


async def fetched_rows(*, calls: int = CALLS) -> list[Delivered]:
    """Give a row for each machine of the native example and each provisioner that has a stub."""
    fetching = Fetching(frozenset({_INFRASTRUCTURE}), _BASE, ticket=_ticket)
    store = EphemeralStore(SecretFactory(entropy=SystemEntropy(), clock=utc_now))
    bootstrapper = replace(embedded_bootstrapper(store=store), fetching=fetching)
    rows = []
    for name in PROVISIONERS:
        for question in native():
            subject = question.subject
            subject.spec.provisioner.name = name
            subject.spec.target.infrastructure = _INFRASTRUCTURE
            try:
                inline, inline_ms, _ = await _measured(bootstrapper, subject, specpb.DELIVERY_MODE_INLINE, calls)
                stub, fetched_ms, payload = await _measured(bootstrapper, subject, specpb.DELIVERY_MODE_FETCH, calls)
            except SlipwayError:
                continue
            rows.append(Delivered(name, role_name(subject.machine.role), inline, stub, payload, inline_ms, fetched_ms))
    return rows


def table(rows: list[Delivered]) -> list[str]:
    """Give the lines of a table."""
    return [
        "| provisioner | role | inline bytes | stub | payload | inline, CPU ms | fetched, CPU ms |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(
            f"| {row.provisioner} | {row.role} | {row.inline} | {row.stub} | {row.payload} "
            f"| {row.inline_ms:.1f} | {row.fetched_ms:.1f} |"
            for row in rows
        ),
    ]


def _ticket(payload: bytes) -> str:
    return hashlib.sha256(payload).hexdigest()[:43]


async def _measured(
    bootstrapper: Bootstrapper, subject: bootstrappb.Subject, mode: specpb.DeliveryMode.ValueType, calls: int
) -> tuple[int, float, int]:
    """Give bytes of the user data, milliseconds of the processor, and bytes of the payload."""
    subject.spec.delivery.mode = mode
    request = bootstrappb.GetUserDataRequest(subject=subject, accept_attachments=True)
    # The first call makes the secrets of the cluster.
    answer, payload = await bootstrapper.delivered(request)
    times = []
    for _ in range(calls):
        began = time.process_time()
        await bootstrapper.delivered(request)
        times.append(1000 * (time.process_time() - began))
    return len(answer.user_data), sorted(times)[len(times) // 2], 0 if payload is None else len(payload.data)
