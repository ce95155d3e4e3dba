"""Approvals in workload clusters: what is approved, what is left, and what a cluster that fails costs."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import cast

import pytest
from structlog.testing import capture_logs

from slipway.controller import serving_certificates
from slipway.controller.cluster_object import ClusterObject
from slipway.controller.secret_reader import SecretReader
from slipway.controller.serving_certificates import REASON, ServingCertificates
from slipway.controller.workload import Workloads
from slipway.kubernetes_api.failures import Conflict, Unreachable
from slipway.kubernetes_api.resources import Json
from tests.services.controller.scene import Scene, machine_object
from tests.services.controller.serving_requests import (
    ADDRESSES,
    machine_status,
    names,
    request_object,
    signing_request,
)
from tests.services.kubernetes_api.memory_api import Call


@dataclass
class Approving:
    """What approves, and the cluster that it looks at."""

    scene: Scene
    machines: list[Json] = field(default_factory=list)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        reader = SecretReader(self.scene.api, self.scene.api.lookup("Secret"), self.scene.api.lookup("Cluster"))
        workloads = Workloads(reader, lambda _: self.scene.workload, monotonic=lambda: 0.0)
        self.work = ServingCertificates(
            workloads, self._clusters, lambda _: self.machines, monotonic=lambda: self.seconds
        )

    def _clusters(self) -> list[ClusterObject]:
        return [ClusterObject(item) for item in self.scene.api.all("Cluster")]

    def machine(self, *addresses: tuple[str, str]) -> None:
        """Put in the Machine."""
        self.machines[:] = [{**machine_object("w"), "status": machine_status(*addresses)}]

    def conditions(self, name: str = "csr-1") -> list[tuple[str, str, str]]:
        """Give what has been decided on a request."""
        request = self.scene.workload.find("CertificateSigningRequest", name, "")
        assert request is not None
        conditions = (request.get("status") or {}).get("conditions") or []
        return [(entry["type"], entry["status"], entry["reason"]) for entry in conditions]


@pytest.fixture
def approving(scene: Scene) -> Approving:
    """Give a cluster with one Machine, which has become a Node."""
    scene.cluster()
    scene.workload_ready()
    made = Approving(scene)
    made.machine(*ADDRESSES)
    return made


APPROVED = [("Approved", "True", REASON)]


async def test_first_and_later_requests_are_approved(approving: Approving) -> None:
    """The first one, and the one by which the kubelet renews its certificate; neither is written twice."""
    for name in ("csr-1", "csr-2"):
        approving.scene.workload.put(request_object(name=name))
        await approving.work.look()
        assert approving.conditions(name) == APPROVED
    await approving.work.look()
    assert [call[0] for call in approving.scene.workload.writes] == ["merge", "merge"]


async def test_a_request_waits_for_the_addresses_of_its_machine(approving: Approving) -> None:
    """What the infrastructure has not reported yet is no reason to deny; the log says once why it waits."""
    approving.machine()
    approving.scene.workload.put(request_object(signing_request(*names("192.0.2.7"))))
    with capture_logs() as logs:
        await approving.work.look()
        await approving.work.look()
    assert approving.conditions() == []
    assert [entry["why"] for entry in logs] == ["it names what is not in the addresses of the Machine"]
    assert "192.0.2.7" not in str(logs)
    approving.machine(*ADDRESSES)
    await approving.work.look()
    assert approving.conditions() == APPROVED


async def test_what_others_write_or_decide_stays(approving: Approving) -> None:
    """A denied request stays denied, one for clients is not ours, and what is no request hides no other one."""
    approving.scene.workload.put({**request_object(name="denied"), "status": {"conditions": [
        {"type": "Denied", "status": "True", "reason": "x"}]}})  # fmt: skip
    approving.scene.workload.put(
        request_object(name="client", signerName="kubernetes.io/kube-apiserver-client-kubelet")
    )
    approving.scene.workload.put({**request_object(name="odd"), "status": 1})
    approving.scene.workload.put(request_object())
    await approving.work.look()
    assert [call[3] for call in approving.scene.workload.writes] == ["csr-1"]


async def test_a_change_in_between_is_looked_at_anew(approving: Approving) -> None:
    """What is approved is what was read: where the request has changed, nothing is written, and others go on."""
    approving.scene.workload.put(request_object())
    approving.scene.workload.put(request_object(name="csr-2"))
    first = True

    def before(call: Call) -> None:
        nonlocal first
        if call[0] == "merge" and first:
            first = False
            raise Conflict("PATCH", call[1], call[3])

    approving.scene.workload.before = before
    await approving.work.look()
    assert (approving.conditions(), approving.conditions("csr-2")) == ([], APPROVED)
    await approving.work.look()
    assert approving.conditions() == APPROVED


@pytest.mark.parametrize("why", ["paused", "not initialized"])
async def test_a_cluster_that_is_not_ready_is_left_alone(approving: Approving, why: str) -> None:
    """Nothing is asked of a cluster that is paused, or has no control plane."""
    approving.scene.workload.put(request_object())
    approving.scene.cluster(paused=True) if why == "paused" else approving.scene.cluster(initialized=False)
    await approving.work.look()
    assert approving.scene.workload.calls == []


async def test_a_cluster_that_fails_is_told_once(approving: Approving) -> None:
    """It ends nothing, is logged at its first failure, and is asked again."""
    approving.scene.workload.put(request_object())

    def fail(call: Call) -> None:
        raise Unreachable(call[0], call[1])

    approving.scene.workload.before = fail
    with capture_logs() as logs:
        for _ in range(2):
            await approving.work.look()
            approving.seconds += 60
    assert [entry["failure"] for entry in logs] == ["Unreachable"]
    approving.scene.workload.before = lambda _: None
    await approving.work.look()
    assert approving.conditions() == APPROVED


async def test_silent_clusters_hold_up_no_other_one(approving: Approving, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty of one tenant: the clusters of others are looked at as ever, and no look waits for those."""
    monkeypatch.setattr(serving_certificates, "_LOOK_SECONDS", 0.05)
    looks: Counter[str] = Counter()

    class Line:
        def __init__(self, namespace: str) -> None:
            self.namespace = namespace

        async def page(self, *_: object, **__: object) -> tuple[list[Json], str]:
            looks[self.namespace] += 1
            if self.namespace == "silent":
                await asyncio.Event().wait()
            return [], ""

    class Lines:
        async def connected(self, namespace: str, _: str) -> Line:
            return Line(namespace)

    ready = approving.scene.api.all("Cluster")[0]
    clusters = [
        ClusterObject({**ready, "metadata": {**ready["metadata"], "namespace": namespace, "name": f"c{number}"}})
        for namespace, count in (("silent", 40), ("default", 1))
        for number in range(count)
    ]
    work = ServingCertificates(cast(Workloads, Lines()), lambda: clusters, lambda _: [])
    async with asyncio.timeout(10):
        for _ in range(4):
            await work.look()
    assert looks == {"default": 4, "silent": 3}


