"""Modules and parameters of the kernel: files that hold them for every boot, and the commands for this one.

Each is in force before the bootstrap.
"""

import re
from collections.abc import Sequence

from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.lowering.emission import each, free_path, put_file
from slipway.bootstrapper.lowering.order import Rank
from slipway.contract.items import Item

MODULES = "linux.kernel-modules"
_MODULE_PARAMETER = re.compile(r"[A-Za-z0-9_-]+(=[^\\#]*)?")

SYSCTLS = "linux.sysctls"
_SYSCTLS_STEM = "/etc/sysctl.d/99-zz-slipway"


def lower_modules(items: Sequence[Item], draft: Draft) -> None:
    """Write the files and load the modules."""
    names = [item.message.name for item in items]
    path = free_path(draft, "/etc/modules-load.d/slipway", ".conf")
    put_file(draft, items[0], path, "".join(f"{name}\n" for name in names).encode(), by=MODULES)
    options = "".join(each(draft, items, _options))
    if options:
        put_file(draft, items[0], free_path(draft, "/etc/modprobe.d/slipway", ".conf"), options.encode(), by=MODULES)
    draft.step(
        Rank.KERNEL_MODULES, "kernel-modules", source=items[0].message, by=MODULES, argv=["modprobe", "-a", *names]
    )


def _options(item: Item) -> str:
    """Give the module's line of modprobe.d(5), or "" when it has no parameters."""
    parameters = item.message.parameters
    if not all(_MODULE_PARAMETER.fullmatch(parameter) for parameter in parameters):
        why = "a parameter is not one that modprobe.d can carry"
        raise CannotLower(item, why, remedy="write each as name=value", fields=["parameters"])
    return f"options {item.message.name} {' '.join(parameters)}\n" if parameters else ""


def lower_sysctls(items: Sequence[Item], draft: Draft) -> None:
    """Write all parameters into one file, which sorts behind those of distributions, and read it.

    The program fails for a parameter that the kernel does not know, and so does the step.
    """
    each(draft, items, _check_sysctl)
    path = free_path(draft, _SYSCTLS_STEM, ".conf")
    text = "".join(f"{item.message.name} = {item.message.value}\n" for item in items)
    put_file(draft, items[0], path, text.encode(), by=SYSCTLS)
    draft.step(Rank.SYSCTLS, "sysctls", source=items[0].message, by=SYSCTLS, argv=["sysctl", "-p", path])


def _check_sysctl(item: Item) -> None:
    if "*" in item.message.name:
        raise CannotLower(item, "not every sysctl program knows patterns", remedy="name every parameter by itself")
