"""Checks what a bootstrap provider asks with a plan of its own: an operating system and steps, without a cluster."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from slipway.bootstrapper.assembly import content_rules, paths, structure
from slipway.bootstrapper.assembly.layers import Layers, with_origins
from slipway.bootstrapper.assembly.membership import complete_membership, membership_violations
from slipway.bootstrapper.assembly.overrides import fill_defaults
from slipway.bootstrapper.assembly.subject import CheckedSubject, field_name, joining_warnings
from slipway.bootstrapper.assembly.subject_rules import check_lists, path_violations
from slipway.bootstrapper.field_index import item_index
from slipway.contract import validation
from slipway.contract.errors import SpecInvalid, Violation
from slipway.contract.grammars import absolute_path
from slipway.contract.items import items
from slipway.contract.unknown import unknown_fields
from slipway.contract.validation import internal_fields
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import provisioning_service_pb2 as provisioningpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb

ANY_MACHINE = "machine"
"""Name of a machine that stands for any, in a question that names none."""

_OURS = re.compile(r"(pre|post|\d\d)-.*|entrypoint")
"""Ids of the steps that lowering puts around a plan."""

_SHARED = ("provisioner", "target", "os", "commands", "execution")
"""Fields that a spec of either kind has in common, besides the lists."""


def check_provision(request: provisioningpb.ProvisionRequest) -> CheckedSubject:
    """Check a request, and give the machine that it is about.

    Raises:
        SpecInvalid: with every rule that is broken, by the request's own field paths.
    """
    machine = clusterpb.Machine(name=request.machine_name)
    if request.HasField("machine_uid"):
        machine.uid = request.machine_uid
    rules = validation.bounded(chain(validation.violations(request), _foreign(request)))
    check_lists("the request is not valid", rules)
    spec = _named(request.spec)
    violations = [*rules, *validation.bounded(_further(request, spec, machine))]
    if not violations:
        merged = [*paths.reserved(spec.os), *path_violations(spec)]
        violations += [replace(violation, path=f"spec.{violation.path}") for violation in merged]
    if violations:
        index = item_index(spec)
        raise SpecInvalid(
            "the request is not valid",
            violations=[replace(violation, path=field_name(index, violation.path)) for violation in violations],
        )
    layers, plan = Layers(spec, machine.role), _plan_with_origins(request)
    return CheckedSubject(spec, clusterpb.Cluster(), machine, layers, plan, tuple(joining_warnings(spec)))


def _foreign(request: provisioningpb.ProvisionRequest) -> Iterator[Violation]:
    """Find what is not the caller's to say: fields of a younger contract, and those that Slipway fills in."""
    for violation in chain(unknown_fields(request, path="request"), internal_fields(request, path="request")):
        yield replace(violation, path=violation.path.removeprefix("request."))


def _further(
    request: provisioningpb.ProvisionRequest, spec: specpb.MachineBootstrapSpec, machine: clusterpb.Machine
) -> Iterator[Violation]:
    """Find what takes more than one field to decide; `spec` is then complete."""
    for violation in chain(structure.violations(spec), _plan(request.spec.plan)):
        yield replace(violation, path=f"spec.{violation.path}")
    if request.spec.execution.literal_commands:
        yield Violation("spec.execution.literal_commands", "must be unset", remedy="leave it out")
    yield from _secrets(request.secrets)
    complete_membership(spec, machine.name)
    yield from membership_violations(spec, machine.name)


def _named(spec: provisioningpb.ProvisioningSpec) -> specpb.MachineBootstrapSpec:
    """Give the part of a request that a spec of Slipway's own has, too, each item with its place."""
    shared = specpb.MachineBootstrapSpec(extensions=spec.extensions, optional_features=spec.optional_features)
    for field, value in spec.ListFields():
        if field.name in _SHARED:
            getattr(shared, field.name).CopyFrom(value)
    if shared.HasField("os"):
        fill_defaults(shared.os)
    for item in items(shared):
        item.message.ClearField("origin")  # The caller's is refused, and names nothing.
    return with_origins(shared)


def _plan_with_origins(request: provisioningpb.ProvisionRequest) -> planpb.Plan:
    plan = planpb.Plan()
    plan.CopyFrom(request.spec.plan)
    for index, step in enumerate(plan.steps):
        step.origin.path = step.command.origin.path = f"spec.plan.steps[{index}]"
    if plan.HasField("entrypoint"):
        plan.entrypoint.origin.path = "spec.plan.entrypoint"
    return plan


def _plan(plan: planpb.Plan) -> Iterator[Violation]:
    yield from content_rules.violations(plan, "plan")
    yield from content_rules.nul_violations(plan, "plan")
    if bool(plan.steps) == bool(plan.entrypoint.argv):
        yield Violation(
            "plan", "must have exactly one of steps and entrypoint.argv", remedy="set one of them, and no other"
        )
    seen: dict[str, int] = {}
    latest = planpb.PHASE_UNSPECIFIED
    for index, step in enumerate(plan.steps):
        where = f"plan.steps[{index}]"
        yield from structure.command_violations(step.command, f"{where}.command")
        earlier = seen.setdefault(step.id, index)
        if earlier != index:
            yield Violation(
                f"{where}.id", f"is the id of spec.plan.steps[{earlier}], too", remedy="give each an id of its own"
            )
        if _OURS.fullmatch(step.id):
            yield Violation(
                f"{where}.id", 'must not be "entrypoint", nor begin with "pre-", "post-" or two digits and a dash'
            )
        if step.phase < latest:
            yield Violation(f"{where}.phase", "must not come before that of the step in front of it")
        latest = max(latest, step.phase)
    if plan.entrypoint.commands:
        yield Violation("plan.entrypoint.commands", "is not allowed here", remedy="use steps")
    if plan.entrypoint.HasField("execution"):
        yield Violation("plan.entrypoint.execution", "is not allowed here", remedy="leave it out")
    program = plan.entrypoint.argv[0] if plan.entrypoint.argv else ""
    if plan.entrypoint.argv and (not program or program.startswith("-")):
        yield Violation("plan.entrypoint.argv[0]", "must be the name of a program")
    elif ("/" in program or "\\" in program) and not absolute_path(program):
        remedy = "write the whole path, or the name alone"
        yield Violation("plan.entrypoint.argv[0]", "must be an absolute path, or a name without a slash", remedy=remedy)


def _secrets(material: secretpb.SecretMaterial) -> Iterator[Violation]:
    """Find secrets that no caller may bring: those whose names are Slipway's or a provisioner's."""
    seen: dict[tuple[str, str], int] = {}
    for index, secret in enumerate(material.secrets):
        where = f"secrets.secrets[{index}]"
        if not secret.name or "/" in secret.name:
            yield Violation(f"{where}.name", "must be a name without a slash")
        if not secret.key:
            yield Violation(f"{where}.key", "is required", remedy="set it")
        if secret.kind not in {secretpb.SECRET_KIND_UNSPECIFIED, secretpb.SECRET_KIND_OPAQUE}:
            yield Violation(f"{where}.kind", "must be unset or Opaque", remedy="leave it out")
        earlier = seen.setdefault((secret.name, secret.key), index)
        if earlier != index:
            yield Violation(
                where, f"has the name and key of secrets.secrets[{earlier}]", remedy="leave out one of them"
            )
