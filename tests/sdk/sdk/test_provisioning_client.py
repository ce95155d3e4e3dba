"""The client for bootstrap providers: user data, explanations, and refusals in the caller's own words."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict

from slipway.bootstrapper.provisioning_service import provisioning_service
from slipway.contract.errors import ForeignStatus, SlipwayError, Violation
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.rpc.channel import InsecureTargetError
from slipway.rpc.server import RpcServer
from slipway.rpc.settings import ServerSettings
from slipway.rpc.tls import TlsFilesError
from slipway.sdk.client import ProvisioningClient, renamed
from slipway.v1alpha1 import provisioning_service_pb2 as provisioningpb
from tests.services.certificates import Authority

SPEC: dict[str, Any] = {
    "provisioner": {"name": "cloud-init"},
    "target": {"osFamily": "OS_FAMILY_LINUX", "distribution": "debian", "osVersion": "12", "infrastructure": "metal"},
    "os": {"files": [{"path": "/etc/greeting", "content": {"text": "ahoy\n"}}]},
    "plan": {"steps": [{"id": "install", "phase": "PHASE_BOOTSTRAP", "command": {"argv": ["/opt/install"]}}]},
}


def request(**changes: Any) -> provisioningpb.ProvisionRequest:
    """A request for one machine."""
    tree = {"spec": {**SPEC, **changes}, "machineName": "pool-a-1"}
    return ParseDict(tree, provisioningpb.ProvisionRequest())


@asynccontextmanager
async def serving(tls: Path | None = None) -> AsyncIterator[str]:
    """Give the address of a bootstrapper."""
    settings = ServerSettings(listen_address="127.0.0.1:0", insecure=tls is None, tls_cert_dir=tls)
    server = RpcServer(settings, [provisioning_service(embedded_bootstrapper(store=None))])
    await server.start()
    try:
        yield server.address
    finally:
        await server.stop(grace=1)


async def test_user_data_and_explanation() -> None:
    """Both calls, over one connection."""
    async with serving() as address, ProvisioningClient(address, tls=None) as client:
        answer = await client.provision(request())
        assert answer.format == "cloud-config"
        assert b"/etc/greeting" in answer.user_data
        explained = await client.explain(provisioningpb.ExplainProvisionRequest(spec=request().spec))
        assert {column.format for column in explained.columns if column.renderable} >= {
            "cloud-config",
            "ignition/3.3.0",
        }


UNKNOWN = b"\xfa\x3e\x01x"
"""Field 1007 of a message, which no version of the contract has."""


async def test_a_request_with_an_unknown_field_is_refused_by_both_calls() -> None:
    """At the top and below: a newer caller would get something else than it asked for."""
    above = request().SerializeToString() + UNKNOWN
    below = request()
    below.spec.os.files[0].MergeFromString(UNKNOWN)
    whole = provisioningpb.ExplainProvisionRequest(spec=request().spec).SerializeToString() + UNKNOWN
    async with serving() as address, ProvisioningClient(address, tls=None) as client:
        calls = (
            (client.provision, provisioningpb.ProvisionRequest.FromString(above)),
            (client.provision, below),
            (client.explain, provisioningpb.ExplainProvisionRequest.FromString(whole)),
            (client.explain, provisioningpb.ExplainProvisionRequest(spec=below.spec)),
        )
        for call, given in calls:
            with pytest.raises(SlipwayError) as refused:
                await call(given)
            assert any("1007" in violation.description for violation in refused.value.violations)


async def test_a_refusal_names_the_callers_own_field() -> None:
    """The path of the request is replaced where the caller has a name for it."""
    async with serving() as address, ProvisioningClient(address, tls=None) as client:
        with pytest.raises(SlipwayError) as refused:
            await client.provision(request(os={"files": [{"path": "not/absolute", "content": {"text": ""}}]}))
    names = {"spec.os": "spec.system", "spec.os.files[0]": "spec.extraFiles[3]"}
    assert "spec.os.files[0].path" in [violation.path for violation in refused.value.violations]
    assert "spec.extraFiles[3].path" in [violation.path for violation in renamed(refused.value.violations, names)]


def test_names_of_enclosing_paths() -> None:
    """The longest one counts, whole fields only; what has none stays, with everything else of the violation."""
    violations = [Violation(path, "is wrong", "os.files", "repair it") for path in ("a.b[0].c", "a.bc", "x")]
    own = renamed(violations, {"a.b": "first", "a": "second", "a.b[1]": "third"})
    assert [violation.path for violation in own] == ["first[0].c", "second.bc", "x"]
    assert {(violation.description, violation.feature, violation.remedy) for violation in own} == {
        ("is wrong", "os.files", "repair it")
    }


async def test_the_server_must_be_a_bootstrapper(tmp_path: Path) -> None:
    """Of the trust domain of the caller's own certificate; a server of another role gets no request."""
    authority = Authority()
    own = authority.fill(tmp_path / "own", uris=["spiffe://harbour/client/provider"])
    for host, accepted in (
        ("bootstrapper.harbour", True),
        ("registry.harbour", False),
        ("bootstrapper.slipway", False),
    ):
        server = authority.fill(tmp_path / host, uris=["spiffe://harbour/bootstrapper/a"], hosts=[host])
        async with serving(server) as address, ProvisioningClient(address, tls=own) as client:
            if accepted:
                assert (await client.provision(request())).user_data
            else:
                with pytest.raises(ForeignStatus):
                    await client.provision(request())


async def test_no_tls_is_for_this_machine_only(tmp_path: Path) -> None:
    """A request holds secrets; a directory without certificates is reported before any call."""
    async with ProvisioningClient("192.0.2.1:9440", tls=None) as client:
        with pytest.raises(InsecureTargetError):
            await client.provision(request())
    with pytest.raises(TlsFilesError, match=r"tls\.crt is missing"):
        ProvisioningClient("127.0.0.1:9440", tls=tmp_path)
