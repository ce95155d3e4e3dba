"""Events of a bootstrap whose plan is literal command lines.

The user's own lines stay as they are, and so does what they leave for each other: no line is added between two of them,
as one may go on in the next. Only the line of the bootstrap gets something around it, in a group, so that it is one
command with the same exit status wherever it stands, and never ends a shell that its user has set to end at a failure.

The other literal form, one script that ends at the first failure, has no such line: it has no events.
"""

from collections.abc import Sequence

from slipway.bootstrapper.lowering.runners.linux_file import ROOT, RUN, root_file
from slipway.bootstrapper.lowering.runners.pieces import place
from slipway.bootstrapper.lowering.runners.program import program
from slipway.bootstrapper.lowering.runners.step_data import is_marker, is_report
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.contract.content import literal
from slipway.contract.errors import UnsupportedFeature, Violation
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb

EVENT_PROGRAM = f"{ROOT}/event"
_PROLOGUE = """\
exec </dev/null >/dev/null 2>&1
cd /
PATH=$PATH:/usr/sbin:/sbin:/opt/bin
umask 077
d={root}
r={run}
b={bundle_id}
mkdir -p $d $r
"""


def event_file(bundle_id: str) -> ospb.File:
    """Give the program that writes the events; `bundle_id` is one word."""
    runner = program("run.sh").decode("ascii")
    functions = runner[runner.index("say() {\n") : runner.index("e=0\n")]
    prologue = _PROLOGUE.format(root=ROOT, run=RUN, bundle_id=bundle_id)
    return root_file(EVENT_PROGRAM, literal((prologue + functions).encode() + program("event.sh")))


def with_events(line: str, step_id: str, *, before: Sequence[planpb.CommandLine] = ()) -> str:
    """Give the line of a step with events around it: one command, with the exit status of the line.

    Raises:
        UnsupportedFeature: the last of the lines before it goes on in it.
    """
    _check_end(before)
    write = f"/bin/sh {EVENT_PROGRAM} {step_id}"
    return f"{{ {write} && :; {line}; {write} $? && :; }}"


def without_events(items: Sequence[planpb.Step | Wave]) -> list[planpb.Step | Wave]:
    """Give the items of a plan for the form that has no events, without the request for some.

    Raises:
        UnsupportedFeature: reports are to be sent.
    """
    kept: list[planpb.Step | Wave] = []
    for item in items:
        if isinstance(item, Wave) or not is_report(item):
            kept.append(item)
        elif not is_marker(item):
            wrong = Violation(
                place(item.command.origin), "cannot be sent where literal commands are one script, which has no events",
                remedy="leave the sink out, or execution.literal_commands",
            )  # fmt: skip
            raise UnsupportedFeature(
                "the script of literal commands has no events to report", violations=[wrong],
                metadata={"features": "reporting"},
            )  # fmt: skip
    return kept


def _check_end(lines: Sequence[planpb.CommandLine]) -> None:
    """Check that the line of the bootstrap begins a command of its own: it may be in a list, but not in one command."""
    if lines and lines[-1].segments and lines[-1].segments[-1].text.endswith("\\"):
        wrong = Violation(
            place(lines[-1].origin), "must not end with a backslash where reporting asks for events: the line behind "
            "it is that of the bootstrap", remedy="leave out the backslash, or reporting.sinks",
        )  # fmt: skip
        raise UnsupportedFeature(
            "events need a line of their own", violations=[wrong], metadata={"features": "reporting"}
        )
