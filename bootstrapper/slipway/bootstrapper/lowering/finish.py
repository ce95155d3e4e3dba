"""The last act of lowering: everything that has to be run becomes files and one entry point."""

from collections.abc import Sequence
from typing import Any

from slipway.bootstrapper.lowering.draft import Draft
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.runners.lower_steps import lower_steps
from slipway.bootstrapper.lowering.runners.step_data import is_handover, is_report
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.contract.features import unsupported
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

STEPS = "plan.steps"
COMMANDS = "plan.entrypoint.commands"
RUNNER = "runner"
"""Id of this act among the passes, for provenance."""


def finish(draft: Draft, supports: Sequence[provisionerpb.FeatureSupport], *, media_type: str = "") -> None:
    """Lower the draft's plan: what is staged and prepared, and the engine's steps, become files and the entry point.

    A provisioner that declares "plan.steps" keeps its steps, unless the runner is needed: for what is staged, or for
    something that a step asks for and the provisioner does not declare.

    `media_type` is that of the user data: what reads them may know facts of the machine.

    Raises:
        UnsupportedFeature: a machine fact has no source there, or a script's interpreter is missing.
        UnsupportedTarget: there is no runner for the operating system.
    """
    declared = {support.id for support in supports}
    plan = draft.bundle.plan
    prepared = prepared_items(draft)
    reports = [step for step in plan.steps if is_report(step)]
    for step in reports:
        step.phase = planpb.PHASE_PREPARE
    needs_runner = bool(reports) or any(is_handover(step) for step in plan.steps)
    if STEPS in declared and not needs_runner and not any(isinstance(entry, Wave) for entry in prepared):
        native = planpb.Plan(steps=[*(entry for entry in prepared if isinstance(entry, planpb.Step)), *plan.steps])
        if not unsupported(native, supports):
            plan.steps.clear()
            plan.steps.extend(native.steps)
            return
    lowered = lower_steps(
        [*reports, *prepared, *(step for step in plan.steps if not is_report(step))],
        bundle_id=draft.bundle.id,
        target=draft.target,
        policy=draft.bundle.execution if draft.bundle.HasField("execution") else None,
        entrypoint=plan.entrypoint if plan.HasField("entrypoint") else None,
        accepts_commands=COMMANDS in declared,
        media_type=media_type,
    )
    draft.lowered += [
        bootstrappb.Lowered(
            feature=STEPS,
            field_path=f"plan.steps[{index}]",
            origin=step.command.origin,
            into=["os.files", "plan.entrypoint"],
        )
        for index, step in enumerate(plan.steps)
    ]
    plan.ClearField("steps")
    plan.entrypoint.CopyFrom(lowered.entrypoint)
    draft.bundle.os.files.extend(lowered.files)
    draft.passes.append(RUNNER)


def prepared_items(draft: Draft) -> list[planpb.Step | Wave]:
    """Give what the phase PREPARE consists of, in the order of the ranks: steps, and waves of staged entries."""
    items: list[planpb.Step | Wave] = []
    for rank in Rank:
        wave = _wave(draft, rank)
        if wave is not None:
            items.append(wave)
        for number, entry in enumerate(step for step in draft.prepared if step.rank == rank):
            suffix = f"-{number}" if number else ""
            step_id = f"{rank:02d}-{entry.name}{suffix}"
            items.append(planpb.Step(id=step_id, phase=planpb.PHASE_PREPARE, command=entry.command))
    return items


def _wave(draft: Draft, rank: Rank) -> Wave | None:
    entries: list[Any] = [staged.entry for staged in draft.staged if staged.rank == rank]
    if not entries:
        return None
    return Wave(
        id=f"{rank:02d}-install",
        directories=tuple(entry for entry in entries if isinstance(entry, ospb.Directory)),
        files=tuple(entry for entry in entries if isinstance(entry, ospb.File)),
        links=tuple(entry for entry in entries if isinstance(entry, ospb.Link)),
    )
