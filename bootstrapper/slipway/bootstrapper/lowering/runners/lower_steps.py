"""Steps lowered to files and one entry point: what makes "put these files there, then run this once" enough.

The promises, the same on every operating system:

* The phases PREPARE, PRE, BOOTSTRAP and POST run in this order. The first failing step stops the run. The
  success sentinel is written last, by the runner, and only if everything succeeded. It is never touched by a
  failure.
* Start and end of each step, each retry and the success are events (`BootstrapEvent` of the contract): a line
  of JSON each, in a file for root only and on the serial console, never with output. An event that cannot be
  written changes nothing. So is the status of the kubelet and of the container runtime, at the end of the phase
  BOOTSTRAP and at a failure, which two seconds must be enough for.
* A failure leaves a record of its own, for root only: the line of its event, and the last 4096 bytes of the
  step's output, unless the step says `redact_output`.
* One run at a time. State is kept by bundle id: a started-again runner goes on at the first step that is not
  done, never repeats a finished one, writes the sentinel again where a reboot has taken it away, and ends
  with 0 when all is done. A step that was running when the machine lost power, or when the runner was killed,
  runs again: a step must bear that. So does one that fails while the machine shuts down in order, since its
  services were taken away; and no step starts then, nor is one with `retries` tried again.
* A failed step is final, unless it says `retry_on_boot`: then the next boot tries it again.
* A step with `reboot` is marked as done, then the machine reboots. Only with such steps is anything set up
  that starts the runner on later boots; otherwise that is the business of what started it first.
* An imported config keeps its own policy: phases whose failure does not stop, and the time of the sentinel. A
  failure of the phase BOOTSTRAP keeps the sentinel from being written even then.

Pure: equal input, equal output.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from slipway.bootstrapper.lowering.facts import facts_step
from slipway.bootstrapper.lowering.runners import linux_plan, windows_plan
from slipway.bootstrapper.lowering.runners.literal_commands import as_commands, as_script
from slipway.bootstrapper.lowering.runners.run_order import FailureRules, check_bundle_id
from slipway.bootstrapper.lowering.runners.wave import Wave, facts_of
from slipway.contract.errors import UnsupportedTarget, Violation
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb

UNIT_NAME = "slipway-bootstrap.service"


@dataclass(frozen=True)
class LoweredSteps:
    """What steps have become.

    Attributes:
        files: in the order in which they are to be written; owner, group, mode and content are set in each.
        entrypoint: what to start at first boot.
    """

    files: tuple[ospb.File, ...]
    entrypoint: planpb.EntryPoint


def lower_steps(  # noqa: PLR0913  # each is a fact of its own; none has a natural owner
    items: Sequence[planpb.Step | Wave],
    *,
    bundle_id: str,
    target: clusterpb.Target,
    policy: planpb.ExecutionPolicy | None = None,
    entrypoint: planpb.EntryPoint | None = None,
    accepts_commands: bool = False,
    media_type: str = "",
) -> LoweredSteps:
    """Lower steps, and waves of items that the runner installs, to files and an entry point.

    Args:
        items: in order; they are sorted by phase, and the order within a phase stays. A wave belongs to
            PREPARE. What finds machine facts is added in front when a wave or a script needs some.
        bundle_id: the machine keeps its state under it.
        target: of the machine, with family and (for machine facts) infrastructure.
        policy: of an imported config; unset fields are those of a native spec.
        entrypoint: what the plan has said of it so far; name, `after_units` and drop-ins are kept.
        accepts_commands: the provisioner declares "plan.entrypoint.commands".
        media_type: of the user data; what reads them may be asked for machine facts.

    Raises:
        BundleInvalid: an id, a phase, a command or a path cannot be used.
        UnsupportedFeature: a fact has no source, an interpreter is missing, text of an extension is left.
        UnsupportedTarget: there is no runner for the family of operating systems.
    """
    rules = FailureRules(policy or planpb.ExecutionPolicy())
    check_bundle_id(bundle_id)
    kinds = frozenset().union(
        *(item.facts if isinstance(item, Wave) else facts_of(item.command.script) for item in items)
    )
    imported = rules.policy.literal_commands
    whole = [facts_step(kinds, target, media_type=media_type, imported=imported), *items] if kinds else list(items)
    result = planpb.EntryPoint()
    if entrypoint is not None:
        result.CopyFrom(entrypoint)
    result.unit_name = result.unit_name or UNIT_NAME
    if target.os_family == clusterpb.OS_FAMILY_WINDOWS:
        files = tuple(windows_plan.windows_files(bundle_id=bundle_id, items=whole, rules=rules))
        return LoweredSteps(files, _runner(result, windows_plan.ARGV))
    if target.os_family != clusterpb.OS_FAMILY_LINUX:
        raise UnsupportedTarget(
            "steps can be run on Linux and Windows only",
            violations=[
                Violation("target.os_family", "must be a family that has a runner", remedy="choose Linux or Windows")
            ],
            metadata={"supported": "linux,windows"},
        )
    if rules.policy.literal_commands:
        lowered = (as_commands if accepts_commands else as_script)(
            whole, bundle_id=bundle_id, rules=rules, entrypoint=result
        )
        if lowered is not None:
            return LoweredSteps(*lowered)
    files = tuple(linux_plan.linux_files(bundle_id=bundle_id, items=whole, rules=rules))
    return LoweredSteps(files, _runner(result, linux_plan.ARGV))


def _runner(entrypoint: planpb.EntryPoint, argv: Sequence[str]) -> planpb.EntryPoint:
    entrypoint.argv[:] = argv
    entrypoint.execution = planpb.EXECUTION_RUNNER
    del entrypoint.commands[:]
    return entrypoint
