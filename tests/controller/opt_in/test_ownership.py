"""Whose a KubeadmConfig is: decided once by the webhook, guarded by policies, on a real API server."""

import asyncio
from typing import Any

import pytest

from slipway.controller import ownership
from tests.controller.opt_in import opting_in
from tests.controller.opt_in.opting_in import KIND, attempt, config, is_done
from tests.controller.site import Object, Site, has_data, runs
from tools.cluster.access import read
from tools.cluster.client import Client
from tools.cluster.topology import BOOTSTRAP, CORE

pytestmark = [pytest.mark.engine, pytest.mark.timeout(500)]


async def test_a_webhook_that_is_down_fails_opted_in_creations_only(site: Site) -> None:
    """Others are made and run meanwhile; when it is back, those that failed are tried again by who makes them."""
    await opting_in.begin(site)
    async with opting_in.webhook(site):
        pass
    refused = await attempt(site, "create", config("refused", namespace=site.namespace))
    assert "opt-in.bootstrap.slipway.dev" in refused
    assert await attempt(site, "create", config("other", namespace=site.namespace, labels={"x": "y"})) == ""
    await site.delete(BOOTSTRAP, KIND, "other")
    await opting_in.workers(site, "plain", labels={"x": "y"})
    await opting_in.workers(site, "pool")
    await site.machines("plain", 1, runs)
    assert await site.all(CORE, "Machine", selector="pool=pool") == []
    async with opting_in.webhook(site), site.controller(opt_in=True):
        # Core tries again by itself, after pauses that have grown meanwhile; a change has it try at once.
        await site.patch(CORE, "MachineDeployment", "pool", {"spec": {"replicas": 2}})
        await site.machines("pool", 2, runs)


async def test_a_webhook_that_is_missing_is_noticed(site: Site) -> None:
    """The policy refuses what opts in and was not marked, and says what is missing; others are let through."""
    async with opting_in.webhook(site):
        await opting_in.no_webhook(site)
        refused = await site.eventually(
            lambda: attempt(site, "create", config("w", namespace=site.namespace)), lambda said: said
        )
    assert "webhook was not asked" in refused
    assert await attempt(site, "create", config("other", namespace=site.namespace, labels={"x": "y"})) == ""


async def test_a_label_that_comes_later_changes_nothing(site: Site) -> None:
    """The kubeadm provider goes on with the object; an event says why, and a new Machine is ours."""
    await opting_in.begin(site)
    async with opting_in.webhook(site), site.controller(opt_in=True):
        await opting_in.workers(site, labels={"x": "y"})
        (machine,) = await site.machines("pool", 1, runs)
        name = machine["metadata"]["name"]
        before = await site.get("v1", "Secret", name)
        await site.patch(BOOTSTRAP, KIND, name, {"metadata": {"labels": opting_in.OPTED_IN}})
        await site.eventually(
            lambda: site.all("v1", "Event"),
            lambda events: [event for event in events if event["reason"] == "OptedInTooLate" and _about(event) == name],
        )
        assert (await site.get("v1", "Secret", name))["data"] == before["data"]
        assert ownership.OWNER not in (await site.get(BOOTSTRAP, KIND, name))["metadata"]["labels"]


async def test_the_owner_can_not_be_changed(site: Site) -> None:
    """Nobody adds the mark of the owner later, nobody takes it away, nobody but Slipway ends the pause."""
    async with opting_in.webhook(site):
        assert await attempt(site, "create", config("w", namespace=site.namespace)) == ""
        assert await attempt(site, "create", config("other", namespace=site.namespace, labels={"x": "y"})) == ""
        other, ours = (config(name, namespace=site.namespace) for name in ("other", "w"))
        tried: list[tuple[Object, Object, str]] = [
            (other, {"labels": {ownership.OWNER: ownership.SLIPWAY}}, "cannot be added"),
            (ours, {"labels": {ownership.OWNER: None}}, "cannot be added"),
            (ours, {"labels": {ownership.OWNER: "me"}}, "cannot be added"),
            (ours, {"annotations": {ownership.PAUSED: None}}, "slipway release"),
            (ours, {"annotations": {ownership.PAUSED: ""}}, "slipway release"),
        ]
        for item, change, said in tried:
            assert said in await attempt(site, "patch", item, {"metadata": change}), change
        # Whoever copies labels from a template may take back what came from there.
        assert await attempt(site, "patch", ours, {"metadata": {"labels": {ownership.MANAGED: None}}}) == ""
        assert "cannot be added" in await _replace(site, {**ours, "metadata": {**ours["metadata"], "labels": {}}})
        released = {"metadata": {"annotations": {ownership.RELEASED: "now", ownership.PAUSED: None}}}
        assert await attempt(site, "patch", ours, released) == ""
        assert "cannot be removed" in await attempt(
            site, "patch", ours, {"metadata": {"annotations": {ownership.RELEASED: None}}}
        )


