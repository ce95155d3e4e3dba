"""The registry's memory on Leases, on a real API server and with the registry's own role."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from slipway.controller.server import LEASE
from slipway.kubernetes_api.api import Api
from slipway.kubernetes_api.connection import Connection
from slipway.kubernetes_api.failures import Invalid
from slipway.kubernetes_api.resources import Json, Resource
from slipway.registry.instance import EXPIRED, NOT_READY, READY, Instance
from slipway.registry.lease_store import LeaseStore
from slipway.registry.registrations import LeaseDuration, Registrations
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tests.controller import manifests
from tools.cluster.client import Client
from tools.cluster.environment import Environment
from tools.cluster.failures import Refused
from tools.cluster.keeper import Kept

# One after the other: a registry judges all registrations of its namespace.
pytestmark = [pytest.mark.engine, pytest.mark.timeout(300), pytest.mark.xdist_group("leases")]

ACCOUNT = "slipway-registry"
TTL = 30.0


@pytest.fixture
def cluster(management: Kept) -> Environment:
    """An API server with our roles."""
    return management.environment


class Time:
    """A clock that is put forward by hand."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return datetime(2026, 11, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)


class Spiteful(Api):
    """Refuses one object by name."""

    refused = ""

    async def create(self, resource: Resource, namespace: str, body: Json) -> Json:
        if body["metadata"]["name"] != "slipway-registry" and self.refused in {"", body["metadata"]["name"]}:
            self.refused = body["metadata"]["name"]
            raise Invalid("POST", resource.kind, self.refused)
        return await super().create(resource, namespace, body)


@asynccontextmanager
async def _store(cluster: Environment, clock: Time, kind: type[Api] = Api) -> AsyncIterator[LeaseStore]:
    path = await asyncio.to_thread(cluster.kubeconfig_of_account, manifests.NAMESPACE, ACCOUNT)
    api = kind(await Connection.of_process(path))
    store = LeaseStore(api, namespace=manifests.NAMESPACE, ttl=TTL, clock=clock, pause=0.1)
    await store.open(lambda: None)
    try:
        yield store
    finally:
        await store.close()


def _instance(clock: Time, name: str) -> Instance:
    return Instance(
        name=name,
        instance_id="one",
        endpoint="127.0.0.1:1",
        info=provisionerpb.GetProvisionerInfoResponse(name=name),
        state=READY,
        state_reason="",
        identity="",
        register_time=clock.now(),
        renew_time=clock.now(),
        lease_id=f"lease-{name}",
        expires=clock.monotonic() + TTL,
    )


def _of(store: LeaseStore, name: str) -> Instance | None:
    return next((one for one in store.all() if one.name == name), None)


async def _until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while True:
            if true():
                return
            await asyncio.sleep(0.05)


async def test_a_renewed_lease_lasts_in_the_other_replica_and_over_a_restart(cluster: Environment) -> None:
    """Renewed for longer than its term at one replica, it is alive in the other, and in the next process."""
    clock = Time()
    async with _store(cluster, clock) as one, _store(cluster, clock) as two:
        instance = _instance(clock, "renewed")
        one.put(instance)
        await _until(lambda: _of(two, "renewed"))
        judge = Registrations(two, clock, lease_duration=LeaseDuration(), new_id=lambda: "new")
        for _ in range(5):
            clock.seconds += 10
            instance = replace(instance, renew_time=clock.now(), expires=clock.monotonic() + TTL)
            one.put(instance)
            await _until(lambda: _renewed(two, "renewed") == clock.now())
            judge.sweep()
            found = _of(two, "renewed")
            assert found is not None
            assert found.state != EXPIRED
        one.put(replace(instance, state=NOT_READY))
        await _until(lambda: (found := _of(two, "renewed")) is not None and found.state == NOT_READY)
        epoch = one.epoch
    async with _store(cluster, clock) as again:
        found = _of(again, "renewed")
        assert again.epoch == epoch
        assert found is not None
        assert found.renew_time == clock.now()
        # The next process goes on from what is there.
        clock.seconds += 10
        again.put(replace(found, renew_time=clock.now()))
    async with _store(cluster, clock) as last:
        assert _renewed(last, "renewed") == clock.now()
        last.remove(replace(found))


async def test_both_replicas_write_the_same_instance(cluster: Environment) -> None:
    """A provisioner that renews in turns at two replicas is renewed each time."""
    clock = Time()
    async with _store(cluster, clock) as one, _store(cluster, clock) as two:
        instance = _instance(clock, "wandering")
        one.put(instance)
        await _until(lambda: _of(two, "wandering"))
        for writer, reader in ((two, one), (one, two), (two, one)):
            clock.seconds += 10
            writer.put(replace(instance, renew_time=clock.now()))
            await _until(partial(_is_renewed, reader, "wandering", clock.now()))
        one.remove(instance)
        await _until(lambda: _of(two, "wandering") is None)


async def test_one_refused_object_keeps_no_other_from_being_written(cluster: Environment) -> None:
    """The first provisioner's Lease cannot be written; the second one's is, and the other replica sees it."""
    clock = Time()
    async with _store(cluster, clock, Spiteful) as one, _store(cluster, clock) as two:
        one.put(_instance(clock, "refused"))
        one.put(_instance(clock, "taken"))
        await _until(lambda: _of(two, "taken"))
        assert _of(two, "refused") is None
        one.remove(_instance(clock, "taken"))
        one.remove(_instance(clock, "refused"))


@pytest.mark.parametrize(
    ("account", "own", "other"),
    [
        ("slipway-registry", "slipway-registry-1", f"{LEASE}.team-b"),
        ("slipway-controller", f"{LEASE}.team-a", "slipway-registry-2"),
    ],
)
def test_leases_of_others_are_out_of_reach(cluster: Environment, account: str, own: str, other: str) -> None:
    """Registry and controller have verbs on Leases of one namespace; each can use them on its own alone."""
    client = Client(cluster.administration.service_account(manifests.NAMESPACE, account))

    def lease(name: str, holder: str) -> dict[str, Any]:
        metadata = {"name": name, "namespace": manifests.NAMESPACE}
        spec = {"holderIdentity": holder}
        return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}

    cluster.client.apply(lease(other, "its holder"))

    def take() -> object:
        path = f"/apis/coordination.k8s.io/v1/namespaces/{manifests.NAMESPACE}/leases/{other}"
        found = cluster.client.request("GET", path)
        return client.request("PUT", path, {**found, "spec": {"holderIdentity": "somebody else"}})

    # The API server takes a new policy into account a moment after it was made.
    end = time.monotonic() + 60
    while not _is_held_back(take):
        assert time.monotonic() < end, "the Lease of somebody else could be taken"
    assert _is_held_back(lambda: client.create(lease(f"not-{own}", "me")))
    if account == "slipway-registry":
        assert _is_held_back(lambda: client.delete(lease(other, "")))
    assert client.create(lease(own, "me"))["spec"]["holderIdentity"] == "me"


def _is_held_back(call: Callable[[], object]) -> bool:
    """Whether a call is refused, and not for want of a verb."""
    try:
        call()
    except Refused as refused:
        return refused.status == 403 and "names begin with" in str(refused)
    return False


def _renewed(store: LeaseStore, name: str) -> datetime | None:
    found = _of(store, name)
    return found.renew_time if found is not None else None


def _is_renewed(store: LeaseStore, name: str, when: datetime) -> bool:
    return _renewed(store, name) == when
