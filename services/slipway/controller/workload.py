"""Workload clusters: their API servers, and the bootstrap tokens that machines join with.

One dead cluster must block no other: every call has a deadline, and after a failure a cluster is left alone for a while
that grows.
"""

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeVar

from slipway.controller.conditions import Reason
from slipway.controller.halt import Halt
from slipway.controller.kubernetes.failures import AlreadyExists, ApiFailure, NotFound, Unauthorized
from slipway.controller.kubernetes.kubeconfig import ClusterAccess, KubeconfigRefused, read_kubeconfig
from slipway.controller.objects import Objects
from slipway.controller.resources import SECRETS, Json
from slipway.controller.secret_reader import SecretReader

NAMESPACE = "kube-system"
TOKEN_TYPE = "bootstrap.kubernetes.io/token"  # noqa: S105  # a type's name
_FIRST_REST = 2.0
_LONGEST_REST = 60.0
_REFRESH_BELOW = 5 / 6


class Connected(Objects, Protocol):
    """A connection to a cluster that can be closed."""

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

    async def ensure_token(  # noqa: PLR0913  # keyword-only facts of a token
        self,
        namespace: str,
        cluster: str,
        *,
        token: str,
        values: Mapping[str, str],
        description: str,
        ttl: timedelta,
        now: datetime,
        expected: bool = False,
    ) -> datetime:
        """See to it that a cluster accepts a token for a while from now on; give until when it does.

        `values` are what its bootstrap engine wants in the token's Secret beside id, secret and expiry. A token that
        lasts for more than five sixths of `ttl` is left as it is. One that is `expected` to be there is looked for
        before it is made.

        Raises:
            Halt: the cluster cannot be reached, or its kubeconfig cannot be used.
        """

        async def work(objects: Objects) -> datetime:
            id_, _, secret = token.partition(".")
            body = _token_object(id_, secret, {**values, "description": description}, now + ttl)
            return await _ensure(objects, body, ttl=ttl, now=now, expected=expected)

        return await self._with(namespace, cluster, work)

    async def token_expiry(self, namespace: str, cluster: str, *, token: str) -> datetime | None:
        """Give until when a cluster accepts a token; None when it does not at all, or knows its id with another secret.

        Raises:
            Halt: the cluster cannot be reached, or its kubeconfig cannot be used.
        """

        async def work(objects: Objects) -> datetime | None:
            try:
                found = await objects.get(SECRETS, NAMESPACE, f"bootstrap-token-{token.partition('.')[0]}")
            except NotFound:
                return None
            same = _data(found).get("token-secret") == _encoded(token.partition(".")[2])
            return _expiration(found) if same else None

        return await self._with(namespace, cluster, work)

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


async def _ensure(objects: Objects, body: Json, *, ttl: timedelta, now: datetime, expected: bool) -> datetime:
    name = body["metadata"]["name"]
    if expected and (kept := await _refresh(objects, name, body, ttl=ttl, now=now)):
        return kept
    try:
        await objects.create(SECRETS, NAMESPACE, body)
    except AlreadyExists:
        # Where it is not there after all, the token cleaner was between us: the next look creates it.
        return await _refresh(objects, name, body, ttl=ttl, now=now) or now
    return now + ttl


async def _refresh(objects: Objects, name: str, body: Json, *, ttl: timedelta, now: datetime) -> datetime | None:
    """See to it that a Secret that is there is the token that is wanted, and lasts; give None where there is none.

    Raises:
        Halt: it is somebody else's token of the same id.
    """
    try:
        found = await objects.get(SECRETS, NAMESPACE, name)
    except NotFound:
        return None
    wanted, there = body["data"], _data(found)
    changed = {key: value for key, value in wanted.items() if key != "expiration" and there.get(key) != value}
    if "token-secret" in changed and "description" in changed:
        raise Halt(
            Reason.TOKEN_TAKEN, f"the Secret {NAMESPACE}/{name} of the workload cluster holds another token of that id"
        )
    current = _expiration(found)
    if not changed and current is not None and current - now > ttl * _REFRESH_BELOW:
        return current
    data = {**changed, "expiration": wanted["expiration"]}
    await objects.merge(SECRETS, NAMESPACE, name, {"metadata": {"uid": found["metadata"]["uid"]}, "data": data})
    return now + ttl


def _token_object(id_: str, secret: str, values: Mapping[str, str], until: datetime) -> Json:
    data = {
        **values,
        "token-id": id_,
        "token-secret": secret,
        "expiration": until.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": TOKEN_TYPE,
        "metadata": {"name": f"bootstrap-token-{id_}", "namespace": NAMESPACE},
        "data": {key: _encoded(value) for key, value in data.items()},
    }


def _encoded(value: str) -> str:
    return base64.b64encode(value.encode()).decode()


def _data(found: Json) -> Json:
    """Give what a Secret of a foreign cluster holds, whatever its shape."""
    data = found.get("data")
    return data if isinstance(data, dict) else {}


def _expiration(found: Json) -> datetime | None:
    try:
        text = base64.b64decode(found["data"]["expiration"]).decode()
        return datetime.fromisoformat(text).astimezone(UTC)
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError):
        return None
