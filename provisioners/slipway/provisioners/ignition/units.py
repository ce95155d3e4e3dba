"""Units: those of the bundle, and the one that starts the entry point."""

from collections.abc import Iterable

from slipway.provisioners.ignition.document import DropIn, Unit
from slipway.provisioners.ignition.unit_files import command_line, has_install_section, is_unit_file, unit_file
from slipway.sdk import RenderContext
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb

FOLDER = "/etc/systemd/system"
"""Where Ignition writes units."""

_DEFAULT_NAME = "slipway-bootstrap.service"
_NETWORK = "network-online.target"


def bundle_units(system: ospb.OperatingSystem, ctx: RenderContext) -> list[Unit]:
    """Give the bundle's own units."""
    units = []
    for index, unit in enumerate(system.systemd_units):
        problem = _problem(unit)
        if problem:
            ctx.refuse(f"os.systemd_units[{index}]", "os.systemd.units", problem)
            continue
        units.append(
            Unit(
                name=unit.name,
                enabled=unit.enabled if unit.HasField("enabled") else None,
                mask=unit.masked if unit.HasField("masked") else None,
                contents=unit.contents if unit.HasField("contents") else None,
                dropins=_drop_ins(unit.drop_ins),
            )
        )
    return units


def _problem(unit: ospb.SystemdUnit) -> str:
    if unit.masked and unit.HasField("contents"):
        return "Ignition cannot both write and mask a unit"
    if not all(is_unit_file(contents) for contents in (unit.contents, *(part.contents for part in unit.drop_ins))):
        return "Ignition cannot parse it"
    if unit.enabled and unit.HasField("contents") and not has_install_section(unit.contents):
        return "a unit without an [Install] section cannot be enabled"
    return ""


def entry_point(entry: planpb.EntryPoint) -> list[Unit]:
    """Give the unit that starts the entry point on every boot: it ends at once when all is done."""
    if not entry.argv:
        return []
    after = list(entry.after_units)
    # The command line is quoted already, "%" apart.
    contents = unit_file(
        {
            "Unit": [
                ("Description", "Bootstrap of this machine"),
                ("Wants", _NETWORK),
                ("After", " ".join([_NETWORK, *after])),
                *([("Requires", " ".join(after))] if after else []),
            ],
            "Service": [
                ("Type", "oneshot"),
                ("RemainAfterExit", "yes"),
                ("ExecStart", command_line(entry.argv)),
            ],
            "Install": [("WantedBy", "multi-user.target")],
        }
    )
    name = entry.unit_name or _DEFAULT_NAME
    return [Unit(name=name, enabled=True, contents=contents, dropins=_drop_ins(entry.drop_ins))]


def paths(units: Iterable[Unit]) -> set[str]:
    """Give the paths of the files that Ignition makes of units and drop-ins; spec 3 refuses another entry there.

    Source: coreos/ignition v2.26.0, config/v3_3/types/config.go (Config.Validate).
    """
    places: set[str] = set()
    for unit in units:
        if unit.contents or unit.mask:
            places.add(f"{FOLDER}/{unit.name}")
        places |= {f"{FOLDER}/{unit.name}.d/{part.name}" for part in unit.dropins or () if part.contents}
    return places


def _drop_ins(parts: Iterable[ospb.SystemdDropIn]) -> list[DropIn] | None:
    return [DropIn(name=part.name, contents=part.contents) for part in parts] or None
