"""Commands: what runs on every boot, and how the entry point is started."""

import shlex
from collections.abc import Mapping

from slipway.provisioners.cloud_init import texts
from slipway.provisioners.cloud_init.document import Value
from slipway.sdk import RenderContext
from slipway.v1alpha1 import plan_pb2 as planpb

# cloud-init runs what is here at the end of every boot, behind all its modules. `runcmd` would run only
# once, but the contract asks for another start when the machine went down before the entry point had ended.
_PER_BOOT = "/var/lib/cloud/scripts/per-boot/slipway"
_NO_TEXT = "must be text in UTF-8 without a NUL, and its templates must have no control characters"


def entry_point(entry: planpb.EntryPoint) -> list[Mapping[str, Value]]:
    """Give the entries of write_files that start the entry point's program."""
    if not entry.argv:
        return []
    script = f"#!/bin/sh\nexec {shlex.join(entry.argv)}\n"
    return [{"path": _PER_BOOT, "permissions": "0755", "content": script}]


def written_early(entry: planpb.EntryPoint) -> list[str]:
    """Give paths that the bootstrap needs and that are written before cloud-init mounts anything.

    An imported config has no script of its own, and its mounts are what they are today.
    """
    return [_PER_BOOT, "/etc/passwd"] if entry.argv else []


def runcmd(entry: planpb.EntryPoint, ctx: RenderContext) -> list[Value]:
    """Give the key `runcmd`: the entry point's own command lines, each as it is."""
    lines: list[Value] = []
    for index, command in enumerate(entry.commands):
        line = texts.line(command, ctx, f"plan.entrypoint.commands[{index}]")
        if line is None:
            ctx.refuse(f"plan.entrypoint.commands[{index}]", "plan.entrypoint.commands", _NO_TEXT)
        else:
            lines.append(line)
    return lines


def bootcmd(commands: planpb.Commands, ctx: RenderContext, *, apart: bool) -> list[Value]:
    """Give the key `bootcmd`: lists are programs with arguments, texts are lines for a shell.

    cloud-init joins all texts to one script. ``apart`` gives each a shell of its own, so that one cannot end the
    others; the lines of an imported config work together as they do today.
    """
    entries: list[Value] = []
    for index, command in enumerate(commands.boot):
        path = f"commands.boot[{index}]"
        text = texts.script(command.script, ctx, f"{path}.script")
        if command.argv:
            entries.append(list(command.argv))
        elif text is None:
            ctx.refuse(path, "os.commands.boot.script", _NO_TEXT)
        elif apart:
            entries.append(["sh", "-c", text])
        else:
            entries.append(text)
    return entries
