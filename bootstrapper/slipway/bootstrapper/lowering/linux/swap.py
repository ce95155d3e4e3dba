"""Swap files: made once, in use on this boot and, by /etc/fstab, on every later one."""

from collections.abc import Sequence

from slipway.bootstrapper.lowering.draft import Draft
from slipway.bootstrapper.lowering.linux.fstab import FstabEntry
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.order import Rank
from slipway.contract.items import Item

ID = "linux.swap"


def lower(items: Sequence[Item], draft: Draft) -> None:
    """Make the files in one step and turn them on."""
    calls: list[list[str]] = []
    for item in items:
        entry = FstabEntry(source=item.message.path, path="none", type="swap")
        calls.append(["swap", item.message.path, str(item.message.size_mib)])
        calls.append(["entry", *entry.key, entry.line()])
    calls += [["systemctl", "daemon-reload"], ["swapon", "-a"]]
    text = script(calls, programs=["fstab", "swap"])
    draft.step(Rank.SWAP, "swap", source=items[0].message, by=ID, script=text)
