"""The steps of an imported config as literal commands, which its owners and other programs look for.

Their owners must see no change. Consumers look for the literal line, e.g. `kubeadm init`, for the unit's name and for
the paths. They know two forms, those of Cluster API's kubeadm bootstrap provider: command lines for cloud-init, of
which a failing one does not stop the next; and one bash script that stops at the first failure, run by a unit on every
boot until the bootstrap has taken its configuration away. A plan that says anything which a form cannot express gets
the runner, with the same unit name.

In both forms one shell runs all, so that what a command leaves behind in it (variables, working directory, umask,
functions) reaches kubeadm and the commands after it. A script that holds machine facts is therefore put together
while the machine is prepared, and read by that shell where it stands.
"""

import shlex
from collections.abc import Container, Iterator, Sequence
from typing import TypeGuard

from slipway.bootstrapper.lowering.program_text import program
from slipway.bootstrapper.lowering.runners.linux_file import (
    INSTALL_PROGRAM,
    PLAN,
    RUN,
    SENTINEL,
    SENTINEL_DIRECTORY,
    made_by_runner,
    root_file,
)
from slipway.bootstrapper.lowering.runners.linux_stage import install_argv, install_step, stage_files
from slipway.bootstrapper.lowering.runners.literal_events import event_file, report_drop_in, with_events
from slipway.bootstrapper.lowering.runners.run_order import FailureRules, in_order, timeout_seconds
from slipway.bootstrapper.lowering.runners.step_data import is_marker, is_report
from slipway.bootstrapper.lowering.runners.step_script import (
    assembled_path,
    needs_assembly,
    sourced_files,
    step_files,
    step_path,
)
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.contract.content import literal, normal_segments
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb

_GRAVE = "/tmp/"  # noqa: S108  # where that provider puts what is not to be used again
_SEGMENT_CHARACTERS = 1024
_NOT_PREPARED = f"{RUN}/not-prepared"
_UNTIL_BOOTSTRAP = frozenset({planpb.PHASE_PREPARE, planpb.PHASE_PRE, planpb.PHASE_BOOTSTRAP})
_OPEN_PHASES = (planpb.PHASE_PRE, planpb.PHASE_BOOTSTRAP, planpb.PHASE_POST)

Lowered = tuple[tuple[ospb.File, ...], planpb.EntryPoint]


def as_commands(
    items: Sequence[planpb.Step | Wave], *, bundle_id: str, rules: FailureRules, entrypoint: planpb.EntryPoint
) -> Lowered | None:
    """Give the plan as command lines, or None where they cannot express it.

    Raises:
        UnsupportedFeature: the lines are to have events, and cannot.
    """
    steps = _plain_steps(items)
    if steps is None or not all(rules.goes_on(phase) for phase in _OPEN_PHASES) or not _sentinel_early(rules):
        return None
    files = list(_prepare_files(items, bundle_id))
    result = _copy(entrypoint)
    result.execution = planpb.EXECUTION_COMMANDS
    has_events = any(is_report(step) for step in steps)
    prepare = [step for step in steps if step.phase == planpb.PHASE_PREPARE and not is_marker(step)]
    bootstrap = [step for step in steps if step.phase == planpb.PHASE_BOOTSTRAP]
    if prepare:
        files += [file for step in prepare for file in step_files(step)]
        installed = [shlex.join(install_argv(step.id)) for step in steps if _sourced(step)]
        started = " && ".join([*map(_call, prepare), *installed])
        _add_line(result, _text(f"mkdir -p {RUN}; {{ {started}; }} || : > {_NOT_PREPARED}"), prepare[0])
    guard = [f"[ ! -e {_NOT_PREPARED} ]"] if prepare else []
    for step in steps:
        if step.phase in (planpb.PHASE_PRE, planpb.PHASE_POST):
            segments = _command_line(step)
            if _sourced(step):
                files += sourced_files(step)
                segments = _text(_source(step))
            elif segments is None:
                files += step_files(step)
                segments = _text(_call(step))
            _add_line(result, segments, step)
        elif bootstrap and step is bootstrap[-1]:
            lines = []
            for entry in bootstrap:
                literally = bool(entry.command.argv) and _plain_command(entry)
                lines.append(shlex.join(entry.command.argv) if literally else _call(entry))
                files += () if literally else step_files(entry)
            line = " && ".join([*guard, *lines, f"echo success > {SENTINEL}"])
            line = with_events(line, step.id, before=result.commands) if has_events else line
            _add_line(result, _text(line), step)
    files += [event_file(bundle_id, "event.sh")] if has_events else []
    # The folder of the sentinel is made by a file, since not every consumer's shell knows `mkdir -p`.
    files.append(root_file(f"{SENTINEL_DIRECTORY}/placeholder", literal(b"placeholder\n"), mode=0o640))
    return tuple(files), result


