"""Specs with profiles, applied."""

import yaml

from slipway.bootstrapper.compliance.application import Applied, apply_profiles
from slipway.contract.yaml_decode import fill
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb

LEVEL_1 = "cis-kubernetes-1.10/level-1"
LEVEL_2 = "cis-kubernetes-1.10/level-2"


def spec_of(text: str = "", *, profile: str = LEVEL_1, waived: tuple[str, ...] = ()) -> specpb.MachineBootstrapSpec:
    """Give a spec of the fields in a YAML text, with a profile and waivers."""
    tree = yaml.safe_load(text) or {}
    waivers = [{"control": name, "reason": "not here"} for name in waived]
    tree["compliance"] = {"profiles": [profile], "waivers": waivers}
    spec = specpb.MachineBootstrapSpec()
    assert not fill(tree, spec)
    return spec


SERVING = """
kubernetes:
  controlPlane:
    apiServer: {arguments: [{name: kubelet-certificate-authority, value: /etc/kubernetes/pki/ca.crt}]}
  node:
    kubeletConfiguration: {text: "serverTLSBootstrap: true"}
"""
"""A spec that has what is otherwise left to people: its cluster has an approver of serving certificates."""


def applied_to(
    spec: specpb.MachineBootstrapSpec, role: clusterpb.Role.ValueType = clusterpb.ROLE_INIT, *, view: str = ""
) -> Applied:
    """Apply the profiles of a spec, in place."""
    applied = apply_profiles(spec, role, view=view)
    assert applied is not None
    return applied


def arguments(spec: specpb.MachineBootstrapSpec, component: str = "api_server") -> dict[str, str]:
    """Give the arguments of a component."""
    return {argument.name: argument.value for argument in getattr(spec.kubernetes.control_plane, component).arguments}
