"""A cloud-config that fetches another one, and has cloud-init itself apply that.

cloud-init takes no user data from a script of its own user data, and its `#include` has neither hash nor authority. But
a boot command comes before all that configures the machine, and can do it: programs/fetch.sh explains how.
"""

import yaml

from slipway.bootstrapper.delivery.stubs.source import MOST_BYTES, Source
from slipway.bootstrapper.lowering.linux.shell import script

NOT_FETCHED = "PayloadNotFetched"
"""Reason of the event that the stub writes to the console when it gives up."""

_TEXT = "slipway: no payload"
_EVENT = (
    '{"bundleId":"%s","sequence":1,"time":"%%s","executor":"EXECUTOR_SHELL","phase":"PHASE_PREPARE","step":"fetch",'
    f'"state":"EVENT_STATE_FAILED","reason":"{NOT_FETCHED}"}}'
)
HEADER = b"#cloud-config\n"
_NO_FOLDING = 1 << 30


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
    stub = _stub(source, _EVENT % source.bundle_id if source.bundle_id else _TEXT)
    return stub if len(stub) <= MOST_BYTES else _stub(source, _TEXT)


def _stub(source: Source, ending: str) -> bytes:
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
