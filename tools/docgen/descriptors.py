"""The contract's descriptors together with their comments, which the generated Python code leaves out."""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FileDescriptor

from slipway.v1alpha1 import (
    bootstrap_service_pb2,
    options_pb2,
    provisioner_service_pb2,
    provisioning_service_pb2,
    registry_service_pb2,
    report_service_pb2,
)

PACKAGE = "slipway.v1alpha1"
ENTRANCES = (
    bootstrap_service_pb2,
    options_pb2,
    provisioner_service_pb2,
    provisioning_service_pb2,
    registry_service_pb2,
    report_service_pb2,
)
"""Modules whose import brings the whole contract into the pool of descriptors."""

# Field numbers of descriptor.proto, as they stand in the path of a location.
_MESSAGE, _ENUM, _SERVICE, _EXTENSION, _SYNTAX = 4, 5, 6, 7, 12
_FIELD_OF_MESSAGE, _ONEOF_OF_MESSAGE, _VALUE_OF_ENUM, _METHOD_OF_SERVICE = 2, 8, 2, 2


def contract_files() -> list[FileDescriptor]:
    """Give the files of the contract, by name."""
    pool = descriptor_pool.Default()
    return [pool.FindFileByName(proto.name) for proto in sorted(_protos(), key=lambda file: file.name)]


def short(full_name: str) -> str:
    """Give a name without the contract's package."""
    return full_name.removeprefix(f"{PACKAGE}.")


def comment(full_name: str) -> str:
    """Give the comment of an element, or of a file by its name; paragraphs are apart by an empty line.

    Raises:
        KeyError: there is none, which buf's COMMENTS rules do not allow.
    """
    return _comments()[full_name]


def below(root: Descriptor) -> Iterator[Descriptor | EnumDescriptor]:
    """Give the contract's types that `root` leads to, itself first, breadth first."""
    types: dict[str, Descriptor | EnumDescriptor] = {root.full_name: root}
    queue: list[Descriptor | EnumDescriptor] = [root]
    while queue:
        descriptor = queue.pop(0)
        yield descriptor
        if isinstance(descriptor, EnumDescriptor):
            continue
        for field in descriptor.fields:
            type_ = field.message_type or field.enum_type
            if type_ is not None and type_.file.package == PACKAGE and type_.full_name not in types:
                types[type_.full_name] = type_
                queue.append(type_)


@cache
def _protos() -> tuple[descriptor_pb2.FileDescriptorProto, ...]:
    whole = descriptor_pb2.FileDescriptorSet.FromString(
        files("slipway.v1alpha1").joinpath("slipway.binpb").read_bytes()
    )
    return tuple(proto for proto in whole.file if proto.package == PACKAGE)


@cache
def _comments() -> dict[str, str]:
    comments_by_name: dict[str, str] = {}
    for proto in _protos():
        for location in proto.source_code_info.location:
            path = tuple(location.path)
            text = location.leading_comments
            if path == (_SYNTAX,) and text:
                comments_by_name[proto.name] = _clean(text)
            name = _name(proto, path)
            if name and text:
                comments_by_name[f"{PACKAGE}.{name}"] = _clean(text)
    return comments_by_name


def _name(proto: descriptor_pb2.FileDescriptorProto, path: tuple[int, ...]) -> str:
    match path:
        case (kind, index) if kind == _MESSAGE:
            return proto.message_type[index].name
        case (kind, index) if kind == _ENUM:
            return proto.enum_type[index].name
        case (kind, index) if kind == _SERVICE:
            return proto.service[index].name
        case (kind, index) if kind == _EXTENSION:
            return proto.extension[index].name
        case (kind, index, part, at) if kind == _MESSAGE and part == _FIELD_OF_MESSAGE:
            return f"{proto.message_type[index].name}.{proto.message_type[index].field[at].name}"
        case (kind, index, part, at) if kind == _ENUM and part == _VALUE_OF_ENUM:
            # protobuf scopes the values of an enum beside the enum itself.
            return proto.enum_type[index].value[at].name
        case (kind, index, part, at) if kind == _SERVICE and part == _METHOD_OF_SERVICE:
            return f"{proto.service[index].name}.{proto.service[index].method[at].name}"
    return ""


def _clean(text: str) -> str:
    blocks = "\n".join(line.strip() for line in text.strip("\n").split("\n")).split("\n\n")
    return "\n\n".join(block.strip() for block in blocks if block.strip())
