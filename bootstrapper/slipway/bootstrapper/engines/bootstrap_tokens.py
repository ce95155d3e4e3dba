"""Kubernetes' own bootstrap tokens, by which the machines of several engines join.

Each is a Secret of the type bootstrap.kubernetes.io/token in the namespace kube-system; the cluster's token cleaner
takes it away when it has expired. Source: "Authenticating with Bootstrap Tokens" of the Kubernetes documentation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from slipway.bootstrapper.credentials.cluster_secrets import BOOTSTRAP_TOKEN
from slipway.bootstrapper.engines.join_tokens import (
    JoinTokens,
    Maker,
    Place,
    TokenRequest,
    TokenTakenError,
    Upkeep,
    Values,
)
from slipway.v1alpha1 import cluster_pb2 as clusterpb

TYPE = "bootstrap.kubernetes.io/token"
NAMESPACE = "kube-system"
_EXPIRATION = "expiration"
_REFRESH_BELOW = 5 / 6
"""Part of its lifetime: one that lasts for longer is left as it is."""


@dataclass(frozen=True, slots=True)
class BootstrapTokens(JoinTokens):
    """Bootstrap tokens with what an engine wants in them beside id, secret, description and expiry.

    Attributes:
        worker: for a machine that joins as a worker.
        control_plane: for a machine that joins as a control plane.
        control_plane_secret: name of the secret in which that one has it.
    """

    worker: Mapping[str, str]
    control_plane: Mapping[str, str]
    control_plane_secret: str = BOOTSTRAP_TOKEN
    made_by = Maker.CONTROLLER

    def secret(self, role: clusterpb.Role.ValueType) -> str:
        """Give the name of the machine's secret."""
        return BOOTSTRAP_TOKEN if role == clusterpb.ROLE_WORKER else self.control_plane_secret

    def values(self, role: clusterpb.Role.ValueType) -> Mapping[str, str]:
        """Give what the engine wants in the token of a machine of a role."""
        return self.worker if role == clusterpb.ROLE_WORKER else self.control_plane

    def place(self, request: TokenRequest) -> Place:
        """Give the Secret, whose name the id of the token determines."""
        return Place(NAMESPACE, f"bootstrap-token-{_parts(request)[0]}")

    def text(self, request: TokenRequest, there: Values | None) -> str:
        """Give the token that was drawn."""
        del there
        return request.drawn

    def upkeep(self, request: TokenRequest, there: Values | None, *, now: datetime, ttl: timedelta) -> Upkeep:
        """Give what differs from what is wanted; a token that lasts is left as it is.

        Raises:
            TokenTakenError: the id is that of another token, with another description.
        """
        until = now + ttl
        wanted, expiration = self._values(request), until.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").encode()
        if there is None:
            return Upkeep(TYPE, {**wanted, _EXPIRATION: expiration}, until)
        changed = {key: value for key, value in wanted.items() if there.get(key) != value}
        if "token-secret" in changed and "description" in changed:
            raise TokenTakenError
        current = _expiration(there)
        if not changed and current is not None and current - now > ttl * _REFRESH_BELOW:
            return Upkeep(TYPE, {}, current)
        return Upkeep(TYPE, {**changed, _EXPIRATION: expiration}, until)

    def expiry(self, request: TokenRequest, there: Values | None) -> datetime | None:
        """Give until when it is accepted; None where the Secret has another token of that id."""
        same = there is not None and there.get("token-secret") == _parts(request)[1].encode()
        return _expiration(there or {}) if same else None

    def _values(self, request: TokenRequest) -> dict[str, bytes]:
        id_, secret = _parts(request)
        values = {
            **self.values(request.role),
            "description": request.description,
            "token-id": id_,
            "token-secret": secret,
        }
        return {key: value.encode() for key, value in values.items()}


def _parts(request: TokenRequest) -> tuple[str, str]:
    id_, _, secret = request.drawn.partition(".")
    return id_, secret


def _expiration(there: Values) -> datetime | None:
    """Give the time that a Secret of a foreign cluster names, None where that is no time."""
    try:
        return datetime.fromisoformat(there.get(_EXPIRATION, b"").decode()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
