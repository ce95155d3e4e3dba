"""Events of a bootstrap whose plan is literal command lines.

The user's own lines stay as they are, and so does what they leave for each other: no line is added between two of them,
as one may go on in the next. Only the line of the bootstrap gets something around it, in a group, so that it is one
command with the same exit status wherever it stands, and never ends a shell that its user has set to end at a failure.

The other literal form is one script, which ends at the first failure. It stays as it is: its unit gets a drop-in that
writes the events before and behind it, so that a failure of any of its lines is reported.
"""

from collections.abc import Sequence

from slipway.bootstrapper.lowering.program_text import program
from slipway.bootstrapper.lowering.runners.linux_file import ROOT, RUN, root_file
from slipway.bootstrapper.lowering.runners.pieces import place
from slipway.bootstrapper.lowering.runners.step_data import is_marker
from slipway.bootstrapper.lowering.runners.step_script import step_path
from slipway.contract.content import literal
from slipway.contract.errors import UnsupportedFeature, Violation
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb

EVENT_PROGRAM = f"{ROOT}/event"
DROP_IN = "50-slipway-report.conf"
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


def event_file(bundle_id: str, source: str) -> ospb.File:
    """Give the program that writes the events; `bundle_id` is one word, `source` names what stands behind run.sh."""
    runner = program("run.sh").decode("ascii")
    functions = runner[runner.index("say() {\n") : runner.index("e=0\n")]
    prologue = _PROLOGUE.format(root=ROOT, run=RUN, bundle_id=bundle_id)
    return root_file(EVENT_PROGRAM, literal((prologue + functions).encode() + program(source)))


def with_events(line: str, step_id: str, *, before: Sequence[planpb.CommandLine] = ()) -> str:
    """Give the line of a step with events around it: one command, with the exit status of the line.

    Raises:
        UnsupportedFeature: the last of the lines before it goes on in it.
    """
    _check_end(before)
    write = f"/bin/sh {EVENT_PROGRAM} {step_id}"
    return f"{{ {write} && :; {line}; {write} $? && :; }}"


def report_drop_in(reports: Sequence[planpb.Step], step_id: str) -> ospb.SystemdDropIn:
    """Give what starts reports and writes events around the unit of the one script; `step_id` "" for no events.

    A unit that has no success of its own, since systemd keeps it active, says so behind its script; its failure is an
    end of the unit, as is a stop at the system's end.
    """
    starts = [f"ExecStartPre=-/bin/sh {step_path(step.id)}" for step in reports if not is_marker(step)]
    write = f"/bin/sh {EVENT_PROGRAM} {step_id}"
    events = [f"ExecStartPre=-{write}", f"ExecStartPost=-{write} done", f"ExecStopPost=-{write} stopped"]
    lines = ["[Service]", *starts, *(events if step_id else [])]
    return ospb.SystemdDropIn(name=DROP_IN, contents="".join(f"{line}\n" for line in lines))


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
