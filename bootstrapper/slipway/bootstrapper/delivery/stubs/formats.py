"""Formats that have a stub, and how each is written. User data of other formats cannot be fetched.

A cloud-config fetches another one, and has cloud-init itself apply that. cloud-init takes no user data from a script of
its own user data, and its `#include` has neither hash nor authority. But a boot command comes before all that
configures the machine, and can do it: programs/fetch.sh explains how.

An Ignition config is replaced by another one. Source: configuration-v3_3.md of coreos/ignition.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import quote

import yaml

from slipway.bootstrapper.delivery.stubs.source import MOST_BYTES, Source
from slipway.bootstrapper.lowering.linux.shell import script

__all__ = ["MOST_BYTES", "STUBS", "Stub"]

NOT_FETCHED = "PayloadNotFetched"
"""Reason of the event that the stub writes to the console when it gives up."""

_GIVES_UP = "slipway: no payload"
_GIVES_UP_EVENT = (
    '{"bundleId":"%s","sequence":1,"time":"%%s","executor":"EXECUTOR_SHELL","phase":"PHASE_PREPARE","step":"fetch",'
    f'"state":"EVENT_STATE_FAILED","reason":"{NOT_FETCHED}"}}'
)
HEADER = b"#cloud-config\n"
_NO_FOLDING = 1 << 30

_IGNITION_SECONDS = 3600
"""How long Ignition tries. Without a limit it tries for ever, whatever fails: a wrong certificate as well."""

_SAFE_IN_URL = "/:@!$&'()*+,;="


class _Block(str):
    """A text that stands as it is, line by line: encoded it would take more room."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(
    _Block, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style="|")
)


def cloud_config(source: Source) -> bytes:
    """Give the user data. The payload names the machine, so the stage that the stub runs in must not do it again.

    A machine that gets no payload writes an event to its console; where a stub has no room for that, a line of text.
    """
    stub = _cloud_config_stub(source, _GIVES_UP_EVENT % source.bundle_id if source.bundle_id else _GIVES_UP)
    return stub if len(stub) <= MOST_BYTES else _cloud_config_stub(source, _GIVES_UP)


def _cloud_config_stub(source: Source, ending: str) -> bytes:
    lines = [f'url="{source.url}"']
    if source.ticket:
        lines.append(f'header="Authorization: Bearer {source.ticket}"')
    if source.authorities:
        lines.append("cacert=ca")
    if source.proxy:
        lines.append(f'proxy="{source.proxy}"')
    call = ["fetch", source.sha256, "".join(source.certificates()).rstrip(), ending, "\n".join(lines)]
    text = _Block(script([call], programs=["fetch"]).decode())
    document = {"preserve_hostname": True, "bootcmd": [text]}
    return HEADER + yaml.dump(document, Dumper=_Dumper, width=_NO_FOLDING, sort_keys=False).encode()


def can_be_fetched(payload: bytes) -> bool:
    """Whether cloud-init would apply a payload as it would apply user data: it renders templates in those only."""
    return payload.startswith(HEADER)


def ignition(source: Source, *, version: str) -> bytes:
    """Give the user data of a specification, which is 3.1.0 or newer: older ones send no header."""
    resource: dict[str, Any] = {"source": source.url, "verification": {"hash": f"sha256-{source.sha256}"}}
    if source.ticket:
        resource["httpHeaders"] = [{"name": "Authorization", "value": f"Bearer {source.ticket}"}]
    about: dict[str, Any] = {
        "version": version,
        "config": {"replace": resource},
        "timeouts": {"httpTotal": _IGNITION_SECONDS},
    }
    if source.proxy:
        about["proxy"] = {"httpsProxy": source.proxy}
    authorities = [{"source": f"data:,{quote(pem, safe=_SAFE_IN_URL)}"} for pem in source.certificates()]
    if authorities:
        about["security"] = {"tls": {"certificateAuthorities": authorities}}
    return json.dumps({"ignition": about}, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class Stub:
    """The stub of a format.

    Attributes:
        write: gives the user data that fetch a payload.
        takes: whether a payload can be fetched; what it refuses is text that is rendered on the machine.
    """

    write: Callable[[Source], bytes]
    takes: Callable[[bytes], bool] = lambda _payload: True


STUBS = {
    "cloud-config": Stub(cloud_config, can_be_fetched),
    "ignition/3.3.0": Stub(partial(ignition, version="3.3.0")),
    "ignition/3.4.0": Stub(partial(ignition, version="3.4.0")),
}
