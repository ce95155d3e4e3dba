"""A cloud-config that fetches another one, and has cloud-init itself apply that.

cloud-init takes no user data from a script of its own user data, and its `#include` has neither hash nor authority. But
a boot command comes before all that configures the machine, and can do it: programs/fetch.sh explains how.
"""

import yaml

from slipway.bootstrapper.delivery.stubs.source import Source
from slipway.bootstrapper.lowering.linux.shell import script

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
    """Give the user data. The payload names the machine, so the stage that the stub runs in must not do it again."""
    lines = [f'url="{source.url}"']
    if source.ticket:
        lines.append(f'header="Authorization: Bearer {source.ticket}"')
    if source.authorities:
        lines.append("cacert=ca")
    call = ["fetch", source.sha256, "".join(source.certificates()).rstrip(), *lines]
    text = _Block(script([call], programs=["fetch"]).decode())
    document = {"preserve_hostname": True, "bootcmd": [text]}
    return HEADER + yaml.dump(document, Dumper=_Dumper, width=_NO_FOLDING, sort_keys=False).encode()


def can_be_fetched(payload: bytes) -> bool:
    """Whether cloud-init would apply a payload as it would apply user data: it renders templates in those only."""
    return payload.startswith(HEADER)
