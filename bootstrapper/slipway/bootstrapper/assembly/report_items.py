"""Reports of a machine as ordinary items of a bundle: commands that start what sends them, one for each sink.

No provisioner and no pass knows of reports. The act that lowers steps sees by a command's origin that it comes before
all others: what fails while a machine is prepared is reported, too.
"""

from collections.abc import Iterable, Iterator

from slipway.bootstrapper.credentials.cluster_secrets import BOOTSTRAP_TOKEN, CLUSTER_CA
from slipway.bootstrapper.credentials.generation import CERTIFICATE, TOKEN
from slipway.bootstrapper.engines.endpoint import host_port
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.runners.step_data import MARKER, REPORT
from slipway.bootstrapper.lowering.windows import powershell
from slipway.bootstrapper.placeholders import PLACEHOLDER
from slipway.contract.content import literal
from slipway.contract.errors import SpecInvalid, UnsupportedTarget, Violation
from slipway.contract.grammars import grammars
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb

UNUSED_SINK = "REPORT_SINK_UNUSED"
"""Code of a warning: a machine that begins its cluster has no API server to report to."""

UNUSED_SINK_MESSAGE = (
    "is not used on the machine that begins the cluster: it has no API server to report to; its events go to the other "
    "sinks and to its console"
)

_WHEN = {
    specpb.REPORTED_LOGS_UNSPECIFIED: "failure",
    specpb.REPORTED_LOGS_ON_FAILURE: "failure",
    specpb.REPORTED_LOGS_ALWAYS: "always",
    specpb.REPORTED_LOGS_NEVER: "never",
}
_QUIET = b" >/dev/null 2>&1 || true\n"


def put_sink(reporting: specpb.Reporting) -> specpb.PutSink | None:
    """Give the sink that is written by HTTP, or None."""
    return next((sink.put for sink in reporting.sinks if sink.HasField("put")), None)


def cluster_sink_index(reporting: specpb.Reporting) -> int | None:
    """Give the place of the sink that is the cluster's API server, or None."""
    return next((index for index, sink in enumerate(reporting.sinks) if sink.HasField("workload_cluster")), None)


def check_reporting(reporting: specpb.Reporting, target: clusterpb.Target) -> None:
    """Refuse what has nothing that sends.

    Raises:
        UnsupportedTarget: the machine runs Windows, and is to report to the cluster's API server.
    """
    index = cluster_sink_index(reporting)
    if index is not None and target.os_family == clusterpb.OS_FAMILY_WINDOWS:
        wrong = Violation(
            f"spec.reporting.sinks[{index}].workloadCluster", "is not supported on Windows", remedy="use put"
        )
        raise UnsupportedTarget("reports to the cluster are not supported on Windows", violations=[wrong])


def check_addresses(reporting: specpb.Reporting, secrets: Iterable[secretpb.Secret]) -> None:
    """Refuse addresses that programs on the machine would read as something else: they stand in curl's configuration.

    Raises:
        SpecInvalid: an address is no URL of http or https; one line break may follow it, as in a file. No text holds
            the value.
    """
    known = {(secret.name, secret.key): secret.value for secret in secrets}
    path = reporting.origin.path or "spec.reporting"
    wrong = []
    for index, sink in enumerate(reporting.sinks):
        for field, reference in (("url", sink.put.url), ("logsUrl", sink.put.logs_url)):
            value = known.get((reference.name, reference.key), PLACEHOLDER)
            if value != PLACEHOLDER and not _is_address(value):
                problem = f"key {reference.key} of secret {reference.name} is not an absolute URL of http or https"
                remedy = "write the address alone, with other characters percent-encoded"
                wrong.append(Violation(f"{path}.sinks[{index}].put.{field}", problem, remedy=remedy))
    if wrong:
        raise SpecInvalid("the address of a report cannot be used", violations=wrong)


def _is_address(value: bytes) -> bool:
    text = value.removesuffix(b"\n").decode("ascii", errors="replace")
    return text.startswith(("http://", "https://")) and grammars()["url"].check(text)


def asks_for_events(spec: specpb.MachineBootstrapSpec) -> bool:
    """Whether a spec with literal commands, which have no events by themselves, wants them."""
    return spec.execution.literal_commands and bool(spec.reporting.sinks)


