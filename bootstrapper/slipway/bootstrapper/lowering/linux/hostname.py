"""The host name: /etc/hostname for every boot, and the running system's name at once."""

from collections.abc import Sequence

from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.lowering.emission import put_file, stage_text
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.texts import has_extension, text_line
from slipway.contract.items import Item

ID = "linux.hostname"
_PATH = "/etc/hostname"


def lower(items: Sequence[Item], draft: Draft) -> None:
    """Write the name, which may be a machine fact, and set it."""
    (item,) = items
    name = item.message.name
    if has_extension(name.segments):
        raise CannotLower(
            item,
            "the name holds template text that only the program it was written for can render",
            remedy="use a machine fact in its place",
        )
    content = text_line(name)
    if any(segment.WhichOneof("value") == "fact" for segment in content.segments):
        stage_text(draft, item, _PATH, content, by=ID, rank=Rank.HOSTNAME)
    else:
        put_file(draft, item, _PATH, content, by=ID)
    text = script([["named"]], programs=["hostname"])
    draft.step(Rank.HOSTNAME, "hostname", source=item.message, by=ID, script=text)
