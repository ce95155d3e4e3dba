"""Workload clusters: their API servers, in which the tokens are that machines join with.

One dead cluster must block no other: every call has a deadline, and after a failure a cluster is left alone for a while
that grows.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from slipway.controller.halt import Halt
from slipway.controller.join_token import JoinToken
from slipway.controller.reasons import Reason
from slipway.controller.secret_reader import SecretReader
from slipway.kubernetes_api.failures import ApiFailure, Unauthorized
from slipway.kubernetes_api.kubeconfig import ClusterAccess, KubeconfigRefused, read_kubeconfig
from slipway.kubernetes_api.objects import Objects
from slipway.kubernetes_api.resources import Json, Resource

_FIRST_REST = 2.0
_LONGEST_REST = 60.0


class Connected(Objects, Protocol):
    """A connection to a cluster that can be closed."""

    async def page(
        self, resource: Resource, namespace: str = "", *, size: int, token: str = "", fields: str = ""
    ) -> tuple[list[Json], str]: ...

    async def close(self) -> None: ...


T = TypeVar("T")
Connect = Callable[[ClusterAccess], Connected]


@dataclass(slots=True)
class _Line:
    """The line to one cluster, and how it fares."""

    kubeconfig: bytes
    objects: Connected
    failures: int = 0
    outages: int = 0
    rest_until: float = 0.0


class Workloads:
    """Keeps a line to each workload cluster."""

    def __init__(
        self,
        reader: SecretReader,
        connect: Connect,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Read kubeconfigs by a reader, and connect by them."""
        self.reader = reader
        self._connect = connect
        self._monotonic = monotonic
        self._lines: dict[tuple[str, str], _Line] = {}
        self._refused: dict[tuple[str, str], tuple[bytes, str]] = {}

    async def token_text(self, namespace: str, cluster: str, token: JoinToken) -> str:
        """Give the token for a machine's user data, read in its cluster, "" until a usable token exists.

        Raises:
            Halt: the cluster cannot be reached, or its kubeconfig cannot be used.
        """
        return await self._with(namespace, cluster, token.read_text)

    async def ensure_token(  # noqa: PLR0913  # keyword-only facts of a token
        self,
        namespace: str,
        cluster: str,
        token: JoinToken,
        *,
        ttl: timedelta,
        now: datetime,
        expected: bool = False,
    ) -> datetime:
        """See to it that a cluster accepts a token for `ttl` from now on, and give until when it does.

        One that is `expected` to be there is looked for before it is made.

        Raises:
            Halt: the cluster cannot be reached, its kubeconfig cannot be used, or the Secret holds another token.
        """
        return await self._with(
            namespace, cluster, lambda objects: token.ensure(objects, ttl=ttl, now=now, expected=expected)
        )

    async def token_expiry(self, namespace: str, cluster: str, token: JoinToken) -> datetime | None:
        """Give until when a cluster accepts a token; None when it does not at all.

        Raises:
            Halt: the cluster cannot be reached, or its kubeconfig cannot be used.
        """
        return await self._with(namespace, cluster, token.read_expiry)

    async def connected(self, namespace: str, cluster: str) -> Connected | None:
        """Give the connection to a cluster, for calls that no machine waits for; None while it does not answer.

        How such a call ends does not count here: nothing of it delays the calls that machines wait for.

        Raises:
            Halt: its kubeconfig is not there, or cannot be used.
            ApiFailure: the management cluster does not answer.
        """
        line = await self._line(namespace, cluster)
        return None if line.rest_until > self._monotonic() else line.objects

    async def close(self) -> None:
        """Close all lines."""
        for line in self._lines.values():
            await line.objects.close()
        self._lines.clear()

    async def forget(self, namespace: str, cluster: str) -> None:
        """Close the line to a cluster that is gone."""
        self._refused.pop((namespace, cluster), None)
        line = self._lines.pop((namespace, cluster), None)
        if line is not None:
            await line.objects.close()

    async def _with(self, namespace: str, cluster: str, work: Callable[[Objects], Awaitable[T]]) -> T:
        line = await self._line(namespace, cluster)
        rest = line.rest_until - self._monotonic()
        if rest > 0:
            raise Halt(Reason.WORKLOAD_UNREACHABLE, _UNREACHABLE, after=rest)
        known = line.outages
        try:
            done = await work(line.objects)
        except Unauthorized:
            await self.forget(namespace, cluster)
            self.reader.forget(namespace, _kubeconfig_name(cluster))
            raise Halt(
                Reason.WORKLOAD_UNREACHABLE, "the cluster does not accept the kubeconfig's credentials", retry=True
            ) from None
        except ApiFailure as error:
            if line.outages == known:
                # Of all machines whose calls were under way, the first one counts the outage.
                line.outages += 1
                line.failures += 1
                line.rest_until = self._monotonic() + min(_FIRST_REST * 2 ** (line.failures - 1), _LONGEST_REST)
            pause = max(line.rest_until - self._monotonic(), _FIRST_REST)
            raise Halt(Reason.WORKLOAD_UNREACHABLE, f"{_UNREACHABLE} ({type(error).__name__})", after=pause) from None
        line.failures = 0
        return done

    async def _line(self, namespace: str, cluster: str) -> _Line:
        name = _kubeconfig_name(cluster)
        values = await self.reader.shared(namespace, name)
        kubeconfig = (values or {}).get("value")
        if not kubeconfig:
            raise Halt(Reason.WAITING_FOR_KUBECONFIG, f"the Secret {name} is not there")
        # Many machines ask at once, and one of them reads it for all.
        async with self.reader.lock(namespace, name):
            line = self._lines.get((namespace, cluster))
            if line is not None and line.kubeconfig == kubeconfig:
                return line
            refused = self._refused.get((namespace, cluster))
            if refused is not None and refused[0] == kubeconfig:
                raise Halt(Reason.KUBECONFIG_REFUSED, refused[1])
            try:
                objects = self._connect(await asyncio.to_thread(read_kubeconfig, kubeconfig))
            except KubeconfigRefused as error:
                why = str(error)
            except (OSError, ValueError):
                why = "the kubeconfig holds no usable certificates"
            else:
                await self.forget(namespace, cluster)
                line = self._lines[namespace, cluster] = _Line(kubeconfig, objects)
                return line
            self._refused[namespace, cluster] = (kubeconfig, why)
            raise Halt(Reason.KUBECONFIG_REFUSED, why)


_UNREACHABLE = "the API server of the workload cluster does not answer as it should"


def _kubeconfig_name(cluster: str) -> str:
    return f"{cluster}-kubeconfig"
