"""Reads user data back: by parsers of the suite's own for the formats that it knows, by --decode-cmd for any other."""

import re
from collections.abc import Callable, Mapping, Sequence

from slipway.conformance.decoders import cloud_config, external, ignition, talos, windows
from slipway.conformance.decoders.sight import NotServedError, UnreadableError
from slipway.conformance.options import Options
from slipway.conformance.outcome import Broken, Unverified
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

Decoder = Callable[[bytes, Mapping[str, bytes]], statepb.MachineState]
_DECODERS: Sequence[tuple[re.Pattern[str], Decoder]] = (
    (re.compile(r"cloud-config"), cloud_config.decode),
    (re.compile(r"ignition/[23]\..*"), ignition.decode),
    (re.compile(r"talos/v1\..*"), talos.decode),
    (re.compile(r"cloudbase-init|unattend"), windows.decode),
)


async def decoded(
    options: Options, info: provisionerpb.FormatInfo, response: provisionerpb.RenderResponse
) -> statepb.MachineState:
    """Give what user data says.

    Raises:
        Broken: it cannot be read as its format.
        Unverified: no decoder reads the format.
        Unjudged: a program that reads it did not end, on a machine that is too slow.
    """
    attachments = {one.name: one.content for one in response.attachments}
    try:
        if options.decode_cmd:
            command = options.decode_cmd
            return await external.decode(command, response.user_data, format_id=info.format, attachments=attachments)
        for pattern, decode in _DECODERS:
            if pattern.fullmatch(info.format):
                return decode(response.user_data, attachments)
    except NotServedError as error:
        raise Unverified(str(error)) from None
    except UnreadableError as error:
        raise Broken(f"the user data cannot be read as {info.format}: {error}") from None
    raise Unverified("the suite cannot read this format, and there is no --decode-cmd")
