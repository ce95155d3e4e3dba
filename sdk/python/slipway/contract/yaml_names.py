"""How the names of the contract look to a person: camelCase keys, PascalCase enum values without prefix."""

import re
from functools import cache

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto

from slipway.contract.field_plans import ORIGIN, plan


@cache
def fields_by_key(descriptor: Descriptor) -> dict[str, FieldDescriptor]:
    """Give the fields that a person may write, by their key."""
    plans = plan(descriptor)
    return {
        field.json_name: field
        for field in descriptor.fields
        if not plans[field.number].rules.internal
        and not (field.message_type is not None and field.message_type.full_name == ORIGIN)
    }


@cache
def former_keys(descriptor: Descriptor) -> frozenset[str]:
    """Give the keys of the fields that a message has had in earlier versions: their names are reserved."""
    proto = DescriptorProto()
    descriptor.CopyToProto(proto)
    return frozenset(re.sub("_([a-z0-9])", lambda match: match[1].upper(), name) for name in proto.reserved_name)


def enum_word(descriptor: EnumDescriptor, number: int) -> str:
    """Give a value in small letters without its prefix: INSTANCE_STATE_NOT_SERVING is "not-serving".

    One that a newer version of the contract has is "unknown (7)": proto3 keeps the numbers of other processes.
    """
    value = descriptor.values_by_number.get(number)
    if value is None:
        return f"unknown ({number})"
    return value.name.removeprefix(_prefix(descriptor)).lower().replace("_", "-")


@cache
def _prefix(descriptor: EnumDescriptor) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", descriptor.name).upper() + "_"


@cache
def enum_names(descriptor: EnumDescriptor) -> dict[int, str]:
    """Give the PascalCase name of every value but UNSPECIFIED, by number: KEY_ALGORITHM_RSA_2048 is Rsa2048."""
    prefix = _prefix(descriptor)
    return {
        value.number: "".join(word.capitalize() for word in value.name.removeprefix(prefix).split("_"))
        for value in descriptor.values
        if value.number != 0
    }


def person_path(path: str) -> str:
    """Turn a field path of the contract into the one that a person writes: os.time_zone is os.timeZone."""
    return re.sub(r"_([a-z0-9])", lambda match: match.group(1).upper(), path)