async def test_a_replacement_in_place_of_an_apply_is_refused(site: Site) -> None:
    """`kubectl replace` with the file that a person has would end the pause and the ownership: it changes nothing."""
    await site.cluster()
    async with opting_in.webhook(site):
        await opting_in.machine_by_hand(site, "w")
        before = await site.get(BOOTSTRAP, KIND, "w")
        assert "Forbidden" in await _replace(site, config("w", namespace=site.namespace))
        after = await site.get(BOOTSTRAP, KIND, "w")
        assert (after["metadata"]["labels"], after["metadata"]["annotations"]) == (
            before["metadata"]["labels"],
            before["metadata"]["annotations"],
        )
        async with site.controller(opt_in=True):
            await site.until(CORE, "Machine", "w", has_data)
            await site.until(BOOTSTRAP, KIND, "w", is_done)


async def test_a_preset_token_is_refused_at_any_time(site: Site) -> None:
    """At creation by the webhook, later by the policy: the kubeadm provider would look after that token."""
    token = {"joinConfiguration": {"discovery": {"bootstrapToken": {"token": "abcdef.0123456789abcdef"}}}}
    empty: Object = {"joinConfiguration": {"discovery": {"bootstrapToken": {}}}}
    async with opting_in.webhook(site):
        assert "Slipway makes the token" in await attempt(
            site, "create", {**config("w", namespace=site.namespace), "spec": empty}
        )
        wrong = {**config("w", namespace=site.namespace), "spec": token}
        assert "Slipway makes the token" in await attempt(site, "create", wrong)
        assert await attempt(site, "create", config("w", namespace=site.namespace)) == ""
        refused = await attempt(site, "patch", wrong, {"spec": token})
        assert "bootstrapToken must not be set" in refused
        assert "0123456789abcdef" not in refused


async def test_the_kubeadm_provider_may_not_write_over_our_secrets(site: Site) -> None:
    """Whatever it thinks of a Secret of ours: update and deletion are refused to it; other Secrets are its own."""
    namespace, _, account = opting_in.PROVIDER.partition("serviceaccount:")[2].partition(":")
    path = await asyncio.to_thread(site.environment.kubeconfig_of_account, namespace, account)
    provider = Client(read(path.read_bytes()))
    metadata = {"name": "ours", "namespace": site.namespace, "annotations": {"bootstrap.slipway.dev/bundle-id": "b"}}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"value": ""}}
    theirs = {**secret, "metadata": {"name": "theirs", "namespace": site.namespace}}
    await site.apply(secret, theirs)
    change = {"data": {"value": "eA=="}}
    await site.eventually(
        lambda: _as(provider, "patch", secret, change), lambda said: "no other client may write it" in said
    )
    assert "no other client may write it" in await _as(provider, "delete", secret)
    assert await _as(provider, "patch", theirs, change) == ""


async def _as(client: Client, verb: str, *arguments: Any) -> str:
    from tools.cluster.failures import Refused

    try:
        await asyncio.to_thread(getattr(client, verb), *arguments)
    except Refused as refused:
        return str(refused)
    return ""


async def _replace(site: Site, item: Object) -> str:
    """Replace an object, as `kubectl replace` does."""
    path = f"/apis/{BOOTSTRAP}/namespaces/{site.namespace}/kubeadmconfigs/{item['metadata']['name']}"
    found = await site.get(BOOTSTRAP, KIND, item["metadata"]["name"])
    version = {"resourceVersion": found["metadata"]["resourceVersion"]}
    body = {**item, "metadata": {**item["metadata"], **version}}
    return await attempt(site, "request", "PUT", path, body)


def _about(event: Object) -> str:
    return str(event["involvedObject"]["name"])
