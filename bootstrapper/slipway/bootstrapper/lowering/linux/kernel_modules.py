"""Kernel modules: one file that loads them on every boot, one with their parameters, and modprobe for this boot."""

import re
from collections.abc import Sequence

from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.lowering.emission import each, free_path, put_file
from slipway.bootstrapper.lowering.order import Rank
from slipway.contract.items import Item

ID = "linux.kernel-modules"
_PARAMETER = re.compile(r"[A-Za-z0-9_-]+(=[^\\#]*)?")


def lower(items: Sequence[Item], draft: Draft) -> None:
    """Write the files and load the modules."""
    names = [item.message.name for item in items]
    path = free_path(draft, "/etc/modules-load.d/slipway", ".conf")
    put_file(draft, items[0], path, "".join(f"{name}\n" for name in names).encode(), by=ID)
    options = "".join(each(draft, items, _options))
    if options:
        put_file(draft, items[0], free_path(draft, "/etc/modprobe.d/slipway", ".conf"), options.encode(), by=ID)
    draft.step(Rank.KERNEL_MODULES, "kernel-modules", source=items[0].message, by=ID, argv=["modprobe", "-a", *names])


def _options(item: Item) -> str:
    """Give the module's line of modprobe.d(5), or "" when it has no parameters."""
    parameters = item.message.parameters
    if not all(_PARAMETER.fullmatch(parameter) for parameter in parameters):
        why = "a parameter is not one that modprobe.d can carry"
        raise CannotLower(item, why, remedy="write each as name=value", fields=["parameters"])
    return f"options {item.message.name} {' '.join(parameters)}\n" if parameters else ""
