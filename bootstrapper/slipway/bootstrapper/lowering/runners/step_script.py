"""A step as the shell script that the Linux runner starts.

A program with arguments becomes one quoted line, so that no shell interprets what the user wrote; a script is
sent as it is. A script that holds machine facts is put together on the machine like any other file that holds
some.
"""

import shlex
from collections.abc import Iterator, Sequence

from slipway.bootstrapper.lowering.runners.linux_file import ROOT, root_file
from slipway.bootstrapper.lowering.runners.linux_stage import install_argv, stage_files
from slipway.bootstrapper.lowering.runners.run_order import interpreter
from slipway.bootstrapper.lowering.runners.wave import Wave, facts_of
from slipway.contract.content import literal, normal_segments
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb


def step_path(step_id: str) -> str:
    """Give the path of a step's script."""
    return f"{ROOT}/steps/{step_id}"


def step_files(step: planpb.Step) -> Iterator[ospb.File]:
    """Give the files of one step.

    Raises:
        UnsupportedFeature: the script is not for a POSIX shell, or holds text of an extension.
    """
    command, path = step.command, step_path(step.id)
    if command.argv:
        yield root_file(path, _lines(command.argv), command.origin)
        return
    interpreter(command, default=planpb.INTERPRETER_SH, known=[planpb.INTERPRETER_SH])
    if not needs_assembly(command.script):
        yield root_file(path, contentpb.Content(segments=normal_segments(command.script)), command.origin)
        return
    yield from _staged(step)
    yield root_file(path, _lines(install_argv(step.id), ["sh", assembled_path(step.id)]), command.origin)


def assembled_path(step_id: str) -> str:
    """Give the path of a step's script that is put together on the machine."""
    return f"{ROOT}/scripts/{step_id}"


def sourced_files(step: planpb.Step) -> Iterator[ospb.File]:
    """Give the files of a step that a shell reads as its own: `install_argv` puts its script together.

    The script is there from the start, empty: a shell ends when it is to read a file that does not exist.

    Raises:
        UnsupportedFeature: the script is not for a POSIX shell, or holds text of an extension.
    """
    interpreter(step.command, default=planpb.INTERPRETER_SH, known=[planpb.INTERPRETER_SH])
    yield from _staged(step)
    yield root_file(assembled_path(step.id), literal(b""), step.command.origin)


def _staged(step: planpb.Step) -> Iterator[ospb.File]:
    whole = root_file(assembled_path(step.id), step.command.script, step.command.origin)
    yield from stage_files(Wave(id=step.id, files=(whole,)))


def needs_assembly(script: contentpb.Content) -> bool:
    """Say whether a script is known only on the machine."""
    return bool(facts_of(script)) or any(segment.WhichOneof("value") == "extension" for segment in script.segments)


def _lines(*commands: Sequence[str]) -> contentpb.Content:
    # The first ends the script when it fails; `exec` takes a program even where the shell has a builtin of
    # that name.
    words = [
        *(f"{shlex.join(command)} || exit\n" for command in commands[:-1]),
        f"exec {shlex.join(commands[-1])}\n",
    ]
    return literal("".join(words).encode())
