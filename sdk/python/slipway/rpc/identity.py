"""Who the other side is, by its certificate."""

from dataclasses import dataclass

from slipway.contract.roles import spiffe_id
from slipway.rpc import ServicerContext


@dataclass(frozen=True, slots=True)
class Identity:
    """The SPIFFE ids of a peer's certificate (in practice one, or none)."""

    spiffe_ids: tuple[str, ...]

    def owns(self, *, trust_domain: str, role: str, name: str) -> bool:
        """Whether it is the process ``name`` in ``role``."""
        return spiffe_id(trust_domain=trust_domain, role=role, name=name) in self.spiffe_ids

    def __str__(self) -> str:
        return ",".join(self.spiffe_ids)


def identity_of(context: ServicerContext) -> Identity | None:
    """Give the identity of the caller; None without TLS."""
    properties = context.auth_context()
    if b"ssl" not in properties.get("transport_security_type", ()):
        return None
    uris = tuple(uri.decode("utf-8", errors="replace") for uri in properties.get("peer_uri", ()))
    return Identity(tuple(uri for uri in uris if uri.startswith("spiffe://")))
