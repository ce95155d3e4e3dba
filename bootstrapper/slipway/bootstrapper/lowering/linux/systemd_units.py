"""systemd units and drop-ins: files, which are enabled, disabled, masked and started in one step.

Passes that write units of their own take the text from here. Source of the escapes: systemd.unit(5) on specifiers,
systemd.syntax(7) and systemd.exec(5) on quoting.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.lowering.emission import each, put_file
from slipway.bootstrapper.lowering.entry_unit import entry_unit_name
from slipway.bootstrapper.lowering.first_boot import runs_first_boot
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import needed
from slipway.contract.items import Item
from slipway.v1alpha1 import os_pb2 as ospb

ID = "linux.systemd-units"

_RUNS_US = re.compile(r"slipway-[a-z-]+\.(service|target)")


def lower(items: Sequence[Item], draft: Draft) -> None:
    """Write unit files and drop-ins; have the units enabled, disabled, masked and started."""
    each(draft, items, lambda item: _files(item, draft))
    units: list[ospb.SystemdUnit] = [item.message for item in items]
    calls = [["systemctl", "daemon-reload"], *_settings(units), *_starts(units)]
    text = script(calls, programs=["settle"])
    draft.step(Rank.SYSTEMD_UNITS, "systemd-units", source=items[0].message, by=ID, script=text)


def _files(item: Item, draft: Draft) -> None:
    _check(item, draft)
    unit: ospb.SystemdUnit = item.message
    path = f"{needed(draft.profile.systemd_directory, item)}/{unit.name}"
    if unit.HasField("contents"):
        put_file(draft, item, path, unit.contents.encode(), by=ID)
    for drop_in in unit.drop_ins:
        put_file(draft, item, f"{path}.d/{drop_in.name}", drop_in.contents.encode(), by=ID)


def _settings(units: Sequence[ospb.SystemdUnit]) -> Iterator[list[str]]:
    """Give the calls that decide about later boots."""
    for verb, names in {
        "mask": [unit.name for unit in units if unit.masked],
        "unmask": [unit.name for unit in units if unit.HasField("masked") and not unit.masked],
        "enable": [unit.name for unit in units if unit.enabled],
        "disable": [unit.name for unit in units if unit.HasField("enabled") and not unit.enabled],
    }.items():
        if names:
            yield ["systemctl", verb, *names]


def _starts(units: Sequence[ospb.SystemdUnit]) -> Iterator[list[str]]:
    """Give the calls for this boot. A service that may run already is started anew, so that what is written counts."""
    off = [unit.name for unit in units if unit.masked or (unit.HasField("enabled") and not unit.enabled)]
    rest = [unit for unit in units if unit.name not in off and not _is_template(unit)]
    changed = [unit for unit in rest if _is_changed(unit) and unit.name.endswith(".service")]
    for verb, names in {
        "stop": [name for name in off if "@." not in name],
        "try-restart": [unit.name for unit in changed if not unit.enabled],
        "restart": [unit.name for unit in changed if unit.enabled],
        "start": [unit.name for unit in rest if unit.enabled and unit not in changed],
    }.items():
        if names:
            yield ["settle", "systemctl", verb, *names]


def _is_template(unit: ospb.SystemdUnit) -> bool:
    return "@." in unit.name


def _is_changed(unit: ospb.SystemdUnit) -> bool:
    return unit.HasField("contents") or bool(unit.drop_ins)


def _check(item: Item, draft: Draft) -> None:
    unit: ospb.SystemdUnit = item.message
    if unit.masked and (unit.HasField("contents") or unit.enabled):
        raise CannotLower(
            item,
            "a masked unit can have neither contents nor be enabled",
            remedy="drop masked, or drop contents and enabled",
        )
    if unit.enabled and unit.HasField("contents"):
        _check_install(item)
    if _runs_us(unit.name) or unit.name == entry_unit_name(draft.bundle):
        raise CannotLower(
            item,
            "the unit is one of those that prepare the machine, and cannot be changed by what runs in it",
            remedy="choose a first-boot system that takes os.systemd.units natively, or change the image",
        )


def _runs_us(unit: str) -> bool:
    return _RUNS_US.fullmatch(unit) is not None or runs_first_boot(unit)


def _check_install(item: Item) -> None:
    """Refuse a unit that systemd would enable without any effect, or not at all."""
    unit: ospb.SystemdUnit = item.message
    lines = {
        line.strip() for text in (unit.contents, *(one.contents for one in unit.drop_ins)) for line in text.split("\n")
    }
    if "[Install]" not in lines:
        raise CannotLower(
            item,
            "nothing says what would start the unit on a later boot",
            remedy="add a section [Install] to it, such as WantedBy=multi-user.target",
        )
    if _is_template(unit) and not any(line.startswith("DefaultInstance=") for line in lines):
        raise CannotLower(item, "a template is enabled by no instance", remedy="name the instance, as in a@1.service")


def environment_drop_in(variables: Mapping[str, str]) -> bytes:
    """Give a drop-in that sets environment variables of a service."""
    lines = [f"Environment={quoted(f'{name}={value}')}" for name, value in variables.items()]
    return section("Service", lines)


def section(name: str, lines: Iterable[str]) -> bytes:
    """Give a section of a unit file."""
    return "".join(f"{line}\n" for line in [f"[{name}]", *lines]).encode()


def quoted(word: str) -> str:
    """Give a word in quotes; backslashes, quotes and specifiers lose their meaning."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'
