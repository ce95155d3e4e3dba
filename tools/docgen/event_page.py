"""docs/reference/events.md: what a machine reports about its bootstrap, line by line."""

from google.protobuf.descriptor import EnumDescriptor

from slipway.bootstrapper.lowering.runners import linux_file, windows_file
from slipway.v1alpha1 import report_pb2 as reportpb
from tools.docgen.descriptors import PACKAGE, comment
from tools.docgen.markdown import code, page, paragraphs, prose, table
from tools.docgen.rule_texts import rules

_INTRODUCTION = """\
Both executors of steps, the [runner](../explanation/execution.md) and [machineadm](machineadm.md), write the same
events. `slipway diagnose` reads them out of a file or a console and prints the
[timeline](../how-to/diagnose-a-node.md) of the bootstrap."""

_PLACES = f"""\
| | Linux | Windows |
| --- | --- | --- |
| file | `{linux_file.ROOT}/events.jsonl`, 0600 | `{windows_file.ROOT}\\events.jsonl`, for Administrators and SYSTEM |
| console | `/dev/console` | `COM1` |

Each event is one line, the same in both. The file is appended to and never truncated; a power cut may leave
half a line, and the next event is behind it. An event that cannot be written changes nothing: the steps, their order,
their records and the exit code are the same. A console that does not take a line within nine seconds (five on Windows)
gets no further event from this run. The last event of a failed step is the first line of its failure record, too.

A status of the kubelet or of the container runtime is found in two seconds at most, without a login and without a tool
of either: the kubelet is asked on `127.0.0.1:10248`, by curl or wget on Linux, where one of them is there; a container
runtime runs where something listens on a socket called `containerd.sock`, `crio.sock` or `cri-dockerd.sock` in any
folder, or on the pipe `containerd-containerd` or `cri-dockerd`. That one of them does *not* run is reported only of a
machine that shows that it has it: by `/var/lib/kubelet`, `/run/containerd` or `/run/crio`
(`C:\\var\\lib\\kubelet`, `C:\\ProgramData\\containerd`). What listens at other places is not seen.

Nothing is reported while the system shuts down: a step that ends then may have a start and no end."""

_EXAMPLE = """\
```json
{"bundleId":"4f0c2f6a9d1be377","sequence":9,"time":"2026-01-02T03:04:05Z","hostname":"worker-1","executor":"EXECUTOR_SHELL","phase":"PHASE_BOOTSTRAP","step":"20-kubeadm","state":"EVENT_STATE_FAILED","exitCode":1,"reason":"CommandFailed"}
```"""

_READING = """\
`{"bundleId":` begins every event, with white space nowhere in the line. A reader searches for it, decodes the JSON
object that follows, and ignores what does not obey the rules above, events with another bundle id, and members and
values that it does not know. The kernel may write a message of its own in the middle of a line: leave out what is
between a time stamp such as `[   12.345678]` and the end of that line."""


def event_page() -> str:
    """Give the page."""
    descriptor = reportpb.BootstrapEvent.DESCRIPTOR
    fields = [[code(field.json_name), prose(comment(field.full_name)), rules(field)] for field in descriptor.fields]
    return page(
        "Events of a bootstrap",
        "proto/slipway/v1alpha1/report.proto",
        paragraphs(comment(descriptor.full_name)),
        _INTRODUCTION,
        "## Where they are\n\n" + _PLACES,
        "## Members\n\n" + table(["Member", "Meaning", "Rules"], fields),
        _EXAMPLE,
        "## States\n\n" + _values(reportpb.EventState.DESCRIPTOR),
        "## Executors\n\n" + _values(reportpb.Executor.DESCRIPTOR),
        "## Reading them\n\n" + _READING,
    )


def _values(enum: EnumDescriptor) -> str:
    rows = [[code(value.name), prose(comment(f"{PACKAGE}.{value.name}"))] for value in enum.values if value.number]
    return table(["Value", "Meaning"], rows)
