"""What answers about a machine say of its profiles: waived controls, and those that add to the user's own fields."""

from collections.abc import Iterator
from datetime import UTC

from slipway.bootstrapper.compliance.application import Applied
from slipway.bootstrapper.compliance.names import describe_controls
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import spec_pb2 as specpb

WAIVED = "CONTROL_WAIVED"
EXTENDED = "FIELD_EXTENDED"


def compliance_remarks(applied: Applied | None) -> Iterator[diagnosticpb.Diagnostic]:
    """Give a remark for each control that is waived, and for each field of the user's own that controls add to."""
    if applied is None:
        return
    compliance = applied.plain.compliance
    for index, waiver in enumerate(compliance.waivers):
        if waiver.control in applied.selection.waived:
            place = f"compliance.waivers[{index}]"
            yield _remark(WAIVED, place, f"{waiver.control} is waived{_until(waiver)}", compliance.origin)
    for path, names in applied.shared.items():
        yield _remark(EXTENDED, f"intent.{path}", f"{describe_controls(names)} add settings to it")


def _until(waiver: specpb.Waiver) -> str:
    return f" until {waiver.expire_time.ToDatetime(tzinfo=UTC):%Y-%m-%d}" if waiver.HasField("expire_time") else ""


def _remark(code: str, path: str, message: str, origin: diagnosticpb.Origin | None = None) -> diagnosticpb.Diagnostic:
    remark = diagnosticpb.Diagnostic(severity=diagnosticpb.SEVERITY_INFO, code=code, field_path=path, message=message)
    if origin is not None and origin.path:
        remark.origin.document = origin.document
        remark.origin.path = f"{origin.path}{path.removeprefix('compliance')}"
    return remark
