"""Reports that machines write into a real bucket by pre-signed addresses, and the gateway that looks there."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import pytest

from slipway.node_gateway.inbox import Inbox
from slipway.reports.bucket import presigned_url
from slipway.reports.bundle_intake import Redactor
from slipway.reports.capability import Kind, Target
from slipway.reports.names import BundleKey
from slipway.reports.objects import Objects
from slipway.reports.store import ReportStore
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.node_gateway.real_bucket import server
from tests.services.reports.made import BEGUN, COMPLETE, FAILED, KEY, Clock, store_of
from tools.oracles.object_store import ObjectStore

__all__ = ["server"]
pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]
OTHER = replace(KEY, machine="worker-2")
WHERE = (KEY.namespace, KEY.cluster, KEY.machine)


@dataclass
class Bucket:
    """A bucket, and where its reports are kept."""

    objects: Objects
    store: ReportStore

    def inbox(self, *, days_later: float = 0.0) -> Inbox:
        """Give the inbox of a process that has seen nothing."""
        now = datetime.now(UTC).timestamp() + days_later * 86_400
        return Inbox(self.objects, self.store, Redactor(), 14.0, lambda: now)

    def address(self, key: BundleKey = KEY) -> str:
        """Give the address to which a machine writes its events."""
        return presigned_url("s3://inbox", Target(key, Kind.EVENTS), seconds=3600)


@pytest.fixture
def bucket(server: ObjectStore, tmp_path: Path) -> Iterator[Bucket]:
    """Give an empty bucket."""
    objects = Objects.of(server.bucket("inbox"), "--report-inbox")
    kept, store = store_of(tmp_path / "reports", Clock(int(datetime.now(UTC).timestamp() * 1000)))
    yield Bucket(objects, store)
    objects.close()
    kept.close()


async def written(url: str, data: bytes, method: str = "PUT") -> int:
    """Write as a machine does, which has no credential; give the status."""
    async with aiohttp.ClientSession() as client, client.request(method, url, data=data) as answer:
        await answer.read()
        return answer.status


async def test_the_gateway_finds_what_machines_wrote(bucket: Bucket) -> None:
    """Each report once, until it is written again; a process that has seen nothing changes nothing."""
    inbox = bucket.inbox()
    assert await inbox.look() == 0
    assert await written(bucket.address(), BEGUN) == 200
    assert await written(bucket.address(OTHER), COMPLETE.replace(b"worker-1", b"worker-2")) == 200
    assert [await inbox.look() for _ in range(2)] == [2, 0]
    assert await written(bucket.address(), FAILED) == 200
    assert [await inbox.look() for _ in range(2)] == [1, 0]
    report = await bucket.store.report(*WHERE)
    assert report.sources[0].source == reportspb.REPORT_SOURCE_SINK
    assert report.sources[0].state == reportspb.REPORT_STATE_FAILED
    await bucket.inbox().look()
    assert (await bucket.store.report(*WHERE)).sources[0].state == reportspb.REPORT_STATE_FAILED


async def test_an_address_writes_one_report(bucket: Bucket) -> None:
    """Neither that of another machine, nor is anything read or deleted by it."""
    url = bucket.address()
    assert await written(url, BEGUN) == 200
    for address, method in ((url.replace("worker-1", "worker-2"), "PUT"), (url, "GET"), (url, "DELETE")):
        assert await written(address, FAILED, method) in {400, 403}
    assert [version.path for version in bucket.objects.versions("reports")] == [Target(KEY, Kind.EVENTS).object_name]
    assert await bucket.inbox().look() == 1


async def test_old_reports_leave_the_bucket(bucket: Bucket) -> None:
    """Beyond the days that are kept the gateway deletes them, and leaves alone what is no report."""
    await written(bucket.address(), FAILED)
    bucket.objects.put("reports/notes", b"x")
    assert await bucket.inbox(days_later=13).look() == 1
    assert await bucket.inbox(days_later=15).look() == 0
    assert [version.path for version in bucket.objects.versions("reports")] == ["reports/notes"]
