"""VER: other majors, and fields that nobody knows yet."""

from slipway.conformance.check import Checks
from slipway.conformance.outcome import expect
from slipway.conformance.session import Session
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()
_FIELD = bytes([0xFA, 0xFF, 0x03, 0x07]) + b"unknown"
"""Field 8191 of wire type 2 with seven bytes, which no message of the contract has."""


@CHECKS.check("VER-001")
async def other_major(session: Session) -> None:
    """Another major ends with UNIMPLEMENTED."""
    for call in ("/slipway.v99.ProvisionerService/Render", "/slipway.v1.ProvisionerService/GetProvisionerInfo"):
        got = await session.subject.call(call)
        expect(got.code == "UNIMPLEMENTED", f"another major version of the service ended with {got.code}")


@CHECKS.check_format("VER-002")
async def unknown_fields(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Unknown fields change nothing."""
    request = await session.base(info)
    plain = await session.subject.rendered(request)
    more = provisionerpb.RenderRequest.FromString(request.SerializeToString() + _FIELD)
    more.bundle.MergeFromString(_FIELD)
    more.bundle.os.MergeFromString(_FIELD)
    for file in more.bundle.os.files:
        file.MergeFromString(_FIELD)
    got = await session.subject.render(more)
    expect(got.ok, f"with unknown fields it ended with {got.described()}")
    expect(got.response == plain, "unknown fields changed the answer")


@CHECKS.check("VER-003")
async def callers_version(session: Session) -> None:
    """The caller's version changes nothing, after it was told either."""
    request = await session.base(session.info.formats[0]) if session.info.formats else None
    before = None if request is None else await session.subject.render(request)
    for said in ("v0", "v99"):
        got = await session.subject.info(said)
        expect(got.ok, f"with `contract_version` {said} GetProvisionerInfo ended with {got.described()}")
    if request is not None and before is not None:
        after = await session.subject.render(request)
        expect(after.response == before.response, "Render depends on the `contract_version` of an earlier call")
