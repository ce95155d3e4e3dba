"""Who may read reports and bring consoles: the operator's lists, else what RBAC says of Machines, else no caller."""

from pathlib import Path
from typing import Any

import pytest

from slipway.contract.errors import PermissionDenied, Unauthenticated
from slipway.kubernetes_api.access_reviews import AccessReviews
from slipway.kubernetes_api.resources import Json, Resource
from slipway.reports.access import Caller, ReportAccess, Right
from slipway.rpc.client import invoke, stream
from slipway.rpc.identity import Identity
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.certificates import Authority
from tests.services.kubernetes_api.memory_api import MemoryApi
from tests.services.reports.made import FAILED, KEY
from tests.services.reports.served import serving
from tests.services.reports.test_report_service import MACHINE, SECONDS, console

READER, INFRASTRUCTURE = "spiffe://slipway/client/sre", "spiffe://slipway/infrastructure/aws"
HERE = "spiffe://slipway/client/here"


class Reviewing(MemoryApi):
    """Answers reviews: the token "good" is user u, who may do what is listed."""

    def __init__(self, *allowed: tuple[str, str, str]) -> None:
        super().__init__()
        self._allowed = allowed
        self.attributes: list[Json] = []

    async def create(self, resource: Resource, namespace: str, body: Json) -> Json:
        if resource.kind == "TokenReview":
            good = body["spec"]["token"] == "good"
            return {"status": {"authenticated": good, "user": {"username": "u"}, "audiences": ["slipway"]}}
        attributes = body["spec"]["resourceAttributes"]
        self.attributes.append(attributes)
        wanted = (attributes["verb"], attributes.get("subresource", ""), attributes["name"])
        return {"status": {"allowed": attributes["namespace"] == "default" and wanted in self._allowed}}


async def allows(access: ReportAccess, right: Right, spiffe_id: str, token: str, **more: Any) -> str:
    """Give "yes", or the error by its name."""
    caller = Caller(Identity((spiffe_id,)) if spiffe_id else None, token)
    try:
        await access.check(caller, right, **({"namespace": "default", "machine": "m"} | more))
    except (PermissionDenied, Unauthenticated) as error:
        return type(error).__name__
    return "yes"


@pytest.mark.parametrize(
    ("right", "spiffe_id", "token", "expected", "reason"),
    [
        (Right.GET, READER, "", "yes", "on the list of readers"),
        (Right.LIST, READER, "", "yes", "on the list of readers"),
        (Right.GET_LOGS, READER, "", "yes", "on the list of readers"),
        (Right.INGEST, READER, "", "Unauthenticated", "a reader brings no consoles"),
        (Right.INGEST, INFRASTRUCTURE, "", "yes", "on the list of those who bring consoles"),
        (Right.GET, INFRASTRUCTURE, "", "Unauthenticated", "who brings consoles does not read"),
        (Right.GET, HERE, "", "yes", "on the list for this namespace"),
        (Right.GET, "", "", "Unauthenticated", "neither certificate nor token"),
        (Right.GET, "", "Bearer good", "yes", "RBAC lets it get the Machine"),
        (Right.INGEST, "", "Bearer good", "PermissionDenied", "but not update its status"),
        (Right.GET_LOGS, "", "Bearer good", "PermissionDenied", "nor get its logs"),
        (Right.LIST, "", "Bearer good", "PermissionDenied", "nor list Machines"),
        (Right.GET, "", "Bearer bad", "Unauthenticated", "the cluster does not know the token"),
        (Right.GET, "", "good", "Unauthenticated", "no scheme"),
    ],
)
async def test_who_has_which_right(right: Right, spiffe_id: str, token: str, expected: str, reason: str) -> None:
    """Each right is of its own list, and of its own verb and resource."""
    access = ReportAccess(
        AccessReviews(Reviewing(("get", "", "m"))), readers=[READER, f"{HERE}=default"], consoles=[INFRASTRUCTURE]
    )
    assert await allows(access, right, spiffe_id, token) == expected, reason


