"""What results from a problem: the texts that people read, and the data that programs read in place of them."""

from slipway.bootstrapper.problems.conversion import diagnostic, locate, omission, unsupported_feature
from slipway.bootstrapper.problems.problem import Problem, Severity, in_order
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.contract.errors import SlipwayError
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import spec_pb2 as specpb

ORIGIN = diagnosticpb.Origin(document="SlipwayConfig/a", path="spec.os.users[0]")
UID = Problem(
    "os.users",
    "os.users[0]",
    "is not supported",
    "leave out uid",
    ORIGIN,
    field="uid",
    part="os.users.uid",
    alternative=", or choose talos, which takes it",
)


def test_an_error_keeps_the_parts_of_its_problems() -> None:
    """People have one sentence; the words of documents are chosen by the parts, which do not cross the wire."""
    format_ = provisionerpb.FormatInfo(format="cloud-config")
    error = unsupported_feature([UID], Candidate("cloud-init", "1.0.0", format_, ()))
    (violation,) = error.violations
    assert (violation.path, violation.description) == ("SlipwayConfig/a: spec.os.users[0]", "uid is not supported")
    assert violation.remedy == "leave out uid, or choose talos, which takes it"
    assert (violation.inner, violation.part) == ("uid", "os.users.uid")
    assert violation.remedy.endswith(violation.alternative)
    (read,) = SlipwayError.from_status(error.to_status()).violations
    assert (read, read.inner, read.part, read.alternative) == (violation, "", "", "")


def test_a_line_of_the_entry_point_is_the_command_that_it_was_made_of() -> None:
    """The entry point itself is in no document."""
    bundle = bundlepb.BootstrapBundle()
    bundle.plan.entrypoint.origin.path = "md"
    bundle.plan.entrypoint.commands.add().origin.path = "spec.preKubeadmCommands[0]"
    (located,) = locate(
        [Problem("plan.entrypoint.commands", "plan.entrypoint.commands[0]", "is wrong", "change it")], bundle
    )
    assert located.origin.path == "spec.preKubeadmCommands[0]"


def test_an_omission_is_a_warning_of_the_same_place() -> None:
    """It says that the spec allows it, why, and what to do."""
    made = diagnostic(omission(UID, specpb.MachineBootstrapSpec()))
    assert (made.severity, made.code) == (diagnosticpb.SEVERITY_WARNING, "OPTIONAL_FEATURE_OMITTED")
    assert (made.field_path, made.origin) == (UID.path, ORIGIN)
    assert made.message == (
        "os.users was left out, as spec.optionalFeatures allows: uid is not supported. "
        "Leave out uid, or choose talos, which takes it"
    )


def test_only_the_sentence_of_an_error_begins_with_the_field() -> None:
    """An engine's warning is a sentence by itself; both have the origin of the item."""
    bundle = bundlepb.BootstrapBundle()
    bundle.os.users.add(name="a", origin=ORIGIN)
    path = "os.users[0].lock_password"
    error = Problem("os.users", path, "is not liked", "leave it out")
    warning = Problem("", path, "The password is not liked", severity=Severity.WARNING)
    located = list(locate([error, warning], bundle))
    assert [problem.reason for problem in located] == ["lockPassword is not liked", "The password is not liked"]
    assert [problem.origin for problem in located] == [ORIGIN, ORIGIN]


def test_problems_of_the_machine_come_first_and_each_once() -> None:
    """Whatever a spec says, the machine has to be another one first."""
    machine = Problem("kubernetes.version", "intent.kubernetes_version", "is too old", "choose another")
    assert in_order([UID, machine, UID]) == [machine, UID]