def as_script(
    items: Sequence[planpb.Step | Wave], *, bundle_id: str, rules: FailureRules, entrypoint: planpb.EntryPoint
) -> Lowered | None:
    """Give the plan as one bash script, or None where it cannot express it."""
    reports = [item for item in items if _is_report(item)]
    items = [item for item in items if not _is_report(item)]
    steps = _plain_steps(items, runs_again=_UNTIL_BOOTSTRAP)
    if steps is None or any(rules.goes_on(phase) for phase in _OPEN_PHASES) or not _sentinel_early(rules):
        return None
    files = list(_prepare_files(items, bundle_id))
    segments = [contentpb.Segment(data=b"#!/bin/bash\nset -e\n")]
    before, after = rules.split(steps)
    # What the runner is to read must be whole before the first of the user's commands runs.
    for step in before:
        if step.phase == planpb.PHASE_PREPARE:
            segments += _script_lines(step, files)
    for step in steps:
        if _sourced(step):
            segments.append(contentpb.Segment(data=f"{shlex.join(install_argv(step.id))}\n".encode()))
    for step in before:
        if step.phase != planpb.PHASE_PREPARE:
            segments += _script_lines(step, files)
    segments.append(contentpb.Segment(data=f"mkdir -p {SENTINEL_DIRECTORY} && echo success > {SENTINEL}\n".encode()))
    result = _copy(entrypoint)
    config = _config_path(steps)
    if config:
        files += _placeholder(config, items)
        segments.append(contentpb.Segment(data=f"{shlex.join(['mv', config, _GRAVE])}\n".encode()))
        result.drop_ins.add(name="10-once.conf", contents=f"[Unit]\nConditionPathExists={config}\n")
    for step in after:
        segments += _script_lines(step, files)
    files += _report(reports, steps, bundle_id, result)
    result.execution = planpb.EXECUTION_RUNNER
    path = f"/etc/{result.unit_name.removesuffix('.service')}.sh"
    result.argv[:] = ["/bin/bash", path]
    content = contentpb.Content(segments=normal_segments(contentpb.Content(segments=segments)))
    return (*files, root_file(path, content, mode=0o700)), result


def _is_report(item: planpb.Step | Wave) -> TypeGuard[planpb.Step]:
    return isinstance(item, planpb.Step) and is_report(item)


def _report(
    reports: Sequence[planpb.Step], steps: Sequence[planpb.Step], bundle_id: str, entrypoint: planpb.EntryPoint
) -> Iterator[ospb.File]:
    """Have the unit of the script start reports, and write events; give the files of both, none without reports."""
    if not reports:
        return
    events = [step.id for step in steps if step.phase == planpb.PHASE_BOOTSTRAP][-1:]
    for step in reports:
        yield from () if is_marker(step) else step_files(step)
    if events:
        yield event_file(bundle_id, "unit_event.sh")
    entrypoint.drop_ins.append(report_drop_in(reports, "".join(events)))


def _plain_steps(
    items: Sequence[planpb.Step | Wave], *, runs_again: Container[planpb.Phase.ValueType] = ()
) -> list[planpb.Step] | None:
    """Give the steps in order, or None when one asks for more than to run; phases of `runs_again` do so on a boot."""
    steps = in_order(install_step(item) if isinstance(item, Wave) else item for item in items)
    special = any(
        step.command.retries or step.command.reboot or (step.command.retry_on_boot and step.phase not in runs_again)
        for step in steps
    )
    return None if special else steps


def _sentinel_early(rules: FailureRules) -> bool:
    return rules.policy.sentinel == planpb.SENTINEL_TIME_AFTER_BOOTSTRAP


