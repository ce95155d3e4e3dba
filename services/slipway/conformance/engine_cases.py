"""Cases about bootstrap engines. No engine is named: the contract has their options, and a format its control planes.

An engine that gets options in the contract is tried on that day, with every format.
"""

from collections.abc import Iterator

from google.protobuf.descriptor import FieldDescriptor

from slipway.conformance.v1alpha1 import case_pb2 as casepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import spec_pb2 as specpb

CLAUSE = "FEA-009"
FAMILY = "kubernetes.cluster.control_plane"
STRANGER = "conformance"
"""A family of control planes that no format knows."""

_PLAIN = (FieldDescriptor.TYPE_BOOL, FieldDescriptor.TYPE_INT32)


def engine_cases(info: provisionerpb.FormatInfo) -> Iterator[casepb.Case]:
    """Give the cases for a format: each engine, its options, and each family of control planes that it may meet."""
    engines = specpb.EngineOptions.DESCRIPTOR.fields
    for field in engines:
        yield _options(field)
        case = _case(f"engine-{field.name}", "who makes a node of the machine")
        case.input = provisionerpb.KUBERNETES_INPUT_INTENT
        case.bundle.intent.kubernetes.engine = field.name
        yield case
    declared = (value for support in info.features if support.id == FAMILY for value in support.allowed_values)
    for family in dict.fromkeys((*declared, *(field.name for field in engines), STRANGER)):
        case = _case(f"control-plane-of-{family}", "a control plane of another family, or of the format's own")
        case.input = provisionerpb.KUBERNETES_INPUT_INTENT
        case.bundle.intent.cluster.control_plane = family
        yield case


def _options(field: FieldDescriptor) -> casepb.Case:
    """Give the case that sets an option of an engine, its first one that is a number or a flag."""
    case = _case(f"engine-options-of-{field.name}", "what only one engine knows")
    options = getattr(case.bundle.engine_options, field.name)
    options.SetInParent()
    for option in options.DESCRIPTOR.fields:
        if option.type in _PLAIN:
            setattr(options, option.name, 1)
            break
    return case


def _case(name: str, purpose: str) -> casepb.Case:
    return casepb.Case(clause=CLAUSE, name=name.replace("_", "-"), purpose=purpose)