async def test_many_requests_are_read_in_pages(approving: Approving) -> None:
    """A cluster of many nodes has each of its requests looked at."""
    for index in range(150):
        approving.scene.workload.put(request_object(name=f"csr-{index}"))
    await approving.work.look()
    assert len(approving.scene.workload.writes) == 150


async def test_a_page_of_requests_is_all_that_is_held(approving: Approving, monkeypatch: pytest.MonkeyPatch) -> None:
    """However large the requests of a cluster are, the next page is read when the last has been judged."""
    held: list[int] = []
    monkeypatch.setattr(serving_certificates, "doubt", lambda request, _: held.append(request["number"]))
    for index in range(250):
        approving.scene.workload.put({**request_object(name=f"csr-{index:03}"), "number": index})
    pages: list[int] = []
    approving.scene.workload.before = lambda call: pages.append(len(held)) if call[0] == "page" else None
    await approving.work.look()
    assert pages == [0, 100, 200]


async def test_what_is_malformed_is_judged_once(approving: Approving, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a kubelet asks for cannot be changed, and to judge it again costs the same again."""
    approving.scene.workload.put(request_object(signing_request(*names("w"), common_name="system:node:x")))
    await approving.work.look()
    monkeypatch.setattr(serving_certificates, "doubt", lambda *_: pytest.fail("judged again"))
    await approving.work.look()
    assert approving.conditions() == []


async def test_a_name_that_no_address_can_hold_ends_nothing(approving: Approving) -> None:
    """JSON can hold halves of characters: such a request is left out, and the others are judged."""
    odd = request_object(name="odd")
    odd["metadata"]["name"] = "csr-\ud800"
    approving.scene.workload.put(odd)
    approving.scene.workload.put(request_object())
    await approving.work.look()
    assert approving.conditions() == APPROVED
