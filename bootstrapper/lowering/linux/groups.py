"""Groups, by groupadd and groupmod."""

from collections.abc import Sequence

from bootstrapper.lowering.draft import Draft
from bootstrapper.lowering.linux.account_name import checked_name
from bootstrapper.lowering.linux.shell import script
from bootstrapper.lowering.order import Rank
from bootstrapper.lowering.profile_part import needed_program
from services.contract.walk import Item

ID = "linux.groups"


def lower(items: Sequence[Item], draft: Draft) -> None:
    """Make or change groups in one step."""
    for name in ("groupadd", "groupmod"):
        needed_program(name, items[0], draft.profile)
    calls = [
        [
            "group",
            checked_name(item),
            str(item.message.gid) if item.message.HasField("gid") else "",
            "-r" if item.message.system else "",
        ]
        for item in items
    ]
    text = script(calls, programs=["groups"])
    draft.step(Rank.GROUPS, "groups", source=items[0].message, by=ID, script=text)
