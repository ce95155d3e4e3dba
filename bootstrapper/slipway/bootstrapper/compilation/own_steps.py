"""The steps that a user's own commands, and a caller's own entry point, become."""

from collections.abc import Sequence

from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import plan_pb2 as planpb

ENTRY_POINT = "entrypoint"
"""Id of the step that a caller's own entry point becomes."""


def surround(bundle: bundlepb.BootstrapBundle) -> None:
    """Put the user's own commands before and behind the steps of a plan; an entry point of the caller's is a step, too.

    Commands for every boot stay.
    """
    plan, commands = bundle.plan, bundle.commands
    steps = [
        *steps_of(commands.pre, phase=planpb.PHASE_PRE, prefix="pre"),
        *plan.steps,
        *steps_of(commands.post, phase=planpb.PHASE_POST, prefix="post"),
    ]
    if plan.entrypoint.argv:
        own = planpb.Command(argv=plan.entrypoint.argv, origin=plan.entrypoint.origin)
        steps.insert(len(commands.pre), planpb.Step(id=ENTRY_POINT, phase=planpb.PHASE_BOOTSTRAP, command=own))
        plan.entrypoint.ClearField("argv")
    del plan.steps[:]
    plan.steps.extend(steps)
    commands.ClearField("pre")
    commands.ClearField("post")
    if not commands.ListFields():
        bundle.ClearField("commands")


def steps_of(commands: Sequence[planpb.Command], *, phase: planpb.Phase.ValueType, prefix: str) -> list[planpb.Step]:
    """Make steps of the user's own commands, numbered in their order."""
    return [
        planpb.Step(id=f"{prefix}-{number:02d}", phase=phase, command=command)
        for number, command in enumerate(commands)
    ]
