"""Commands of every boot: files, and a service that systemd starts before anything that is not needed to mount disks.

On the first boot the service is started as the first step of all.
"""

import math
import shlex
from collections.abc import Sequence

from slipway.bootstrapper.lowering.draft import PRIVATE, CannotLower, Draft
from slipway.bootstrapper.lowering.emission import each, free_path, put_file
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.linux.systemd_units import section
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import needed
from slipway.bootstrapper.lowering.runners.linux_file import ROOT as STATE
from slipway.contract.content import literal
from slipway.contract.items import Item
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import plan_pb2 as planpb

ID = "linux.boot-commands"
_FOLDER = f"{STATE}/boot"


def lower(items: Sequence[Item], draft: Draft) -> None:
    """Write the commands and the service; enable and start it."""
    each(draft, items, _check)
    calls = []
    for item in items:
        command: planpb.Command = item.message
        path = free_path(draft, f"{_FOLDER}/command", "")
        put_file(draft, item, path, _content(command), by=ID, mode=PRIVATE)
        seconds = command.timeout.seconds + command.timeout.nanos / 1e9
        limit = str(max(1, math.ceil(seconds))) if command.HasField("timeout") else ""
        calls.append(
            ["boot", path.rpartition("/")[2], limit, str(command.retries), "x" if command.redact_output else ""]
        )
    first = items[0]
    program = free_path(draft, f"{_FOLDER}/run", "")
    put_file(draft, first, program, script([*calls, ["finish"]], programs=["boot"]), by=ID, mode=PRIVATE)
    unit = free_path(draft, f"{needed(draft.profile.systemd_directory, first)}/slipway-boot", ".service")
    put_file(draft, first, unit, _unit(program), by=ID)
    name = unit.rpartition("/")[2]
    start = [
        ["systemctl", "daemon-reload"],
        ["systemctl", "enable", name],
        ["settle", "systemctl", "start", name],
    ]
    text = script(start, programs=["settle"])
    draft.step(Rank.BOOT_COMMANDS, "boot-commands", source=first.message, by=ID, script=text)


def _content(command: planpb.Command) -> contentpb.Content:
    if command.argv:
        return literal(f"exec {shlex.join(command.argv)}\n".encode())
    return command.script


def _unit(program: str) -> bytes:
    return b"\n".join(
        [
            section(
                "Unit",
                [
                    "Description=Commands of every boot",
                    "DefaultDependencies=no",
                    "After=local-fs.target",
                    "Before=sysinit.target shutdown.target",
                    "Conflicts=shutdown.target",
                ],
            ),
            section("Service", ["Type=oneshot", "RemainAfterExit=yes", f"ExecStart=/bin/sh {program}"]),
            section("Install", ["WantedBy=sysinit.target"]),
        ]
    )


def _check(item: Item) -> None:
    command: planpb.Command = item.message
    if command.reboot:
        why = "a command of every boot that reboots would do so for ever"
        raise CannotLower(item, why, remedy="drop reboot", fields=["reboot"])
    if command.interpreter not in {planpb.INTERPRETER_UNSPECIFIED, planpb.INTERPRETER_SH}:
        raise CannotLower(item, "Linux has no such interpreter", remedy="write the command for a POSIX shell")
    if any(segment.WhichOneof("value") in {"fact", "extension"} for segment in command.script.segments):
        raise CannotLower(
            item,
            "the script needs something that is known only after the first boot has begun",
            remedy="make it a command of the phase pre, or ask the machine in the script itself",
        )
