"""The stage that asks whether a caller may make a call, before its handler runs."""

from typing import Protocol

from slipway.rpc import ServicerContext
from slipway.rpc.call import Call, Proceed
from slipway.rpc.identity import Identity, identity_of


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
