"""A step as the program and the argument line that the Windows runner starts."""

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slipway.bootstrapper.lowering.runners.run_order import interpreter
from slipway.bootstrapper.lowering.runners.step_script import needs_assembly
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.bootstrapper.lowering.runners.windows_file import POWERSHELL, ROOT, private_file
from slipway.bootstrapper.lowering.runners.windows_stage import stage_files
from slipway.contract.content import normal_segments
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb

INTERPRETERS = (planpb.INTERPRETER_POWERSHELL, planpb.INTERPRETER_CMD)
"""What runs scripts on Windows; the first one, where a command names none."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class CommandLine:
    """A program, and its arguments as one line in the quoting of the Microsoft C runtime."""

    program: str
    arguments: str


def command_line(argv: Sequence[str]) -> CommandLine:
    """Give the line that a program reads back as exactly these arguments."""
    return CommandLine(argv[0], subprocess.list2cmdline(argv[1:]))


def step_command(step: planpb.Step) -> CommandLine:
    """Give what the runner starts for a step.

    Raises:
        UnsupportedFeature: the script is for a POSIX shell.
    """
    command = step.command
    if command.argv:
        return command_line(command.argv)
    if _interpreter(command) == planpb.INTERPRETER_CMD:
        return command_line(["cmd.exe", "/d", "/c", script_path(step)])
    return command_line([*POWERSHELL, script_path(step)])


def script_path(step: planpb.Step) -> str:
    """Give the path of a step's script."""
    suffix = "cmd" if _interpreter(step.command) == planpb.INTERPRETER_CMD else "ps1"
    return f"{ROOT}\\steps\\{step.id}.{suffix}"


def script_wave(step: planpb.Step) -> Wave | None:
    """Give the wave that puts a step's script together, where it is known only on the machine."""
    if step.command.argv or not needs_assembly(step.command.script):
        return None
    return Wave(
        id=f"{step.id[:55]}-script",
        files=(private_file(script_path(step), step.command.script, step.command.origin),),
    )


def step_files(step: planpb.Step) -> Iterator[ospb.File]:
    """Give the files of one step; a program with arguments needs none."""
    wave = script_wave(step)
    if wave is not None:
        yield from stage_files(wave)
    elif not step.command.argv:
        segments = normal_segments(step.command.script)
        powershell = _interpreter(step.command) == planpb.INTERPRETER_POWERSHELL
        if powershell and not all(
            segment.data.isascii() and segment.WhichOneof("value") == "data" for segment in segments
        ):
            # Without the mark Windows PowerShell reads a script in the system's legacy code page.
            segments.insert(0, contentpb.Segment(data=_BYTE_ORDER_MARK))
        yield private_file(script_path(step), contentpb.Content(segments=segments), step.command.origin)


def _interpreter(command: planpb.Command) -> planpb.Interpreter.ValueType:
    return interpreter(command, default=planpb.INTERPRETER_POWERSHELL, known=INTERPRETERS)
