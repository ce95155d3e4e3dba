"""The order in which the steps of a plan run, checked.

Both runners read step ids and the bundle's id as bare words and as parts of file names. So nothing reaches a
manifest that is not such a word, whatever the caller has validated before.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slipway.bootstrapper.lowering.runners.pieces import place
from slipway.contract.errors import BundleInvalid, UnsupportedFeature, Violation
from slipway.contract.yaml_names import enum_names
from slipway.v1alpha1 import plan_pb2 as planpb

PHASES = {
    planpb.PHASE_PREPARE: "prepare",
    planpb.PHASE_PRE: "pre",
    planpb.PHASE_BOOTSTRAP: "bootstrap",
    planpb.PHASE_POST: "post",
}

_STEP_ID = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_BUNDLE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}")


def check_bundle_id(bundle_id: str) -> str:
    """Give the id back.

    Raises:
        BundleInvalid: it is no word of letters, digits, dots, dashes, underscores and plus signs.
    """
    if not _BUNDLE_ID.fullmatch(bundle_id):
        raise BundleInvalid("the bundle has no usable id", violations=[Violation("id", "must be an identifier")])
    return bundle_id


def in_order(steps: Iterable[planpb.Step]) -> list[planpb.Step]:
    """Give the steps by phase, those of one phase in the order given, each of them checked.

    Raises:
        BundleInvalid: a step has no usable id, phase or command, or its id is used twice.
    """
    ordered = sorted(steps, key=lambda step: step.phase)
    seen: set[str] = set()
    for step in ordered:
        problem = _problem(step, seen)
        if problem:
            origin = step.command.origin
            raise BundleInvalid(f"{place(origin)}: a step {problem}", violations=[Violation(place(origin), problem)])
        seen.add(step.id)
    return ordered


def _problem(step: planpb.Step, seen: set[str]) -> str:
    command = step.command
    if not _STEP_ID.fullmatch(step.id):
        return "must have an id of lower-case letters, digits and dashes, at most 63"
    if step.id in seen:
        return "must have an id of its own"
    if step.phase not in PHASES:
        return "must have a phase"
    if bool(command.argv) == command.HasField("script"):
        return "must have either argv or a script"
    if command.argv and (not command.argv[0] or command.argv[0].startswith("-")):
        return "must name a program as the first word of its argv"
    if any("\0" in word for word in command.argv):
        return "must have no NUL character in its argv"
    return ""


def interpreter(
    command: planpb.Command,
    *,
    default: planpb.Interpreter.ValueType,
    known: Sequence[planpb.Interpreter.ValueType],
) -> planpb.Interpreter.ValueType:
    """Give what runs the command's script.

    Raises:
        UnsupportedFeature: the operating system has no such interpreter.
    """
    check_interpreters([command], default=default, known=known)
    return command.interpreter or default


def check_interpreters(
    commands: Iterable[planpb.Command],
    *,
    default: planpb.Interpreter.ValueType,
    known: Sequence[planpb.Interpreter.ValueType],
) -> None:
    """Check that the operating system has what runs each script.

    Raises:
        UnsupportedFeature: it lacks the interpreters of some; all of these are named.
    """
    scripts = (command for command in commands if not command.argv)
    lacking = [command for command in scripts if (command.interpreter or default) not in known]
    if not lacking:
        return
    remedy = f"write it for {', '.join(_name(interpreter) for interpreter in known)}, or as argv"
    names = dict.fromkeys(planpb.Interpreter.Name(command.interpreter or default) for command in lacking)
    suffixes = (name.removeprefix("INTERPRETER_").lower() for name in names)
    raise UnsupportedFeature(
        f"{place(lacking[0].origin)}: the operating system cannot run scripts of this kind",
        violations=[
            Violation(
                place(command.origin), "needs an interpreter that the operating system does not have", remedy=remedy
            )
            for command in lacking
        ],
        metadata={"features": ",".join(f"plan.steps.command.interpreter.{suffix}" for suffix in suffixes)},
    )


def _name(interpreter: planpb.Interpreter.ValueType) -> str:
    """Spell an interpreter as a person writes it."""
    return enum_names(planpb.Interpreter.DESCRIPTOR)[interpreter]


def timeout_seconds(command: planpb.Command) -> int:
    """Give the time limit in whole seconds, rounded up; 0 for none."""
    if not command.HasField("timeout"):
        return 0
    return max(1, math.ceil(command.timeout.seconds + command.timeout.nanos / 1e9))


def survives_boot(steps: Iterable[planpb.Step]) -> bool:
    """Say whether the runner has to be started again on a later boot."""
    return any(step.command.reboot or step.command.retry_on_boot for step in steps)


@dataclass(frozen=True)
class FailureRules:
    """What happens after a failed step, and when the sentinel is due; unset means as in a native spec."""

    policy: planpb.ExecutionPolicy

    def goes_on(self, phase: planpb.Phase.ValueType) -> bool:
        """Say whether the steps behind a failed step of this phase run."""
        chosen = {
            planpb.PHASE_PRE: self.policy.on_pre_failure,
            planpb.PHASE_BOOTSTRAP: self.policy.on_bootstrap_failure,
            planpb.PHASE_POST: self.policy.on_post_failure,
        }.get(phase, planpb.FAILURE_POLICY_STOP)
        return chosen == planpb.FAILURE_POLICY_CONTINUE

    def split(self, steps: Sequence[planpb.Step]) -> tuple[list[planpb.Step], list[planpb.Step]]:
        """Give the ordered steps before and after the sentinel."""
        early = self.policy.sentinel == planpb.SENTINEL_TIME_AFTER_BOOTSTRAP
        late = [step for step in steps if early and step.phase > planpb.PHASE_BOOTSTRAP]
        return list(steps[: len(steps) - len(late)]), late
