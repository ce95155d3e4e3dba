"""What each fault makes of a sound answer. The functions are pure; what waits or dies is the servicer's."""

import hashlib
from datetime import UTC, datetime, timedelta

from slipway.contract.errors import ForeignStatus, UnsupportedFeature, Violation
from slipway.contract.feature_uses import uses
from slipway.contract.status import Failure
from slipway.fake_provisioner.script import Fault, Step
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1.reasons import RULES, Code, Reason


def status(step: Step) -> ForeignStatus:
    """Give the status of a step, as it goes out."""
    code = step.code or (RULES[Reason[step.reason]].code if step.reason else Code.UNKNOWN)
    violations = tuple(Violation(field.path, field.description, field.feature) for field in step.fields)
    return ForeignStatus(
        Failure(
            code=int(code),
            message=step.message,
            reason=step.reason,
            violations=violations,
            retry_after=step.retry_after,
        )
    )


def refuse(bundle: bundlepb.BootstrapBundle, feature: str) -> None:
    """Refuse every use of a feature, as one that it declares and cannot honour after all.

    Raises:
        UnsupportedFeature: the bundle uses it.
    """
    violations = [
        Violation(use.path, "is declared and not supported", feature) for use in uses(bundle) if use.id == feature
    ]
    if violations:
        raise UnsupportedFeature(f"{feature} is not supported", violations=violations, metadata={"features": feature})


def without(bundle: bundlepb.BootstrapBundle, feature: str) -> bundlepb.BootstrapBundle:
    """Give a bundle without the items of a feature: what is left out in silence."""
    copy = bundlepb.BootstrapBundle()
    copy.CopyFrom(bundle)
    for use in reversed([use for use in uses(copy) if use.id == feature]):
        holder, _, last = use.path.rpartition(".")
        message = copy
        for part in filter(None, holder.split(".")):
            name, _, index = part.rstrip("]").partition("[")
            message = getattr(message, name)[int(index)] if index else getattr(message, name)
        name, _, index = last.rstrip("]").partition("[")
        if index:
            del getattr(message, name)[int(index)]
        else:
            message.ClearField(name)
    return copy


def spoil(response: provisionerpb.RenderResponse, step: Step, *, now: datetime) -> provisionerpb.RenderResponse:
    """Give the answer with the step's fault in it; `response` itself is changed."""
    if step.fault is Fault.WRONG_TAG:
        response.request_tag = "another"
    elif step.fault is Fault.WRONG_FORMAT:
        response.format = "another"
    elif step.fault is Fault.WRONG_VERSION:
        response.implementation_version = "0.0.0"
    elif step.fault is Fault.BAD_HASH:
        response.sha256 = bytes(32)
    elif step.fault is Fault.EMPTY:
        _fill(response, b"")
    elif step.fault is Fault.FLOOD:
        _fill(response, b"x" * step.bytes)
    elif step.fault is Fault.ANSWERS_CHECK:
        _fill(response, response.user_data or b"user data that nobody asked for")
    elif step.fault is Fault.EXPIRES:
        response.expire_time.FromDatetime((now + timedelta(seconds=step.expires_in)).astimezone(UTC))
    elif step.fault is Fault.STRANGE_ATTACHMENT:
        content = b"nobody asked for it"
        response.attachments.add(name="../strange", content=content, sha256=hashlib.sha256(content).digest())
    return response


def spoil_info(info: provisionerpb.GetProvisionerInfoResponse, step: Step) -> provisionerpb.GetProvisionerInfoResponse:
    """Give what it says of itself with the step's fault in it."""
    answer = provisionerpb.GetProvisionerInfoResponse()
    answer.CopyFrom(info)
    if step.fault is Fault.WRONG_NAME:
        answer.name = f"not-{info.name}"
    elif step.fault is Fault.WRONG_VERSION:
        answer.implementation_version = "not a version"
    elif step.fault is Fault.OTHER_FEATURES:
        answer.formats[0].features.add(id="ext.example.com/other")
    elif step.fault is Fault.NOT_ADVERTISED:
        answer.features_advertised = False
    elif step.fault is Fault.NO_FORMATS:
        del answer.formats[:]
    elif step.fault is Fault.FLOOD:
        answer.documentation_url = "x" * step.bytes
    return answer


def _fill(response: provisionerpb.RenderResponse, data: bytes) -> None:
    response.user_data = data
    response.sha256 = hashlib.sha256(data).digest()
