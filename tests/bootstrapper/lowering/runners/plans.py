"""Short ways to write plans, for tests."""

from collections.abc import Sequence
from typing import Any

from slipway.bootstrapper.lowering.runners.lower_steps import LoweredSteps, lower_steps
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.contract.content import literal
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import plan_pb2 as planpb

PREPARE, PRE = planpb.PHASE_PREPARE, planpb.PHASE_PRE
BOOTSTRAP, POST = planpb.PHASE_BOOTSTRAP, planpb.PHASE_POST
SENTINEL = "/run/cluster-api/bootstrap-success.complete"
STATE = "/var/lib/slipway/state/bundle-1"


def script(step_id: str, text: str, phase: planpb.Phase.ValueType = BOOTSTRAP, **more: Any) -> planpb.Step:
    """Give a step that runs shell text."""
    command = planpb.Command(script=literal(text.encode()), **more)
    return planpb.Step(id=step_id, phase=phase, command=command)


def program(step_id: str, *argv: str, phase: planpb.Phase.ValueType = BOOTSTRAP, **more: Any) -> planpb.Step:
    """Give a step that runs a program."""
    return planpb.Step(id=step_id, phase=phase, command=planpb.Command(argv=argv, **more))


def note(step_id: str, phase: planpb.Phase.ValueType = BOOTSTRAP, **more: Any) -> planpb.Step:
    """Give a step that writes down that it ran."""
    return script(step_id, f"echo {step_id} >>/ran\n", phase, **more)


def linux(infrastructure: str = "metal") -> clusterpb.Target:
    """Give a Linux machine as target."""
    return clusterpb.Target(os_family=clusterpb.OS_FAMILY_LINUX, infrastructure=infrastructure)


def windows(infrastructure: str = "azure") -> clusterpb.Target:
    """Give a Windows machine as target."""
    return clusterpb.Target(os_family=clusterpb.OS_FAMILY_WINDOWS, infrastructure=infrastructure)


def lowered(
    items: Sequence[planpb.Step | Wave], policy: planpb.ExecutionPolicy | None = None, *, infrastructure: str = "metal"
) -> LoweredSteps:
    """Lower a plan for a Linux machine; that of an imported config has the name of its unit."""
    unit = planpb.EntryPoint(unit_name="kubeadm.service") if policy and policy.literal_commands else None
    return lower_steps(items, bundle_id="bundle-1", target=linux(infrastructure), policy=policy, entrypoint=unit)


def fact(kind: contentpb.FactKind.ValueType, encoding: contentpb.SpliceEncoding.ValueType = 0) -> contentpb.Segment:
    """Give a segment that is a machine fact."""
    return contentpb.Segment(fact=contentpb.MachineFact(kind=kind), encoding=encoding)


def text(value: str) -> contentpb.Segment:
    """Give a segment of literal text."""
    return contentpb.Segment(data=value.encode())
