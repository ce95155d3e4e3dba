"""The computer's name, which Windows and the kubelet share."""

import re

from slipway.sdk import RenderContext
from slipway.v1alpha1 import os_pb2 as ospb

_NAME = re.compile(r"(?![0-9]{1,15}$)[A-Za-z0-9]([A-Za-z0-9-]{0,13}[A-Za-z0-9])?")


def computer_name(system: ospb.OperatingSystem, ctx: RenderContext) -> str | None:
    """Give the name, or None when nobody said one. Windows cuts longer names off, so they are refused."""
    if not system.HasField("hostname"):
        return None
    name = system.hostname.name.value or "".join(segment.text for segment in system.hostname.name.segments)
    if not _NAME.fullmatch(name):
        why = "is no name that Windows keeps: at most 15 letters, digits and hyphens, not digits alone, no domain"
        ctx.refuse("os.hostname.name", "os.hostname", why)
    return name
