"""All of an installation as it runs in a cluster: from its manifests alone, with certificates that its Job makes."""

import asyncio
import base64
import json
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509

from slipway.rpc.addresses import host_of
from tests.controller.site import Site, condition, has_data
from tests.deploy.kubernetes import rendered
from tests.deploy.kubernetes.installation import (
    GRPC,
    METRICS,
    NAMESPACE,
    OVERLAY,
    PROBES,
    PROVISIONERS,
    SERVICES,
    Installation,
    deployments,
    probed,
    until,
)
from tests.deploy.kubernetes.kubelet.connections import established, listening
from tests.deploy.kubernetes.kubelet.kubelet import Pod
from tests.deploy.kubernetes.policies import Peer, Policies
from tools.cluster.client import Client
from tools.cluster.failures import Refused

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900), pytest.mark.xdist_group("pods")]


def test_nothing_starts_before_its_certificates(installation: Installation) -> None:
    """A pod of an installation whose Job has not run waits for its volume, and does not fail over and over."""
    assert installation.before == "Secret slipway-registry-tls has no tls.crt yet"


def test_the_job_makes_what_every_service_needs(installation: Installation) -> None:
    """Each has a key of its own and the names that others ask for; nothing of a key is said."""
    secrets = {name: installation.secret(f"slipway-{name}-tls") for name in SERVICES}
    assert all(one.keys() == {"tls.crt", "tls.key", "ca.crt"} for one in secrets.values())
    assert len({one["tls.key"] for one in secrets.values()}) == len(SERVICES)
    names = {name: _names(one["tls.crt"]) for name, one in secrets.items()}
    assert names["registry"] == {
        "spiffe://slipway/registry/registry", "registry.slipway",
        "slipway-registry", f"slipway-registry.{NAMESPACE}.svc",
    }  # fmt: skip
    assert names["talos"] == {"spiffe://slipway/provisioner/talos", "talos.provisioner.slipway"}
    said = installation.job.log()
    assert [json.loads(line)["event"] for line in said.splitlines()] == ["written"] * (len(SERVICES) + 1)
    for secret in (*secrets.values(), installation.secret("slipway-authority")):
        for value in secret.values():
            assert value.splitlines()[1].decode() not in said


def _names(pem: bytes) -> set[str]:
    carried = x509.load_pem_x509_certificate(pem).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return {str(one.value) for one in carried}


def test_the_job_changes_nothing_that_is_good(installation: Installation) -> None:
    """The CronJob's pod finds everything as it should be, also after an operator has applied all of it again."""
    before = _versions(installation)
    installation.cluster.apply([document for document in rendered.documents(OVERLAY) if document["kind"] == "Secret"])
    pod = installation.run_again()
    assert [json.loads(line)["event"] for line in pod.log().splitlines()] == ["unchanged"] * (len(SERVICES) + 1)
    assert _versions(installation) == before


def _versions(installation: Installation) -> dict[str, str]:
    found = installation.cluster.client.list("v1", "Secret", namespace=NAMESPACE)
    return {one["metadata"]["name"]: json.dumps(one.get("data"), sort_keys=True) for one in found}


def test_every_pod_is_well_by_its_probes(installation: Installation) -> None:
    """Each runs its manifest's command with its manifest's arguments, as its user, and serves metrics."""
    for pod in installation.pods.values():
        lines = Path(f"/proc/{pod.process.pid}/status").read_text(encoding="utf-8").splitlines()
        status = dict(line.split(":\t", 1) for line in lines)
        assert set(status["Uid"].split()) == {"65532"}
        assert {value for key, value in status.items() if key.startswith("Cap")} == {"0" * 16}
        assert status["NoNewPrivs"] == "1"
        with urllib.request.urlopen(f"http://{installation.kubelet.door(pod, METRICS)}/metrics", timeout=30) as answer:
            assert b"slipway_rpc_server_duration_seconds" in answer.read()


def test_every_pod_has_the_memory_that_it_asks_for(installation: Installation) -> None:
    """What is requested is what it takes, a quarter more at most; what it took at its most is half of its limit."""
    for pod in installation.pods.values():
        lines = Path(f"/proc/{pod.process.pid}/status").read_text(encoding="utf-8").splitlines()
        mebibytes = {
            name: int(value.split()[0]) / 1024 for name, value in (line.split(":", 1) for line in lines if "kB" in line)
        }
        resources = pod.container["resources"]
        requested, limit = (int(resources[one]["memory"].removesuffix("Mi")) for one in ("requests", "limits"))
        assert mebibytes["VmRSS"] < requested * 1.25, pod.name
        assert mebibytes["VmHWM"] < limit / 2, pod.name


