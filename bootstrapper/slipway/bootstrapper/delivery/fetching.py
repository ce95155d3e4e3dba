"""User data that a machine fetches: what the operator allows, what is refused, and the stub in their place.

Nothing is stored here: who asks gets the stub, and the user data as its payload.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass, field

from slipway.bootstrapper.delivery.infrastructure import ANY_LIMIT, infrastructure
from slipway.bootstrapper.delivery.stubs.formats import MOST_BYTES, STUBS
from slipway.bootstrapper.delivery.stubs.proxy import ProxyWithPassword, proxy_for
from slipway.bootstrapper.delivery.stubs.source import Source
from slipway.contract.errors import (
    AttachmentsNotAccepted,
    FeatureDenied,
    UnsupportedTarget,
    UserDataTooLarge,
    Violation,
)
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import spec_pb2 as specpb

FOLDER = "payload"
"""Where the node gateway has payloads, below its store and below its address."""

PLACEHOLDER_TICKET = "0" * 43
"""As long as a ticket: for a dry run, which must not need the secret that tickets are made of."""

TicketOf = Callable[[bytes], str]
"""Gives the ticket of a machine for its payload."""


@dataclass(frozen=True, slots=True)
class Fetching:
    """What the operator allows.

    Attributes:
        infrastructures: where machines may fetch their user data.
        base: address of the node gateway or the bucket, of https, without "/" at its end.
        authorities: certificate authorities of the gateway, PEM; "" where those of the system are enough.
        ticket: gives the ticket of the machine in question; None where who asks stores its payload.
        sign: gives the address of a payload that a machine can fetch without a ticket, for its name: of a bucket, where
            no gateway is asked. None for the gateway.
    """

    infrastructures: frozenset[str]
    base: str
    authorities: str = ""
    ticket: TicketOf | None = field(default=None, repr=False)
    sign: Callable[[str], str] | None = field(default=None, repr=False)

    def url(self, name: str) -> str:
        """Give the address of a payload."""
        return f"{self.base}/{FOLDER}/{name}"


@dataclass(frozen=True, slots=True)
class Payload:
    """User data that a machine fetches.

    Attributes:
        name: of the object: who shows the ticket shows that the object is its own.
        url: where they are, without what opens it.
        data: the user data.
    """

    name: str
    url: str
    data: bytes = field(repr=False)


def is_fetched(spec: specpb.MachineBootstrapSpec) -> bool:
    """Whether the machine is to fetch its user data."""
    return spec.delivery.mode == specpb.DELIVERY_MODE_FETCH


def payload_name(ticket: str) -> str:
    """Give the name of an object, which is that of its ticket and does not give the ticket away."""
    return hashlib.sha256(ticket.encode()).hexdigest()


def check_fetched(
    spec: specpb.MachineBootstrapSpec,
    info: provisionerpb.FormatInfo,
    target: clusterpb.Target,
    fetching: Fetching | None,
) -> None:
    """Check that a machine which is to fetch its user data may, and can.

    Raises:
        FeatureDenied: the operator does not allow it on this infrastructure.
        UnsupportedTarget: the format has no stub, or the infrastructure changes user data.
    """
    if not is_fetched(spec):
        return
    name = target.infrastructure or "(unknown)"
    if fetching is None or target.infrastructure not in fetching.infrastructures:
        why = f"is Fetch, which the operator does not allow on infrastructure {name}"
        message = f"the operator does not allow delivery Fetch on infrastructure {name}"
        raise FeatureDenied(message, violations=[_violation(spec, why)])
    if info.format not in STUBS:
        why = f"is Fetch, and user data of format {info.format} can only be delivered inline"
        raise UnsupportedTarget(f"format {info.format} cannot be fetched", violations=[_violation(spec, why)])
    if not infrastructure(target).verbatim:
        why = f"is Fetch, and infrastructure {name} changes user data on their way to the machine"
        raise UnsupportedTarget(f"delivery Fetch is not supported on {name}", violations=[_violation(spec, why)])


def can_be_fetched(
    spec: specpb.MachineBootstrapSpec,
    info: provisionerpb.FormatInfo,
    target: clusterpb.Target,
    fetching: Fetching | None,
) -> bool:
    """Whether a machine whose user data are too large may fetch them: the operator allows it, and no import made it."""
    if fetching is None or is_fetched(spec) or spec.imported.kind:
        return False
    spec_with_fetch = specpb.MachineBootstrapSpec(delivery=specpb.Delivery(mode=specpb.DELIVERY_MODE_FETCH))
    try:
        check_fetched(spec_with_fetch, info, target, fetching)
    except (FeatureDenied, UnsupportedTarget):
        return False
    return True


def fetched(  # noqa: PLR0913  # what is delivered, and how
    spec: specpb.MachineBootstrapSpec,
    info: provisionerpb.FormatInfo,
    data: bytes,
    fetching: Fetching,
    ticket: TicketOf,
    *,
    bundle_id: str,
    proxy: ospb.Proxy,
) -> tuple[bytes, Payload]:
    """Give the stub for user data, and the user data as its payload. The same data give the same stub.

    `bundle_id` and `proxy` are those of the machine's bundle.

    Raises:
        UnsupportedTarget: the user data hold text that the first-boot system would not render in a payload, or the
            machine reaches the gateway by a proxy with a password.
        UserDataTooLarge: stub or payload are larger than they may be.
    """
    stub = STUBS[info.format]
    if not stub.takes(data):
        why = "is Fetch, and the user data hold template text, which cloud-init renders in inline user data only"
        remedy = "use machine facts in place of templates, or leave delivery out"
        raise UnsupportedTarget("the user data cannot be fetched", violations=[_violation(spec, why, remedy)])
    if len(data) > ANY_LIMIT:
        why = f"is Fetch, and a payload has at most {ANY_LIMIT} bytes; the user data have {len(data)}"
        raise UserDataTooLarge("the payload is too large", violations=[_violation(spec, why, "make the spec smaller")])
    digest = hashlib.sha256(data).hexdigest()
    shown = ticket(data)
    payload = Payload(payload_name(shown), fetching.url(payload_name(shown)), data)
    try:
        by = proxy_for(payload.url, proxy)
    except ProxyWithPassword:
        why = "is Fetch, and os.proxy.httpsProxy has a password, which a stub must not hold"
        remedy = "add the gateway to os.proxy.noProxy, use a proxy without a password, or leave delivery out"
        raise UnsupportedTarget("the proxy has a password", violations=[_violation(spec, why, remedy)]) from None
    if fetching.sign is None:
        source = Source(payload.url, digest, shown, fetching.authorities, bundle_id, by)
    else:
        source = Source(fetching.sign(payload.name), digest, "", fetching.authorities, bundle_id, by)
    text = stub.write(source)
    if len(text) > MOST_BYTES:
        why = f"is Fetch, and the stub has {len(text)} bytes of at most {MOST_BYTES}"
        remedy = "have the operator use a shorter address, or an authority with a key of ECDSA"
        raise UserDataTooLarge("the stub is too large", violations=[_violation(spec, why, remedy)])
    return text, payload


def ticket_of_request(payload: bytes) -> str:
    """Give the ticket for a payload that who asks for it stores: 43 characters of base64 for URLs.

    There is no secret of a cluster to make it of. Who can compute it has the payload, and the same request has the same
    answer.
    """
    return base64.urlsafe_b64encode(hmac.digest(payload, b"payload-ticket", "sha256")).decode().rstrip("=")


def attachment(payload: Payload, media_type: str) -> provisionerpb.Attachment:
    """Give a payload as what the answer to a request has beside the stub; its name is that of the object."""
    return provisionerpb.Attachment(
        name=payload.name,
        media_type=media_type,
        content=payload.data,
        sha256=hashlib.sha256(payload.data).digest(),
        url=payload.url,
    )


def check_placed(spec: specpb.MachineBootstrapSpec, *, accept_attachments: bool) -> None:
    """Check that the caller stores the payload of a request.

    Raises:
        AttachmentsNotAccepted: it does not, so the machine would wait for ever.
    """
    if not accept_attachments:
        why = "is Fetch, and the request takes no attachments, so what the machine fetches would not be stored"
        remedy = (
            "set accept_attachments (slipway render -o DIR) and store the attachment at its url, or leave delivery out"
        )
        raise AttachmentsNotAccepted("the payload has to be stored", violations=[_violation(spec, why, remedy)])


def _violation(spec: specpb.MachineBootstrapSpec, why: str, remedy: str = "leave delivery out") -> Violation:
    return Violation(f"{spec.delivery.origin.path or 'spec.delivery'}.mode", why, remedy=remedy)
