"""Where an item stands in a spec that came without that knowledge, as from a caller of the service.

Lowering takes items out of their lists. A refusal that named one by its number then would name another one.
"""

from slipway.contract.items import items
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import spec_pb2 as specpb


def with_origins(spec: specpb.MachineBootstrapSpec) -> specpb.MachineBootstrapSpec:
    """Give a copy of a spec in which every item says where it stands; what says so already is kept."""
    named = specpb.MachineBootstrapSpec()
    named.CopyFrom(spec)
    for item in items(named):
        if not item.message.origin.path:
            item.message.origin.path = person_path(f"spec.{item.path}")
    return named
