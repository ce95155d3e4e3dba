"""The line to a workload cluster whose owner may be anybody: what it costs, and how it fares."""

import asyncio
import base64
from datetime import timedelta
from typing import Any

import pytest

from slipway.bootstrapper.engines.join_tokens import TokenRequest
from slipway.bootstrapper.engines.kubeadm.join_tokens import JOIN_TOKENS
from slipway.controller import workload
from slipway.controller.halt import Halt
from slipway.controller.join_token import JoinToken
from slipway.controller.secret_reader import SecretReader
from slipway.controller.workload import Workloads
from slipway.kubernetes_api.failures import Unreachable
from slipway.kubernetes_api.kubeconfig import ClusterAccess, read_kubeconfig
from slipway.kubernetes_api.resources import SECRETS
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.services.controller.scene import CLUSTER, KUBECONFIG
from tests.services.kubernetes_api.memory_api import NOW, MemoryApi

TOKEN = JoinToken(
    JOIN_TOKENS,
    TokenRequest(role=clusterpb.ROLE_WORKER, drawn="abcdef.0123456789abcdef", description="Slipway, for default/one"),
)
TTL = timedelta(minutes=15)


class Lines:
    """Workloads with what they read and call in memory."""

    def __init__(self, kubeconfig: bytes = KUBECONFIG) -> None:
        self.management = MemoryApi()
        self.there = MemoryApi()
        self.seconds = 0.0
        self.put(kubeconfig)
        reader = SecretReader(self.management, self.management.lookup("Secret"), self.management.lookup("Cluster"))
        self.workloads = Workloads(reader, lambda _: self.there, monotonic=lambda: self.seconds)

    def put(self, kubeconfig: bytes) -> None:
        """Put the cluster's kubeconfig in."""
        data = {"value": base64.b64encode(kubeconfig).decode()}
        self.management.put({"kind": "Secret", "metadata": {"name": f"{CLUSTER}-kubeconfig"}, "data": data})

    async def ensure(self, *, expected: bool = False) -> Any:
        """Ask for a token as a machine would."""
        return await self.workloads.ensure_token("default", CLUSTER, TOKEN, ttl=TTL, now=NOW, expected=expected)

    async def halted(self) -> Halt:
        """Ask, and give why it cannot be done."""
        with pytest.raises(Halt) as halt:
            await self.ensure()
        return halt.value


async def test_a_kubeconfig_is_read_once_for_all_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused or not, it is read again only when the Secret has changed."""
    read: list[bytes] = []

    def counted(data: bytes) -> ClusterAccess:
        read.append(data)
        return read_kubeconfig(data)

    monkeypatch.setattr(workload, "read_kubeconfig", counted)
    lines = Lines(b"[]")
    halts = await asyncio.gather(*(lines.halted() for _ in range(8)))
    assert {one.reason for one in halts} == {"KubeconfigRefused"}
    assert len(read) == 1
    lines.put(KUBECONFIG)
    await asyncio.gather(*(lines.ensure() for _ in range(8)))
    assert len(read) == 2


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"expiration": 1},
        {"expiration": "/w=="},
        {"expiration": base64.b64encode(b"0001-01-01T00:00:00+23:59").decode()},
        {"expiration": base64.b64encode(b"9999-12-31T23:59:59-23:59").decode()},
    ],
)
async def test_an_expiration_of_another_shape_is_none(data: object) -> None:
    """Whatever stands in the cluster's own Secret, nothing but a time comes of it."""
    lines = Lines()
    metadata = {"name": "bootstrap-token-abcdef", "namespace": "kube-system"}
    lines.there.put({"kind": "Secret", "metadata": metadata, "data": data})
    assert await lines.workloads.token_expiry("default", CLUSTER, TOKEN) is None


def _token(lines: Lines) -> dict[str, Any]:
    found = lines.there.find("Secret", "bootstrap-token-abcdef", "kube-system")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("token-secret", "ffffffffffffffff", "the machine could not join with its own"),
        ("usage-bootstrap-authentication", "false", "nobody could join with it"),
        ("auth-extra-groups", "system:bootstrappers:nobody", "it would have no rights"),
    ],
)
async def test_a_token_of_ours_that_was_changed_is_put_right(key: str, value: str, reason: str) -> None:
    """Although it lasts: a machine whose token is in its user data already has no other one."""
    lines = Lines()
    until = await lines.ensure()
    made = _token(lines)
    spoilt = {**made, "data": {**made["data"], key: base64.b64encode(value.encode()).decode()}}
    lines.there.put(spoilt)
    if key == "token-secret":
        assert await lines.workloads.token_expiry("default", CLUSTER, TOKEN) is None
    assert await lines.ensure() == until
    assert _token(lines)["data"] == made["data"], reason
    writes = len(lines.there.writes)
    assert await lines.ensure() == until
    assert lines.there.writes[writes:] == [("create", "Secret", "kube-system", "bootstrap-token-abcdef")]


async def test_a_token_that_is_expected_is_written_only_where_it_is_not() -> None:
    """Upkeep writes nothing while the token lasts, and makes it again when somebody has taken it away."""
    lines = Lines()
    until = await lines.ensure()
    created = ("create", "Secret", "kube-system", "bootstrap-token-abcdef")
    assert await lines.ensure(expected=True) == until
    assert lines.there.writes == [created]
    await lines.there.delete(SECRETS, "kube-system", "bootstrap-token-abcdef")
    writes = len(lines.there.writes)
    assert await lines.ensure(expected=True) == until
    assert lines.there.writes[writes:] == [created]


async def test_a_token_of_somebody_else_is_left_alone() -> None:
    """The same id with another secret, described by another person: said, and never overwritten."""
    lines = Lines()
    theirs = {"token-id": "abcdef", "token-secret": "ffffffffffffffff", "description": "for the printer"}
    data = {key: base64.b64encode(value.encode()).decode() for key, value in theirs.items()}
    metadata = {"name": "bootstrap-token-abcdef", "namespace": "kube-system"}
    lines.there.put({"kind": "Secret", "metadata": metadata, "data": data})
    halt = await lines.halted()
    assert (halt.reason, halt.refused) == ("TokenTaken", True)
    assert "bootstrap-token-abcdef" in halt.message
    assert "ffff" not in halt.message
    assert _token(lines)["data"] == data


async def test_an_outage_counts_once_whoever_sees_it() -> None:
    """Eight machines at once in one outage: the cluster rests for as long as it would for one."""
    lines = Lines()
    all_there = asyncio.Barrier(8)

    class Away(MemoryApi):
        async def create(self, *_: object) -> Any:
            if not halts:
                await all_there.wait()
            raise Unreachable("POST", "Secret")

    halts: list[Halt] = []
    lines.there = Away()
    halts += await asyncio.gather(*(lines.halted() for _ in range(8)))
    assert [one.after for one in halts] == [2.0] * 8
    for expected in (4.0, 8.0):
        lines.seconds += halts[-1].after or 0.0
        halts.append(await lines.halted())
        assert halts[-1].after == expected
