"""The contract around a program: every check, limit, hash and error of the SDK, with the program in place of a render.

The program sees nothing that its answer must not depend on: no tag, no limit, no wish for a mere check. Contents have
their secrets in place, so that it splices nothing.
"""

import asyncio
from collections.abc import Sequence

from google.protobuf.message import Message

from slipway.contract.content import SecretIndex, normal_segments, segment_bytes
from slipway.contract.errors import Internal
from slipway.program_provisioner.processes import Program
from slipway.program_provisioner.scrubbing import Scrubber
from slipway.program_provisioner.wire import ProgramError, Wire
from slipway.rpc.server import ServerStartError
from slipway.sdk.core import CONTRACT_VERSION, ProvisionerCore, blame_the_bundle
from slipway.sdk.provisioner import RenderContext, UserData
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb


class Declared:
    """What a program says of itself, in the shape in which the SDK asks for it."""

    def __init__(self, info: provisionerpb.GetProvisionerInfoResponse) -> None:
        """Take its answer."""
        self.name = info.name
        self.version = info.implementation_version
        self.documentation_url = info.documentation_url
        self._formats = tuple(info.formats)

    def formats(self) -> Sequence[provisionerpb.FormatInfo]:
        """Give the formats that it serves."""
        return self._formats

    def render(self, bundle: bundlepb.BootstrapBundle, target: clusterpb.Target, ctx: RenderContext) -> UserData:
        """Never called: a program is asked without blocking, by ProgramCore."""
        raise NotImplementedError


class ProgramCore(ProvisionerCore):
    """The two calls of the contract, answered by a program."""

    def __init__(self, declared: Declared, *, program: Program, wire: Wire) -> None:
        """Serve a program that has said this of itself.

        Raises:
            ValueError: it declares no format, or one twice.
        """
        super().__init__(declared)
        self._program = program
        self._wire = wire

    async def render(self, request: provisionerpb.RenderRequest) -> provisionerpb.RenderResponse:
        """Answer Render. A call that is cancelled ends the process that works on it."""
        context, prepared = await asyncio.to_thread(self._prepare, request)
        try:
            user_data = await self._ask(prepared, context)
        except ProgramError as error:
            await asyncio.to_thread(blame_the_bundle, request.bundle)
            raise Internal(f"the program of the provisioner failed: {error}") from None
        return self.answer(request, context, user_data)

    def _prepare(self, request: provisionerpb.RenderRequest) -> tuple[RenderContext, provisionerpb.RenderRequest]:
        context = self.check(request)
        prepared = provisionerpb.RenderRequest(bundle=request.bundle, target=request.target, format=request.format)
        _fill_in(prepared.bundle, context.secrets, "")
        return context, prepared

    async def _ask(self, prepared: provisionerpb.RenderRequest, context: RenderContext) -> UserData:
        scrubber = Scrubber(prepared)
        answer = await self._program.call("Render", prepared, scrubber)
        if answer.refused:
            raise self._wire.refusal(answer.body, scrubber.values)
        rendered = self._wire.message(answer.body, provisionerpb.RenderResponse)
        if rendered.attachments and not context.format.emits_attachments:
            raise ProgramError("it gave attachments although its format does not declare emits_attachments")
        if not rendered.user_data:
            raise ProgramError("it gave no user_data")
        context.diagnostics.extend(rendered.diagnostics)
        return UserData(rendered.user_data, tuple(rendered.attachments))


async def ask_who_it_is(program: Program, wire: Wire) -> Declared:
    """Ask a program what it can do.

    Raises:
        ServerStartError: it does not answer, or not with what a provisioner has to say.
    """
    request = provisionerpb.GetProvisionerInfoRequest(contract_version=CONTRACT_VERSION)
    try:
        answer = await program.call("GetProvisionerInfo", request, Scrubber(request))
        info = wire.message(answer.body, provisionerpb.GetProvisionerInfoResponse)
    except ProgramError as error:
        raise ServerStartError(f"--exec does not answer GetProvisionerInfo: {error}") from None
    if answer.refused:
        raise ServerStartError("--exec refuses GetProvisionerInfo: every provisioner has to answer it")
    formats = [entry.format for entry in info.formats]
    for field, problem in (
        ("name", not info.name),
        ("implementation_version", not info.implementation_version),
        ("formats", not formats or len(set(formats)) != len(formats)),
    ):
        if problem:
            raise ServerStartError(f"--exec answers GetProvisionerInfo with an invalid {field}: see INF-001 to INF-008")
    return Declared(info)


def _fill_in(message: Message, secrets: SecretIndex, above: str) -> None:
    """Put the secrets into every content below a message; what only the machine knows stays as it is."""
    for descriptor, value in message.ListFields():
        if descriptor.message_type is None:
            continue
        path = f"{above}{descriptor.name}"
        entries = [(f"{path}[{index}]", entry) for index, entry in enumerate(value)] if descriptor.is_repeated else []
        for place, entry in entries or [(path, value)]:
            if isinstance(entry, contentpb.Content):
                _fill_in_content(entry, secrets, place)
            elif isinstance(entry, Message):
                _fill_in(entry, secrets, f"{place}.")


def _fill_in_content(content: contentpb.Content, secrets: SecretIndex, path: str) -> None:
    if content.WhichOneof("source") is not None:
        return
    for index, segment in enumerate(content.segments):
        if segment.WhichOneof("value") == "secret_ref":
            raw = segment_bytes(segment, secrets, path=f"{path}.segments[{index}]")
            segment.Clear()
            segment.data = raw
    joined = normal_segments(content)
    del content.segments[:]
    content.segments.extend(joined)
