"""Kernel parameters: one file for every boot, read at once so that it is in force before the bootstrap."""

from collections.abc import Sequence

from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.lowering.emission import each, free_path, put_file
from slipway.bootstrapper.lowering.order import Rank
from slipway.contract.items import Item

ID = "linux.sysctls"
_STEM = "/etc/sysctl.d/99-zz-slipway"


def lower(items: Sequence[Item], draft: Draft) -> None:
    """Write all parameters into one file, which sorts behind those of distributions, and read it.

    The program fails for a parameter that the kernel does not know, and so does the step.
    """
    each(draft, items, _check)
    path = free_path(draft, _STEM, ".conf")
    text = "".join(f"{item.message.name} = {item.message.value}\n" for item in items)
    put_file(draft, items[0], path, text.encode(), by=ID)
    draft.step(Rank.SYSCTLS, "sysctls", source=items[0].message, by=ID, argv=["sysctl", "-p", path])


def _check(item: Item) -> None:
    if "*" in item.message.name:
        raise CannotLower(item, "not every sysctl program knows patterns", remedy="name every parameter by itself")