def add_reporting(
    bundle: bundlepb.BootstrapBundle,
    reporting: specpb.Reporting,
    *,
    has_evidence: bool = False,
    literal_events: bool = False,
    joins_by: clusterpb.Cluster | None = None,
) -> None:
    """Put the command that starts reporting into a neutral bundle, where the spec names a place to report to.

    The log bundle of a machine that makes evidence is sent in any case, unless the spec says when it is. With
    `literal_events` there is a command also where it names the console only: it asks for events.

    The machine that begins the cluster does not report to its API server, which it has still to make. One that joins by
    a bootstrap token of the cluster `joins_by` reports by that until its kubelet has a credential.
    """
    if cluster_sink_index(reporting) is not None and bundle.machine.role != clusterpb.ROLE_INIT:
        program = script([], programs=["report", "cluster_report"], functions=["clusterreport", "ended"])
        content = literal(program + b"clusterreport")
        if joins_by is not None:
            content.segments.extend(_credential(joins_by.endpoint))
        content.segments.append(contentpb.Segment(data=_QUIET))
        _insert(bundle, reporting, content)
    sink = put_sink(reporting)
    if sink is None and not literal_events:
        return
    if sink is None:
        origin = diagnosticpb.Origin()
        origin.CopyFrom(reporting.origin)
        origin.made_by.append(REPORT)
        bundle.commands.pre.insert(0, planpb.Command(argv=MARKER, origin=origin))
        return
    when = "always" if has_evidence and not reporting.logs else _WHEN[reporting.logs]
    if bundle.machine.target.os_family == clusterpb.OS_FAMILY_WINDOWS:
        _insert(bundle, reporting, _windows_content(sink, when))
        return
    program = script([], programs=["report"], functions=["report"])
    content = literal(program + f"report {when} ".encode())
    content.segments.append(_base64(sink.url))
    if sink.HasField("logs_url"):
        content.segments.append(contentpb.Segment(data=b" "))
        content.segments.append(_base64(sink.logs_url))
    content.segments.append(contentpb.Segment(data=_QUIET))
    _insert(bundle, reporting, content)


def _insert(bundle: bundlepb.BootstrapBundle, reporting: specpb.Reporting, content: contentpb.Content) -> None:
    origin = diagnosticpb.Origin()
    origin.CopyFrom(reporting.origin)
    origin.made_by.append(REPORT)
    bundle.commands.pre.insert(0, planpb.Command(script=content, origin=origin))


def _windows_content(sink: specpb.PutSink, when: str) -> contentpb.Content:
    """Give the script of Windows. Its own argument is empty in the runner, and "send" in the task that it makes."""
    program = powershell.script([], programs=["report"], functions=["Start-Report"])
    content = literal(program + f'Start-Report "$args" {when} \''.encode())
    content.segments.append(_base64(sink.url))
    if sink.HasField("logs_url"):
        content.segments.append(contentpb.Segment(data=b"' '"))
        content.segments.append(_base64(sink.logs_url))
    content.segments.append(contentpb.Segment(data=b"'\n"))
    return content


def _credential(endpoint: clusterpb.Endpoint) -> Iterator[contentpb.Segment]:
    for name, key in ((BOOTSTRAP_TOKEN, TOKEN), (CLUSTER_CA, CERTIFICATE)):
        yield contentpb.Segment(data=b" ")
        yield _base64(secretpb.SecretReference(name=name, key=key))
    yield contentpb.Segment(data=f" https://{host_port(endpoint)}".encode())


def joins_by_token(machine: clusterpb.Machine, secrets: Iterable[secretpb.Secret]) -> bool:
    """Whether a machine has the token of workers, and the cluster's authority, among its cluster's secrets."""
    known = {(secret.name, secret.key) for secret in secrets}
    return machine.role == clusterpb.ROLE_WORKER and known >= {(BOOTSTRAP_TOKEN, TOKEN), (CLUSTER_CA, CERTIFICATE)}


def _base64(reference: secretpb.SecretReference) -> contentpb.Segment:
    return contentpb.Segment(secret_ref=reference, encoding=contentpb.SPLICE_ENCODING_BASE64)