def _copy(entrypoint: planpb.EntryPoint) -> planpb.EntryPoint:
    result = planpb.EntryPoint()
    result.CopyFrom(entrypoint)
    del result.argv[:], result.commands[:]
    return result


def _prepare_files(items: Sequence[planpb.Step | Wave], bundle_id: str) -> Iterator[ospb.File]:
    waves = [item for item in items if isinstance(item, Wave)]
    scripts = [item.command.script for item in items if isinstance(item, planpb.Step)]
    if waves or any(needs_assembly(script) for script in scripts):
        yield root_file(INSTALL_PROGRAM, literal(program("install.sh")))
        yield root_file(PLAN, literal(f"{bundle_id}\n".encode()))
    for wave in waves:
        yield from stage_files(wave)


def _call(step: planpb.Step) -> str:
    limit = timeout_seconds(step.command)
    call = shlex.join([*(["timeout", "-k", "9", str(limit)] if limit else []), "sh", step_path(step.id)])
    return f"{call} >/dev/null 2>&1" if step.command.redact_output else call


def _plain_command(step: planpb.Step) -> bool:
    return not step.command.HasField("timeout") and not step.command.redact_output


def _sourced(step: planpb.Step) -> bool:
    """Say whether the one shell reads the step's script as its own, which is known only on the machine."""
    facts = needs_assembly(step.command.script) and not any(
        segment.HasField("extension") for segment in step.command.script.segments
    )
    return facts and _plain_command(step) and step.phase in (planpb.PHASE_PRE, planpb.PHASE_POST)


def _source(step: planpb.Step) -> str:
    return f". {assembled_path(step.id)}"


def _command_line(step: planpb.Step) -> list[contentpb.TextSegment] | None:
    """Give a user's command as the line that the user wrote, or None where it has to be a file."""
    if not _plain_command(step):
        return None
    if step.command.argv:
        return _text(shlex.join(step.command.argv))
    result: list[contentpb.TextSegment] = []
    for segment in normal_segments(step.command.script):
        if segment.HasField("extension"):
            result.append(contentpb.TextSegment(extension=segment.extension))
            continue
        if segment.WhichOneof("value") != "data":
            return None
        try:
            result += _text(segment.data.decode())
        except UnicodeDecodeError:
            return None
    return result


def _text(line: str) -> list[contentpb.TextSegment]:
    starts = range(0, len(line), _SEGMENT_CHARACTERS)
    return [contentpb.TextSegment(text=line[at : at + _SEGMENT_CHARACTERS]) for at in starts]


def _add_line(entrypoint: planpb.EntryPoint, segments: list[contentpb.TextSegment], step: planpb.Step) -> None:
    entrypoint.commands.add(segments=segments, origin=made_by_runner(step.command.origin))


def _script_lines(step: planpb.Step, files: list[ospb.File]) -> list[contentpb.Segment]:
    """Give the lines of one step; a user's own script stands there as it was written."""
    command = step.command
    own_lines = _plain_command(step) and step.phase != planpb.PHASE_PREPARE
    if own_lines and command.argv:
        return [contentpb.Segment(data=f"{shlex.join(command.argv)}\n".encode())]
    if own_lines and not needs_assembly(command.script):
        return [*normal_segments(command.script), contentpb.Segment(data=b"\n")]
    if _sourced(step):
        files += sourced_files(step)
        return [contentpb.Segment(data=f"{_source(step)}\n".encode())]
    files += step_files(step)
    return [contentpb.Segment(data=f"{_call(step)}\n".encode())]


def _placeholder(config: str, items: Sequence[planpb.Step | Wave]) -> Iterator[ospb.File]:
    """Give an empty file where the script itself installs the configuration: without one its unit never starts."""
    if any(file.path == config for item in items if isinstance(item, Wave) for file in item.files):
        yield root_file(config, literal(b""))


def _config_path(steps: Sequence[planpb.Step]) -> str:
    """Give the configuration without which the bootstrap is not to run again, where a step names one."""
    for step in steps:
        argv = list(step.command.argv)
        if step.phase == planpb.PHASE_BOOTSTRAP and "--config" in argv[:-1]:
            return argv[argv.index("--config") + 1]
    return ""
