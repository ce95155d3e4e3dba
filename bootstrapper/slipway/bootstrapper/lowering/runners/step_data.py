"""Version of the step data: what runners and machineadm execute.

It changes when an older machineadm would execute new step data wrongly. `plan.Format` of machineadm is the same number.
"""

from typing import Final

from slipway.v1alpha1 import plan_pb2 as planpb

STEP_DATA: Final = 1

HANDOVER: Final = "agent"
"""Name in the origin of the command behind which the runner hands over to machineadm."""

REPORT: Final = "report"
"""Name in the origin of the command that starts reporting: it comes before all others."""

MARKER: Final = ["true"]
"""What such a command runs where nothing is to be sent."""


def is_report(step: planpb.Step) -> bool:
    """Whether a step starts reporting."""
    return REPORT in step.command.origin.made_by


def is_marker(step: planpb.Step) -> bool:
    """Whether a step of reports sends none: it asks literal commands for events, and does nothing by itself."""
    return is_report(step) and list(step.command.argv) == MARKER


def is_handover(step: planpb.Step) -> bool:
    """Whether the runner may have to hand over behind a step."""
    return HANDOVER in step.command.origin.made_by