@pytest.mark.parametrize(
    ("right", "verb", "subresource"),
    [(Right.GET, "get", ""), (Right.LIST, "list", ""), (Right.WATCH, "watch", ""), (Right.GET_LOGS, "get", "log"),
     (Right.INGEST, "update", "status")],
)  # fmt: skip
async def test_rbac_is_wanted_about_the_machine(right: Right, verb: str, subresource: str) -> None:
    """The words of the review are those that an operator writes into a Role."""
    api = Reviewing((verb, subresource, "m"))
    access = ReportAccess(AccessReviews(api), readers=[], consoles=[])
    assert await allows(access, right, "", "Bearer good") == "yes"
    assert api.attributes == [
        {"namespace": "default", "verb": verb, "group": "cluster.x-k8s.io", "version": "v1beta2",
         "resource": "machines", "name": "m", **({"subresource": subresource} if subresource else {})}
    ]  # fmt: skip


async def test_a_list_is_for_its_namespace() -> None:
    """Who is listed for one namespace has no right in another."""
    access = ReportAccess(None, readers=[f"{HERE}=default"], consoles=[])
    assert await allows(access, Right.LIST, HERE, "") == "yes"
    assert await allows(access, Right.LIST, HERE, "", namespace="other") == "PermissionDenied"


async def test_without_a_cluster_the_lists_decide() -> None:
    """A token is of no use then; without TLS only this machine calls."""
    access = ReportAccess(None, readers=[READER], consoles=[])
    assert await allows(access, Right.GET, READER, "") == "yes"
    assert await allows(access, Right.GET, INFRASTRUCTURE, "Bearer good") == "PermissionDenied"
    assert await allows(access, Right.INGEST, "", "") == "yes"


async def test_certificates_decide_at_the_server(tmp_path: Path) -> None:
    """By TLS: a reader reads, an infrastructure provider brings consoles, a provisioner does neither."""
    authority = Authority()
    certificates = authority.fill(tmp_path / "server", hosts=["reports.slipway"])
    reader = authority.fill(tmp_path / "reader", uris=[READER])
    infrastructure = authority.fill(tmp_path / "infrastructure", uris=[INFRASTRUCTURE])
    provisioner = authority.fill_provisioner(tmp_path / "provisioner", name="talos")
    lists = {"report_readers": READER, "console_callers": INFRASTRUCTURE}
    get = reportspb.GetReportRequest(machine=MACHINE)
    logs = reportspb.GetLogBundleRequest(machine=MACHINE)
    watch = reportspb.WatchReportsRequest(namespace="default")
    names = reportspb.ListReportsRequest(namespace="default")
    async with serving(tmp_path / "store", certificates, **lists) as served:
        async with served.stub(infrastructure) as stub:
            assert (await invoke(stub.IngestConsole, console(FAILED), timeout=SECONDS)).events == 4
            with pytest.raises(PermissionDenied):
                await invoke(stub.GetReport, get, timeout=SECONDS)
        async with served.stub(reader) as stub:
            assert (await invoke(stub.GetReport, get, timeout=SECONDS)).report.bundle_id == KEY.bundle_id
            with pytest.raises(PermissionDenied):
                await invoke(stub.IngestConsole, console(FAILED), timeout=SECONDS)
        async with served.stub(provisioner) as stub:
            calls: list[Any] = [
                invoke(stub.IngestConsole, console(FAILED), timeout=SECONDS),
                invoke(stub.GetReport, get, timeout=SECONDS),
                invoke(stub.ListReports, names, timeout=SECONDS),
                anext(stream(stub.WatchReports, watch, timeout=SECONDS)),
                anext(stream(stub.GetLogBundle, logs, timeout=SECONDS)),
            ]
            for call in calls:
                with pytest.raises(PermissionDenied):
                    await call
