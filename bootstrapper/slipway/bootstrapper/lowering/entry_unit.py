"""Changes that a spec makes to the very service that bootstraps the machine.

People write a drop-in for it ("start after the agent that fetches the metadata"), by the name that it has had so far.
It is no unit of the machine like others: it belongs to the entry point, and only a target that runs the entry point as
a service can honour it.
"""

from collections.abc import Collection, Iterator

from slipway.bootstrapper.assembly.paths import UNIT_FOLDER, Owned
from slipway.bootstrapper.lowering.draft import Draft
from slipway.bootstrapper.lowering.runners.lower_steps import UNIT_NAME
from slipway.bootstrapper.problems.problem import Problem
from slipway.contract.items import items
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb

DROP_INS = "plan.entrypoint.drop_ins"


def entry_unit_name(bundle: bundlepb.BootstrapBundle) -> str:
    """Give the name that the entry point has, or will have, where the target runs it as a service."""
    return bundle.plan.entrypoint.unit_name or UNIT_NAME


def entry_unit_files(bundle: bundlepb.BootstrapBundle, declared: Collection[str]) -> Iterator[Owned]:
    """Give the files that the entry point's service is, where the target runs it as one."""
    entry = bundle.plan.entrypoint
    if DROP_INS not in declared or not (entry.argv or entry.commands):
        return
    path = f"{UNIT_FOLDER}/{entry_unit_name(bundle)}"
    yield Owned(path, "plan.entrypoint", entry.origin, append=False)
    for index, drop_in in enumerate(entry.drop_ins):
        yield Owned(f"{path}.d/{drop_in.name}", f"plan.entrypoint.drop_ins[{index}]", entry.origin, append=False)


def adopt_drop_ins(draft: Draft, declared: Collection[str]) -> Iterator[Problem]:
    """Move drop-ins for the entry point's service to the entry point; give what is not supported.

    Args:
        draft: the draft; such units leave its bundle.
        declared: ids of the features that the format takes.
    """
    if not draft.bundle.HasField("plan"):
        return
    name, entrypoint = entry_unit_name(draft.bundle), draft.bundle.plan.entrypoint
    for item in list(items(draft.bundle)):
        if item.feature != "os.systemd.units" or item.message.name != name:
            continue
        unit: ospb.SystemdUnit = item.take().message
        if unit.HasField("contents") or unit.masked or (unit.HasField("enabled") and not unit.enabled):
            reason = "the unit is the service that bootstraps the machine, and can only be added to"
            remedy = "write drop-ins in place of contents, masked and enabled"
            yield Problem(item.feature, item.path, reason, remedy, unit.origin)
        elif unit.drop_ins and DROP_INS not in declared:
            reason = "the first-boot system does not bootstrap the machine in a service of its own"
            remedy = "write a command of the phase pre in its place"
            yield Problem(item.feature, item.path, reason, remedy, unit.origin, other_formats=True)
        elif names := {entry.name for entry in unit.drop_ins} & {entry.name for entry in entrypoint.drop_ins}:
            reason = f"{len(names)} of its drop-ins have names that drop-ins of the entry point have, too"
            yield Problem(item.feature, item.path, reason, "give each drop-in a name of its own", unit.origin)
        else:
            entrypoint.drop_ins.extend(unit.drop_ins)
            draft.lowered.append(
                bootstrappb.Lowered(
                    feature=item.feature, field_path=item.path, origin=unit.origin, into=["plan.entrypoint"]
                )
            )
