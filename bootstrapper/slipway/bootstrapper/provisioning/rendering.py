"""Has a provisioner render, and believes nothing that it says without a look.

A provisioner may hang, die in mid-call, answer something else or lie. Whatever it does, the caller gets a bounded,
named error or the answer of the next instance of the same name and version, and never that of another name.
"""

import asyncio
import hashlib
import uuid
from collections.abc import Callable

from slipway.bootstrapper.provisioning.provisioners import Provisioners
from slipway.bootstrapper.provisioning.scrubbing import Scrubber, scrubber_of
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.contract.errors import (
    ForeignStatus,
    NoReadyProvisioner,
    Overloaded,
    ProvisionerFailed,
    ProvisionerTimeout,
    SlipwayError,
)
from slipway.rpc.spans import Attributes, span
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb

MAX_USER_DATA = 1024 * 1024
"""Most bytes of user data, whatever the target (design 5.7)."""

MAX_ATTACHMENTS = 64
"""Most attachments of an answer (provisioner_service.proto)."""

RENDER_TIMEOUT = 10.0
"""Seconds for one call of Render (design 5.7)."""

Tag = Callable[[], str]


def new_tag() -> str:
    """Make a tag that no other call has."""
    return uuid.uuid4().hex


def _attributes(candidate: Candidate, bundle: bundlepb.BootstrapBundle) -> Attributes:
    return {
        "provisioner": candidate.name,
        "format": candidate.format.format,
        "machine": bundle.machine.name,
        "bundle_id": bundle.id,
    }


async def render(  # noqa: PLR0913  # the parts of a call
    provisioners: Provisioners,
    candidate: Candidate,
    bundle: bundlepb.BootstrapBundle,
    *,
    accept_attachments: bool,
    validate_only: bool = False,
    timeout: float = RENDER_TIMEOUT,  # noqa: ASYNC109  # it is the deadline that travels with the call
    tag: Tag = new_tag,
) -> tuple[provisionerpb.RenderResponse, registrypb.ProvisionerInstance]:
    """Give the checked answer and the instance that gave it.

    An instance that is away is asked once more; one that hangs or breaks the contract is left for the next.

    Raises:
        SlipwayError: the provisioner's own refusal, or, when no instance gave a sound answer, the last failure. Its
            texts hold no secret of the bundle and no control character.
    """
    scrubber = scrubber_of(bundle)
    last: SlipwayError = NoReadyProvisioner(f"provisioner {candidate.name} has no instance", retry_after=2.0)
    for instance in candidate.instances:
        for _attempt in range(2):
            request = provisionerpb.RenderRequest(
                request_tag=tag(),
                bundle=bundle,
                target=bundle.machine.target,
                format=candidate.format.format,
                accept_attachments=accept_attachments,
                validate_only=validate_only,
                max_user_data_bytes=MAX_USER_DATA,
            )
            try:
                with span("render", _attributes(candidate, bundle)):
                    response = await provisioners.render(instance, request, timeout=timeout)
            except SlipwayError as error:
                scrubbed = _of_the_transport(error, candidate.name, timeout)
                if scrubbed is None:
                    # Not on the event loop: it takes milliseconds where the secrets, or the text, are long.
                    scrubbed = await asyncio.to_thread(scrubber.error, error)
                last = scrubbed.prefixed(f'provisioner "{candidate.name}" ({candidate.version})')
                if not _transient(error):
                    if _next_instance(error):
                        break
                    raise last from None
                continue
            broken = _broken(request, response, candidate)
            if not broken:
                broken = await asyncio.to_thread(_betrayal, response, candidate, scrubber)
            if not broken:
                await asyncio.to_thread(scrubber.diagnostics, response)
                return response, instance
            last = ProvisionerFailed(
                f"provisioner {candidate.name} {candidate.version} broke the contract: {broken}",
                metadata={"provisioner": candidate.name},
            )
            break
    raise last


def _transient(error: SlipwayError) -> bool:
    """The instance is away or has no room: the same instance is asked once more, then the next."""
    if isinstance(error, (NoReadyProvisioner, Overloaded)):
        return True
    return isinstance(error, ForeignStatus) and error.code.name == "UNAVAILABLE"


def _of_the_transport(error: SlipwayError, name: str, timeout: float) -> SlipwayError | None:
    """Say in our own words that an instance did not answer; None for what it answered. `timeout` in seconds."""
    if isinstance(error, ForeignStatus) and not error.reason and error.code.name == "UNAVAILABLE":
        return NoReadyProvisioner("the instance cannot be reached, or ended in mid-call", retry_after=2.0)
    if isinstance(error, ProvisionerTimeout):
        return ProvisionerTimeout(f"it did not answer within {timeout:g} seconds", metadata={"provisioner": name})
    return None


def _next_instance(error: SlipwayError) -> bool:
    """The fault may be that instance's alone."""
    if isinstance(error, ProvisionerTimeout):
        return True
    return error.code.name in {
        "UNAVAILABLE",
        "DEADLINE_EXCEEDED",
        "INTERNAL",
        "UNKNOWN",
        "RESOURCE_EXHAUSTED",
        "CANCELLED",
    }


def _broken(  # noqa: C901  # one line for each clause
    request: provisionerpb.RenderRequest, response: provisionerpb.RenderResponse, candidate: Candidate
) -> str:
    """Say which rule of the contract the answer breaks, or ""."""
    if response.request_tag != request.request_tag:
        return "the answer has another tag"
    if response.format != request.format:
        return "the answer is in another format"
    if response.implementation_version and response.implementation_version != candidate.version:
        return "the answer is of another version"
    if request.validate_only:
        return "user data was returned for a check" if response.user_data or response.attachments else ""
    if not response.user_data:
        return "the user data is empty"
    if len(response.user_data) > MAX_USER_DATA:
        return f"the user data has more than {MAX_USER_DATA} bytes"
    if hashlib.sha256(response.user_data).digest() != response.sha256:
        return "the user data does not have the stated hash"
    names = [attachment.name for attachment in response.attachments]
    if len(names) > MAX_ATTACHMENTS:
        return f"there are more than {MAX_ATTACHMENTS} attachments"
    if len(set(names)) != len(names) or any("/" in name or "\\" in name or name in {"", ".", ".."} for name in names):
        return "the attachments' names are not those of files, each once"
    if any(hashlib.sha256(attachment.content).digest() != attachment.sha256 for attachment in response.attachments):
        return "an attachment does not have the stated hash"
    if any(attachment.url for attachment in response.attachments):
        return "an attachment has a URL, which is Slipway's to fill in"
    if not request.accept_attachments and any(not attachment.operator_only for attachment in response.attachments):
        return "there are attachments although the caller can place none"
    return ""


def _betrayal(response: provisionerpb.RenderResponse, candidate: Candidate, scrubber: Scrubber) -> str:
    """Say which words beside the user data and its attachments hold a secret, or ""."""
    media_types = [response.media_type, *(attachment.media_type for attachment in response.attachments)]
    # What was advertised was said before any secret was known.
    if any(scrubber.holds(name) for name in media_types if name != candidate.format.media_type):
        return "a media type holds a secret or a control character"
    if any(scrubber.holds(attachment.name) for attachment in response.attachments):
        return "the name of an attachment holds a secret or a control character"
    return ""
