"""The contract's rules for the parts of a question, each checked by itself."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from slipway.bootstrapper.assembly import paths
from slipway.contract import validation
from slipway.contract.errors import BundleInvalid, SpecInvalid, Violation
from slipway.contract.unknown import unknown_fields
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb


def check_lists(message: str, violations: Iterable[Violation]) -> None:
    """Go on where no list is too long: what compares the entries of a list takes the square of their number.

    Raises:
        SpecInvalid: with the lists.
    """
    lists = [violation for violation in violations if isinstance(violation, validation.TooMany)]
    if lists:
        raise SpecInvalid(message, violations=[replace(each, path=person_path(each.path)) for each in lists])


def check_credentials(credentials: secretpb.SecretMaterial) -> None:
    """Check the secrets that come with a question, by the contract's rules.

    Raises:
        BundleInvalid: they break some.
    """
    broken = validation.bounded(validation.violations(credentials, path="credentials"))
    if broken:
        violations = [replace(violation, path=person_path(violation.path)) for violation in broken]
        raise BundleInvalid("the credentials of the request are not valid", violations=violations)


def machine_violations(machine: clusterpb.Machine) -> list[Violation]:
    """Give the contract's rules that a machine breaks by itself."""
    return validation.bounded(
        chain(validation.violations(machine, path="machine"), unknown_fields(machine, path="machine"))
    )


def rule_violations(spec: specpb.MachineBootstrapSpec, *, path: str = "spec") -> list[Violation]:
    """Give the contract's rules that a spec breaks.

    Texts of an imported spec that is bound to its format need fit no grammar yet: a command of the config completes
    them on the machine, in a file whose place it knows.
    """
    return validation.bounded(
        violation
        for violation in validation.violations(spec, path=path)
        if not (spec.imported.bound_by and violation.path.endswith(".segments"))
    )


def path_violations(spec: specpb.MachineBootstrapSpec) -> Iterator[Violation]:
    """Give every path of a spec that two items claim, or that lies in a file.

    Of an imported config units do not count here: today's provider accepts a file with the path of one, which has no
    effect where the unit is written after it.
    """
    units = not spec.imported.HasField("kind")
    for earlier, later in paths.collisions(spec.os, units=units):
        message = f"claims the same path as {paths.describe(earlier.origin)}"
        yield Violation(later.where, message, remedy="leave the path to one of them")
    for file, inner in paths.beneath_files(spec.os, units=units):
        message = f"lies in {paths.describe(file.origin)}, which is a file and cannot be a folder"
        yield Violation(inner.where, message, remedy="choose a path outside the file's")
