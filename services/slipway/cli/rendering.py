"""`slipway render`: whom to ask for which format, and the account of what came."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

import click

from slipway.bootstrapper.assembly.paths import describe
from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.bootstrapper.problems.places import person_field, spec_path
from slipway.bootstrapper.provisioning.selection import all_candidates, choose
from slipway.bootstrapper.provisioning.wish import Wish
from slipway.bootstrapper.target import stated
from slipway.cli.backend import Backend
from slipway.cli.remedies import what_to_do
from slipway.contract.errors import SlipwayError
from slipway.contract.source_position import did_you_mean
from slipway.contract.yaml_names import enum_word
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb

ALL = "all"
_REFUSED = {"FAILED_PRECONDITION", "INVALID_ARGUMENT", "PERMISSION_DENIED", "NOT_FOUND"}


@dataclass(slots=True)
class Entry:
    """One machine by one provisioner in one format. The fields are those of summary.json."""

    machine: str
    role: str
    provisioner: str
    provisioner_version: str = ""
    format: str = ""
    bundle_id: str = ""
    status: str = "failed"
    file: str = ""
    bytes: int = 0
    gzip_bytes: int = 0
    sha256: str = ""
    milliseconds: float = 0.0
    lowered: list[dict[str, object]] = field(default_factory=list)
    payload_file: str = ""
    payload_url: str = ""
    diagnostics: list[dict[str, str]] = field(default_factory=list)
    refusals: list[dict[str, str]] = field(default_factory=list)

    def tree(self) -> dict[str, object]:
        """Give the entry as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Rendered:
    """What came of one question."""

    entry: Entry
    answer: bootstrappb.GetUserDataResponse | None


def wishes(
    instances: Sequence[registrypb.ProvisionerInstance], provisioner: str, format_id: str
) -> Iterator[tuple[str, str]]:
    """Give the pairs of provisioner and format to ask for; empty texts leave the choice to the spec.

    The provisioner "all" means everyone who is ready, in the default format; the format "all" means each format of
    the provisioner, or of everyone.

    Args:
        instances: all that is known; empty when no registry is known.
        provisioner: name, "all" or "".
        format_id: format, "all" or "".

    Raises:
        click.UsageError: no provisioner has the name, or serves the format.
    """
    if instances:
        _check_known(instances, provisioner, format_id)
    if ALL not in {provisioner, format_id}:
        yield provisioner, format_id
        return
    seen = set()
    for candidate in all_candidates(instances, allowed=None):
        if provisioner not in {"", ALL, candidate.name}:
            continue
        wanted = format_id in {ALL, candidate.format.format} if format_id else candidate.name not in seen
        if wanted:
            seen.add(candidate.name)
            yield candidate.name, candidate.format.format if format_id else ""


def check_provisioner(instances: Sequence[registrypb.ProvisionerInstance], name: str) -> None:
    """Check that a provisioner has the name.

    Raises:
        click.UsageError: none has; it suggests a name, also where the name is that of a format.
    """
    names = sorted({instance.info.name for instance in instances})
    if name in names:
        return
    for instance in instances:
        for info in instance.info.formats:
            if name in {info.format, info.format.partition("/")[0]}:
                raise click.UsageError(f"{name} is a format, not a provisioner; did you mean {instance.info.name}?")
    raise click.UsageError(f"no provisioner {name}; {_hint(name, names)}")


def _check_known(instances: Sequence[registrypb.ProvisionerInstance], provisioner: str, format_id: str) -> None:
    if provisioner not in {"", ALL}:
        check_provisioner(instances, provisioner)
    served = {
        info.format
        for instance in instances
        if provisioner in {"", ALL, instance.info.name}
        for info in instance.info.formats
    }
    if format_id not in {"", ALL, *served}:
        own = {
            info.format for instance in instances if instance.info.name == format_id for info in instance.info.formats
        }
        if own:
            raise click.UsageError(f"{format_id} is a provisioner; its formats are {', '.join(sorted(own))}")
        whose = f"provisioner {provisioner}" if provisioner not in {"", ALL} else "every provisioner"
        raise click.UsageError(f"format {format_id} is unknown to {whose}; {_hint(format_id, sorted(served))}")


def _hint(word: str, known: Sequence[str]) -> str:
    meant = did_you_mean(word, known)
    return f"did you mean {meant}?" if meant else f"there are {', '.join(known)}"


