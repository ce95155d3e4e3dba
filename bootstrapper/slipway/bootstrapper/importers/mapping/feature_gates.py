"""The feature gate that KubeadmControlPlane adds to kubeadm's."""

import re
from collections.abc import Mapping

from slipway.bootstrapper.importers.mapping.context import Context
from slipway.bootstrapper.importers.mapping.place import Place
from slipway.v1alpha1 import spec_pb2 as specpb

_LOCAL_MODE = "ControlPlaneKubeletLocalMode"
_LOCAL_MODE_MINORS = range(31, 36)
_FEATURE = "engine_options.kubeadm"
_VERSION = re.compile(r"v?1\.(\d{1,4})\.")


def set_local_mode(
    context: Context, place: Place, own_gates: Mapping[str, bool], spec: specpb.MachineBootstrapSpec
) -> None:
    """Switch on ControlPlaneKubeletLocalMode for 1.31 to 1.35, as KubeadmControlPlane does.

    Args:
        context: knows the version of the control plane.
        place: that of the whole config.
        own_gates: what the config itself sets.
        spec: gets the gate, which may be left out where no kubeadm runs.
    """
    match = _VERSION.match(context.control_plane_version)
    if not match or int(match[1]) not in _LOCAL_MODE_MINORS:
        return
    options = spec.engine_options.kubeadm
    gates = options.feature_gates
    if all(gate.name != _LOCAL_MODE for gate in gates):
        gates.add(name=_LOCAL_MODE, enabled=True)
        if not options.HasField("origin"):
            options.origin.CopyFrom(place.origin())
        message = "ControlPlaneKubeletLocalMode is switched on, as KubeadmControlPlane does for this version"
        context.findings.inform(place, "FEATURE_GATE_ADDED", message)
    if len(gates) == 1 and _LOCAL_MODE not in own_gates:
        # Nobody asked for it: where no kubeadm runs it may be left out.
        spec.optional_features.append(f"{_FEATURE}.feature_gates")
        others = (options, spec.init.engine_options.kubeadm, spec.join.engine_options.kubeadm)
        if {field.name for item in others for field, _ in item.ListFields()} <= {"feature_gates", "origin"}:
            spec.optional_features.append(_FEATURE)
