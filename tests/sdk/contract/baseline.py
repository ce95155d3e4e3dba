"""Compares the contract with an earlier state of it, by the rules of must-understand that buf does not know.

protobuf drops what it does not know. So whatever is added to what a bundle can say has to ask for a feature that no
older provisioner declares; and an id, once given, means the same for ever.
"""

from collections.abc import Iterator

from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool

from slipway.contract.field_plans import FieldPlan, plan

PACKAGE = "slipway.v1alpha1"
ROOT = f"{PACKAGE}.BootstrapBundle"
FREE = {
    "Machine": "facts; what they ask for is told where the intent repeats them",
    "Target": "resolved by the bootstrapper; a provisioner that takes plans needs nothing of it",
    "ExecutionPolicy": "carried out by the bootstrapper",
    "Provenance": "for people",
    "FeatureUse": "the mechanism itself",
    "Origin": "for people",
    "Secret": "what refers to a secret asks for the feature",
    "SecretMaterial": "what refers to a secret asks for the feature",
}
"""Messages in which something new needs no feature, and why."""


def pool(files: FileDescriptorSet) -> DescriptorPool:
    """Give a pool with exactly these files."""
    made = DescriptorPool()
    for file in files.file:
        made.Add(file)  # type: ignore[no-untyped-call]  # it has no stub
    return made


def problems(before: DescriptorPool, now: DescriptorPool) -> Iterator[str]:
    """Give everything that has been changed against the rules, one sentence each."""
    old_ids, new_ids = ids_of(before), ids_of(now)
    for id_ in sorted(old_ids - new_ids):
        yield f"feature {id_} is gone: an id stays"
    old = {one.name: one for one in messages_of(before)}
    for message in messages_of(now):
        if message.name in FREE or message.name not in old:
            continue
        known = plan(old[message.name])
        for number, field in plan(message).items():
            where = f"{message.name}.{field.name}"
            if number in known:
                yield from _changed(where, known[number], field)
            elif not (field.feature or field.feature_from_value or field.rules.internal):
                yield f"{where} is new and has no feature"
    added = _ids_of_new_fields(old, now)
    for id_ in sorted(added & old_ids):
        yield f"feature {id_} is used for something new: an id is never used again"


def _changed(where: str, before: FieldPlan, now: FieldPlan) -> Iterator[str]:
    if (before.feature, before.feature_from_value) != (now.feature, now.feature_from_value):
        yield f"{where} has another feature than before"
    if before.enum is None or now.enum is None:
        return
    for number, value in now.enum.values_by_number.items():
        old = before.enum.values_by_number.get(number)
        if old is None and number not in now.value_features:
            yield f"{where}: value {value.name} is new and has no feature"
        elif old is not None and before.value_features.get(number) != now.value_features.get(number):
            yield f"{where}: value {value.name} has another feature than before"


def messages_of(files: DescriptorPool) -> list[Descriptor]:
    """Give every message that a bundle can hold, each once."""
    found: dict[str, Descriptor] = {}

    def walk(descriptor: Descriptor) -> None:
        if descriptor.full_name not in found and descriptor.full_name.startswith(PACKAGE):
            found[descriptor.full_name] = descriptor
            for field in descriptor.fields:
                if field.message_type is not None:
                    walk(field.message_type)

    walk(files.FindMessageTypeByName(ROOT))  # type: ignore[no-untyped-call]  # it has no stub
    return list(found.values())


def ids_of(files: DescriptorPool) -> set[str]:
    """Give every feature id that a bundle can use, but those that are an extension's own."""
    return {id_ for _, _, id_ in _places(files)}


def _ids_of_new_fields(old: dict[str, Descriptor], now: DescriptorPool) -> set[str]:
    """Give the ids of fields and enum values that the earlier contract does not have, in messages that it has."""
    return {
        id_
        for message, number, id_ in _places(now)
        if message in old and message not in FREE and number not in plan(old[message])
    }


def _places(files: DescriptorPool) -> Iterator[tuple[str, int, str]]:
    """Give message, field number and id of every way to use a feature."""
    yield from _walk(files.FindMessageTypeByName(ROOT), "", ())  # type: ignore[no-untyped-call]  # it has no stub


def _walk(descriptor: Descriptor, above: str, around: tuple[str, ...]) -> Iterator[tuple[str, int, str]]:
    if descriptor.full_name in around:
        return
    for number, field in plan(descriptor).items():
        own = field.own_id(above)
        if own:
            yield descriptor.name, number, own
        for suffix in field.value_features.values():
            if own or above or not suffix.startswith("."):
                yield descriptor.name, number, (own or above) + suffix if suffix.startswith(".") else suffix
        if field.message is not None:
            yield from _walk(field.message, own or above, (*around, descriptor.full_name))
