"""Controls that are for people, unless a spec itself has all that they demand: then they are checked, too."""

from dataclasses import replace

from slipway.bootstrapper.compliance.arguments import find_argument
from slipway.bootstrapper.compliance.kubelet import find_setting
from slipway.bootstrapper.compliance.profile import Argument, Control, Kubelet, Requirement
from slipway.bootstrapper.compliance.selection import Selection
from slipway.v1alpha1 import spec_pb2 as specpb


def chosen(selection: Selection, spec: specpb.MachineBootstrapSpec) -> Selection:
    """Give the same controls, of which each is either checked or for people."""
    met, waived = (
        {name: _settled(control, spec) for name, control in controls.items()}
        for controls in (selection.met, selection.waived)
    )
    return replace(selection, met=met, waived=waived)


def _settled(control: Control, spec: specpb.MachineBootstrapSpec) -> Control:
    if not control.manual or not control.requires:
        return control
    if all(_is_met(demand, spec) for demand in control.requires):
        return control.model_copy(update={"manual": ""})
    return control.model_copy(update={"requires": ()})


def _is_met(demand: Requirement, spec: specpb.MachineBootstrapSpec) -> bool:
    if isinstance(demand, Argument):
        written = find_argument(spec, demand.program, demand.argument)
        return written is not None and written[1] is not None and demand.accepts(written[1])
    if isinstance(demand, Kubelet):
        value = find_setting(spec, demand)
        return value is not None and demand.accepts(value)
    return False