async def ask(  # noqa: PLR0913  # the options of the commands that render
    backend: Backend,
    question: MachineQuestion,
    provisioner: str,
    format_id: str,
    *,
    instances: Sequence[registrypb.ProvisionerInstance] = (),
    accept_attachments: bool = True,
) -> Rendered:
    """Ask for a machine's user data; a refusal or a failure becomes part of the entry."""
    subject = bootstrappb.Subject()
    subject.CopyFrom(question.subject)
    if provisioner:
        subject.spec.provisioner.name = provisioner
        subject.spec.provisioner.ClearField("version")
        subject.spec.provisioner.ClearField("format")
    if format_id:
        subject.spec.provisioner.format = format_id
    entry = Entry(question.name, role_name(question.subject.machine.role), provisioner, format=format_id)
    entry.diagnostics = [diagnostic_tree(diagnostic) for diagnostic in question.diagnostics]
    _foretell(entry, subject, instances)
    request = bootstrappb.GetUserDataRequest(
        subject=subject, credentials=question.secrets, accept_attachments=accept_attachments, accept_gzip=True
    )
    started = time.perf_counter()
    try:
        answer = await backend.user_data(request)
    except SlipwayError as error:
        _refused(entry, question, error)
        return Rendered(entry, None)
    finally:
        entry.milliseconds = round((time.perf_counter() - started) * 1000, 2)
    _answered(entry, answer)
    for diagnostic in entry.diagnostics:
        diagnostic["field"] = question.as_written(diagnostic["field"])
    return Rendered(entry, answer)


def role_name(role: clusterpb.Role.ValueType) -> str:
    """Give a role for people: "control-plane"."""
    return enum_word(clusterpb.Role.DESCRIPTOR, role)


def complete(entries: Sequence[Entry]) -> bool:
    """Return whether every machine got user data from at least one provisioner."""
    machines = {entry.machine for entry in entries}
    return bool(machines) and machines == {entry.machine for entry in entries if entry.status == "rendered"}


def diagnostic_tree(diagnostic: diagnosticpb.Diagnostic) -> dict[str, str]:
    """Give a diagnostic as plain data."""
    return {
        "severity": enum_word(diagnosticpb.Severity.DESCRIPTOR, diagnostic.severity),
        "code": diagnostic.code,
        "message": diagnostic.message,
        "field": describe(diagnostic.origin)
        if diagnostic.origin.path
        else spec_path(diagnostic.field_path.removeprefix("bundle.")),
    }


def _foretell(entry: Entry, subject: bootstrappb.Subject, instances: Sequence[registrypb.ProvisionerInstance]) -> None:
    """Say who will be chosen, so that a refusal names its format and version too."""
    try:
        target = stated(subject.spec.target, subject.machine.target)
        chosen = choose(instances, Wish.of(subject.spec, target), allowed=None)
    except SlipwayError:
        return
    entry.provisioner, entry.provisioner_version, entry.format = chosen.name, chosen.version, chosen.format.format


def _answered(entry: Entry, answer: bootstrappb.GetUserDataResponse) -> None:
    entry.provisioner, entry.provisioner_version = answer.provisioner.name, answer.provisioner.version
    entry.format, entry.bundle_id, entry.status = answer.format, answer.bundle_id, "rendered"
    entry.bytes, entry.gzip_bytes = answer.size.raw_bytes, answer.size.gzip_bytes
    entry.sha256 = answer.sha256.hex()
    entry.payload_url = next((attachment.url for attachment in answer.attachments if attachment.url), "")
    entry.lowered = [
        {"field": describe(element.origin), "feature": element.feature, "into": list(element.into)}
        for element in answer.lowered
    ]
    entry.diagnostics += [diagnostic_tree(diagnostic) for diagnostic in answer.diagnostics]


def _refused(entry: Entry, question: MachineQuestion, error: SlipwayError) -> None:
    entry.status = "refused" if error.code.name in _REFUSED else "failed"
    subject = question.subject
    entry.refusals = [
        {
            "field": question.as_written(person_field(violation.path)),
            "feature": violation.feature or error.reason,
            "reason": violation.description,
            "remedy": what_to_do(error, subject, violation, written=question.written),
        }
        for violation in error.violations
    ] or [{"field": "", "feature": error.reason, "reason": error.message, "remedy": what_to_do(error, subject)}]
