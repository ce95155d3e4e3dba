"""Bundles of which each sets a single field of the Kubernetes part, so that every feature of an engine can be tried."""

from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from slipway.contract.field_plans import ORIGIN
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import spec_pb2 as specpb

Path = tuple[FieldDescriptor, ...]

_SCALARS: dict[int, Any] = {
    FieldDescriptor.CPPTYPE_STRING: "a",
    FieldDescriptor.CPPTYPE_BOOL: True,
}


def every_field() -> Iterator[bundlepb.BootstrapBundle]:
    """Give a bundle for each field of `kubernetes` and `engine_options`, and for each value of an enum."""
    for outer, descriptor in (
        (("intent", "kubernetes"), kubernetespb.Kubernetes.DESCRIPTOR),
        (("engine_options",), specpb.EngineOptions.DESCRIPTOR),
    ):
        for path in _paths(descriptor, frozenset()):
            for value in _values(path[-1]):
                bundle = bundlepb.BootstrapBundle()
                message: Any = bundle
                for name in outer:
                    message = getattr(message, name)
                _put(message, path, value)
                yield bundle


def _paths(descriptor: Descriptor, seen: frozenset[str]) -> Iterator[Path]:
    for field in descriptor.fields:
        yield (field,)
        inner = field.message_type
        if inner is not None and inner.full_name not in seen | {ORIGIN}:
            yield from ((field, *rest) for rest in _paths(inner, seen | {inner.full_name}))


def _values(field: FieldDescriptor) -> Iterator[Any]:
    if field.enum_type is not None:
        yield from (value.number for value in field.enum_type.values if value.number)
    elif field.message_type is None:
        is_bytes = field.type == FieldDescriptor.TYPE_BYTES
        yield b"a" if is_bytes else _SCALARS.get(field.cpp_type, 1)
    else:
        yield None


def _put(message: Message, path: Path, value: Any) -> None:
    field, *rest = path
    if field.message_type is not None:
        inner = getattr(message, field.name)
        inner = inner.add() if field.is_repeated else inner
        inner.SetInParent()
        if rest:
            _put(inner, tuple(rest), value)
    elif field.is_repeated:
        getattr(message, field.name).append(value)
    else:
        setattr(message, field.name, value)
