"""Reports in a bucket, where machines do not reach the gateway: they write by pre-signed URLs, and it looks there.

Each object is judged as what arrives at the gateway itself: its name, its size, and what it has. None is deleted before
it is old, since a machine may write it again at any time; what was seen of each is in memory, and after a restart all
are read again, which changes nothing.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from slipway.contract.errors import ReportsUnavailable
from slipway.node_gateway.uploads import default_bounds
from slipway.reports.bundle_intake import Diagnoser, Redactor
from slipway.reports.bundle_refusal import BundleRefused
from slipway.reports.capability import Kind, Target
from slipway.reports.names import ROOT
from slipway.reports.objects import Objects, ObjectVersion
from slipway.reports.store import ReportStore
from slipway.v1alpha1 import report_service_pb2 as reportspb

_DAY = 86_400.0
_CHUNK = 256 * 2**10
_LIMITS = {kind: bounds.bytes for kind, bounds in default_bounds().items()}
_log = structlog.get_logger("slipway.node_gateway")


@dataclass(frozen=True)
class Inbox:
    """Takes reports out of a bucket, one at a time.

    Attributes:
        objects: the bucket.
        store: where they are kept.
        redactor: removes secrets from log bundles.
        days: an object that was written earlier is deleted.
        now: seconds since 1970 (UTC).
        diagnoser: finds the reason of a failure in log bundles.
    """

    objects: Objects
    store: ReportStore
    redactor: Redactor
    days: float
    now: Callable[[], float]
    diagnoser: Diagnoser = field(default_factory=Diagnoser)
    _seen: dict[str, ObjectVersion] = field(default_factory=dict)

    async def run(self, seconds: float) -> None:
        """Look for ever, about every so many seconds; a store that fails is tried again at the next time."""
        while True:
            try:
                await self.look()
            except ReportsUnavailable as error:
                _log.warning("bucket of reports not read", error=error.message)
            # Replicas that started together do not stay together.
            await asyncio.sleep(seconds * random.uniform(0.5, 1.0))  # noqa: S311  # spreads load, hides nothing

    async def look(self) -> int:
        """Take each object that is new, or was written again; give the number of those that were kept.

        Raises:
            ReportsUnavailable: the bucket or the store failed; the rest is taken the next time.
        """
        listed = await self.objects.run(lambda: list(self.objects.versions(ROOT)))
        paths = {version.path for version in listed}
        for path in [path for path in self._seen if path not in paths]:
            del self._seen[path]
        kept = strangers = 0
        for version in listed:
            target = Target.of_object(version.path)
            if target is not None and version.modified < self.now() - self.days * _DAY:
                await self._delete(version)
            elif self._seen.get(version.path) != version:
                if target is None:
                    strangers += 1
                else:
                    kept += await self._take(target, version)
                self._seen[version.path] = version
        if strangers:
            _log.warning("bucket has objects that are no reports", count=strangers)
        return kept

    async def _take(self, target: Target, version: ObjectVersion) -> bool:
        """Keep what an object has; give whether it was kept, else it was refused, and the log says why."""
        try:
            await self._keep(target, await self._body(target.kind, version))
        except BundleRefused as error:
            key = target.key
            _log.warning(
                "report refused", reason=str(error), kind=target.kind, namespace=key.namespace, machine=key.machine
            )  # fmt: skip
            return False
        return True

    async def _keep(self, target: Target, data: bytes) -> None:
        if target.kind is Kind.LOGS:
            redacted = await self.redactor.redact(data)
            await self.store.add_logs(target.key, redacted, reason=await self.diagnoser.reason(redacted))
            return
        events, _ = await self.store.add_events(target.key, reportspb.REPORT_SOURCE_SINK, data)
        if not events:
            raise BundleRefused("has no event of this bundle")

    async def _body(self, kind: Kind, version: ObjectVersion) -> bytes:
        """Read an object, which may have grown since it was listed."""
        limit = _LIMITS[kind]

        def read() -> bytes:
            parts, size = [], 0
            for chunk in self.objects.chunks(version.path, _CHUNK):
                size += len(chunk)
                if size > limit:
                    break
                parts.append(chunk)
            if size > limit:
                raise BundleRefused(f"has more than {limit} bytes")
            return b"".join(parts)

        return await self.objects.run(read)

    async def _delete(self, version: ObjectVersion) -> None:
        await self.objects.run(lambda: self.objects.delete(version.path))
        self._seen.pop(version.path, None)
