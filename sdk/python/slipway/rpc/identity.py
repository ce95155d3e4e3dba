"""Who the other side is, by its certificate, and the stage that asks whether it may make a call."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from slipway.contract.roles import SPIFFE, spiffe_id
from slipway.rpc import ServicerContext
from slipway.rpc.call import Call, Proceed


@dataclass(frozen=True, slots=True)
class Identity:
    """The SPIFFE ids of a peer's certificate: one, or none."""

    spiffe_ids: tuple[str, ...]

    @classmethod
    def of_uris(cls, uris: Iterable[str]) -> "Identity":
        """Return the identity by all URIs of a certificate, without any id where there are several.

        Each check would otherwise take the id that suits it. Source of the rule: SPIFFE's X.509-SVID, section 2.
        """
        ids = tuple(uris)
        return cls(ids if len(ids) == 1 and ids[0].startswith(SPIFFE) else ())

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
    return Identity.of_uris(uri.decode("utf-8", errors="replace") for uri in properties.get("peer_uri", ()))


class Policy(Protocol):
    """Decides about one call; ``identity`` is None on a connection without TLS (loopback only)."""

    def __call__(self, call: Call, identity: Identity | None) -> None:
        """Return when it is allowed.

        Raises:
            Unauthenticated: an identity is needed.
            PermissionDenied: this identity may not.
        """


class Authorisation:
    """Applies a policy to all calls but health and reflection."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    async def __call__(self, call: Call, context: ServicerContext, proceed: Proceed) -> object:
        """Run the call if the policy allows it."""
        if not call.is_infrastructure:
            self._policy(call, identity_of(context))
        return await proceed()


def allow_all(call: Call, identity: Identity | None) -> None:
    """Allow every caller that got through TLS."""
    del call, identity
