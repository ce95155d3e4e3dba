"""Groups, by groupadd and groupmod."""

from collections.abc import Sequence

from slipway.bootstrapper.lowering.draft import Draft
from slipway.bootstrapper.lowering.emission import each
from slipway.bootstrapper.lowering.linux.account_name import checked_name
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import needed_program
from slipway.contract.items import Item
from slipway.v1alpha1 import os_pb2 as ospb

ID = "linux.groups"


def lower(items: Sequence[Item], draft: Draft) -> None:
    """Make or change groups in one step."""
    text = script(each(draft, items, lambda item: _call(item, draft)), programs=["groups"])
    draft.step(Rank.GROUPS, "groups", source=items[0].message, by=ID, script=text)


def _call(item: Item, draft: Draft) -> list[str]:
    for name in ("groupadd", "groupmod"):
        needed_program(name, item, draft.profile)
    group: ospb.Group = item.message
    number = str(group.gid) if group.HasField("gid") else ""
    return ["group", checked_name(item), number, "-r" if group.system else ""]
