"""How machines join a cluster: by tokens, of a mechanism that the cluster's engine declares and the controller drives.

An engine makes no call itself. It says which Secret of the workload cluster a token is, what that holds, and for how
long it counts; the controller, which knows no engine, reads and writes. For a machine that joins, it

1. reads the token where the cluster has made it (`made_by`), else it draws one, and asks for the `text`,
2. renders the user data with it,
3. sees to the `upkeep` of a token of its own: before the user data are stored, and again at every third of `ttl`, until
   the machine has joined or a day is over. After that it expires.

A pool whose machines have all joined gets another token when half of `ttl` is left. The machine that creates the
cluster makes the cluster's first tokens itself, by the steps of its plan.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum

from slipway.v1alpha1 import cluster_pb2 as clusterpb

Values = Mapping[str, bytes]
"""What a Secret holds, by key."""


class Maker(Enum):
    """Who makes the token of a machine that joins."""

    CONTROLLER = "controller"
    """The controller, one for each machine: it creates the Secret, refreshes it and lets it expire."""

    CLUSTER = "cluster"
    """The cluster itself, by its engine: the controller reads it when it renders, and never writes."""


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """A token that a machine shall have.

    Attributes:
        role: the role by which the machine joins.
        drawn: what the controller has drawn for the machine, "[a-z0-9]{6}.[a-z0-9]{16}": whenever it asks, the same.
        description: for whom it is, for people.
    """

    role: clusterpb.Role.ValueType
    drawn: str = field(repr=False)
    description: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a Secret of the workload cluster is."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What has to be written into the Secret of a token.

    Attributes:
        type: the Secret's type, for one that is created.
        values: keys that are written: all of them where there is no Secret yet, none where nothing has to change.
        until: until when the token counts afterwards.
    """

    type: str
    values: Values = field(repr=False)
    until: datetime


class TokenTakenError(Exception):
    """The Secret holds another token than that of the machine, which must not be overwritten."""


class JoinTokens(ABC):
    """The mechanism of an engine. Its methods are pure; `there` is what the Secret holds, None without a Secret.

    Attributes:
        made_by: who makes the token.
    """

    made_by: Maker

    @abstractmethod
    def secret(self, role: clusterpb.Role.ValueType) -> str:
        """Give the name of the secret, one that the engine declares, in which a machine of a role has its token."""

    @abstractmethod
    def place(self, request: TokenRequest) -> Place:
        """Give where the token is in the workload cluster."""

    @abstractmethod
    def text(self, request: TokenRequest, there: Values | None) -> str:
        """Give the token for the machine's user data, "" until a usable token exists.

        Of a token that the controller makes, `there` is None: its text is known before it is in the cluster.
        """

    @abstractmethod
    def upkeep(self, request: TokenRequest, there: Values | None, *, now: datetime, ttl: timedelta) -> Upkeep:
        """Give what has to be written so that the cluster accepts the token for `ttl` from now on.

        It is asked for a token that the controller makes only.

        Raises:
            TokenTakenError: the Secret holds another token than that of the machine.
        """

    @abstractmethod
    def expiry(self, request: TokenRequest, there: Values | None) -> datetime | None:
        """Give until when the cluster accepts the token, None where it does not at all, or where that is unknown."""