def test_provisioners_are_registered_by_who_they_are(installation: Installation) -> None:
    """The registry has dialled each at the address of its pod, IPv4 or IPv6, and knows it by its certificate."""
    pods = {pod.address for pod in installation.pods.values()}
    found = {one["name"]: one for one in installation.told() if host_of(one["endpoint"]) in pods}
    assert {name: one["identity"] for name, one in found.items()} == {
        name: f"spiffe://slipway/provisioner/{name}" for name in PROVISIONERS
    }
    for name, one in found.items():
        address = installation.pods[f"slipway-{name}"].address
        assert one["endpoint"] == (f"[{address}]:{GRPC}" if ":" in address else f"{address}:{GRPC}")


@pytest.mark.parametrize("provisioner", ["cloud-init", "ignition"])
async def test_a_machine_gets_its_data(installation: Installation, site: Site, provisioner: str) -> None:
    """Controller, registry and provisioner, each by mutual TLS, make of a Machine's config its data Secret."""
    await site.cluster()
    await site.workers("pool", {"provisioner": {"name": provisioner}})
    (machine,) = await site.machines("pool", 1, has_data)
    data = await site.secret(machine["metadata"]["name"])
    assert data.startswith(b"#cloud-config" if provisioner == "cloud-init" else b'{"ignition"')
    (config,) = await site.configs(1, lambda one: condition(one).get("status") == "True")
    assert config["status"]["provisioner"]["name"] == provisioner
    tokens = await asyncio.to_thread(_token_secrets, installation)
    assert tokens
    for pod in installation.pods.values():
        assert not [token for token in tokens if token in pod.log()], pod.name


def _token_secrets(installation: Installation) -> list[str]:
    found = installation.workload.client.list("v1", "Secret", namespace="kube-system")
    tokens = [one["data"] for one in found if one["type"] == "bootstrap.kubernetes.io/token"]
    return [base64.b64decode(token["token-secret"]).decode() for token in tokens]


async def test_renewal_is_followed_without_a_restart(installation: Installation, site: Site) -> None:
    """A new authority and new certificates reach the running pods by their volumes, and machines are rendered on."""
    old = installation.secret("slipway-authority")["ca.crt"]
    authority = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "slipway-authority", "namespace": NAMESPACE},
    }
    await asyncio.to_thread(installation.cluster.client.patch, authority, {"data": None})
    await asyncio.to_thread(installation.run_again)
    assert installation.secret("slipway-authority")["ca.crt"] != old
    pids = {name: pod.process.pid for name, pod in installation.pods.items()}
    changed = await asyncio.to_thread(installation.kubelet.follow)
    assert {one.name for one in changed} == {pod.name for pod in installation.pods.values()}
    await site.cluster()
    await site.workers("pool", {"provisioner": {"name": "cloud-init"}})
    await site.machines("pool", 1, has_data)
    since = time.time()
    await until(lambda: _renewed(installation, since), "all provisioners have renewed their leases")
    assert {name: pod.process.pid for name, pod in installation.pods.items()} == pids


async def _renewed(installation: Installation, since: float) -> bool:
    leases = await asyncio.to_thread(
        installation.cluster.client.list, "coordination.k8s.io/v1", "Lease", namespace=NAMESPACE,
        selector="bootstrap.slipway.dev/registry=instance",
    )  # fmt: skip
    times = [_seconds(lease["spec"]["renewTime"]) for lease in leases]
    return len(times) >= len(PROVISIONERS) and all(one > since for one in times)


def _seconds(text: str) -> float:
    moment = yaml.safe_load(text)
    return float(moment.timestamp())


async def test_an_api_server_that_goes_and_comes_back(installation: Installation, site: Site) -> None:
    """Whoever follows it follows it again: leases are renewed, and machines made meanwhile get their data."""
    await site.cluster()
    await site.workers("before", {"provisioner": {"name": "cloud-init"}})
    await site.machines("before", 1, has_data)
    server = installation.cluster.server.api_server
    await asyncio.to_thread(server.kill)
    await asyncio.to_thread(server.start)
    since = time.time()
    await site.workers("after", {"provisioner": {"name": "ignition"}})
    # A leader that could not renew its Lease in time has ended, as it must, and its kubelet starts it again.
    reviving = asyncio.ensure_future(_revive(installation))
    try:
        await site.machines("after", 1, has_data)
        await until(lambda: _renewed(installation, since), "all provisioners have renewed their leases")
    finally:
        reviving.cancel()


async def _revive(installation: Installation) -> None:
    while True:
        for pod in installation.pods.values():
            await asyncio.to_thread(installation.kubelet.revive, pod)
        for provider in installation.cluster.providers.values():
            await asyncio.to_thread(provider.start, wait=False)
        await asyncio.sleep(0.5)


async def test_policies_open_the_ports_that_are_used_and_no_other(installation: Installation) -> None:
    """What listens is what is declared, and what somebody is let through to; nobody is called elsewhere."""
    policies = Policies(rendered.of_kind(OVERLAY, "NetworkPolicy").values())
    for pod in installation.pods.values():
        declared = {one["containerPort"] for one in pod.container["ports"]}
        # Probes come from the pod's own node, which no policy keeps out.
        opened = policies.opened("ingress", pod.labels) | {PROBES}
        assert listening(pod.process.pid) == declared == opened, pod.name
    seen: list[tuple[Pod, Peer, int]] = []

    async def everybody_calls() -> bool:
        seen[:] = _flows(installation)
        return {port for _, _, port in seen} == {GRPC, 443}

    await until(everybody_calls, "the registry and the API server are called, and nothing else")
    for pod, peer, port in seen:
        assert policies.allow("egress", pod.labels, peer, port), (pod.name, peer, port)
        other = next((one for one in installation.kubelet.pods if peer.address in one.addresses), None)
        if other is not None:
            back = Peer(pod.address, pod.labels)
            assert policies.allow("ingress", other.labels, back, port), (other.name, pod.name, port)


def _flows(installation: Installation) -> Iterator[tuple[Pod, Peer, int]]:
    """Give who calls whom: a Service stands for the pods behind it, as policies see it."""
    api, registry = (service["spec"]["clusterIP"] for service in installation.kubelet.services[:2])
    behind = {registry: installation.pods["slipway-registry"]}
    behind |= {address: pod for pod in installation.kubelet.pods for address in pod.addresses}
    for pod in installation.pods.values():
        own = listening(pod.process.pid)
        for one in established(pod.process.pid):
            if one.local[1] in own:
                continue
            address, port = one.remote
            if address == api:
                yield pod, Peer(address), port
            else:
                target = behind[address]
                yield pod, Peer(target.address, target.labels), port


async def test_pods_end_in_order(installation: Installation) -> None:
    """SIGTERM, as a kubelet sends it, ends a second replica of each with 0; its registration is gone with it."""
    found = await asyncio.to_thread(deployments, installation.cluster.client)
    seconds = {}
    for name in SERVICES:
        seconds[name] = await asyncio.to_thread(installation.kubelet.run, found[f"slipway-{name}"])
    for pod in seconds.values():
        await until(lambda p=pod: probed(installation, p, "readinessProbe"), f"{pod.name} is ready", pod)
    endpoints = {f"{seconds[name].address}:{GRPC}" for name in PROVISIONERS}
    await until(lambda: _announced(installation, endpoints, there=True), "second replicas are registered")
    await asyncio.gather(*(asyncio.to_thread(pod.process.stop) for pod in seconds.values()))
    for pod in seconds.values():
        assert pod.process.status == 0, pod.log()[-3000:]
        assert json.loads(pod.log().splitlines()[-1])["event"] == "stopped"
    await until(lambda: _announced(installation, endpoints, there=False), "they are gone from the registry")


async def _announced(installation: Installation, endpoints: set[str], *, there: bool) -> bool:
    found = await asyncio.to_thread(installation.endpoints)
    return endpoints <= found if there else not endpoints & found


def test_the_job_may_do_what_it_does_and_no_more(installation: Installation) -> None:
    """Its account reads no other Secret, and makes none: not even one that would hold another account's token."""
    account = installation.cluster.administration.service_account(NAMESPACE, "slipway-certificates")
    client = Client(account)
    metadata = {"name": "stolen", "namespace": NAMESPACE}
    other: dict[str, Any] = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}
    installation.cluster.client.apply(other)
    token = {**other, "type": "kubernetes.io/service-account-token"}
    metadata["annotations"] = {"kubernetes.io/service-account.name": "slipway-controller"}
    tries: list[Callable[[], object]] = [
        lambda: client.get("v1", "Secret", "stolen", namespace=NAMESPACE),
        lambda: client.list("v1", "Secret", namespace=NAMESPACE),
        lambda: client.create(token),
        lambda: client.apply({**token, "metadata": {**metadata, "name": "slipway-talos-tls"}}),
        lambda: client.delete({**other, "metadata": {**metadata, "name": "slipway-talos-tls"}}),
    ]
    for one in tries:
        with pytest.raises(Refused) as refused:
            one()
        assert refused.value.status == 403
