"""The Secrets and ConfigMaps of a manifest set: what its configs refer to, and nothing else."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import TypeVar

from google.protobuf.message import Message

from slipway.bootstrapper.importers.cluster_api.kinds import ConfigMapObject, SecretObject
from slipway.bootstrapper.importers.cluster_api.objects import ManifestObject, ManifestObjects
from slipway.bootstrapper.importers.foreign import Opaque
from slipway.contract.source_position import SourceError
from slipway.v1alpha1 import secret_pb2 as secretpb

PLACEHOLDER = b"placeholder"

_DATA = ("data", "stringData", "binaryData")

Values = dict[str, dict[tuple[str, str], bytes]]
"""Values by namespace, then by name and key."""

_Kind = TypeVar("_Kind", bound=Opaque)


def secret_values(objects: ManifestObjects, *, set_missing: bool = False) -> Values:
    """Give all values but those that are not base64, see _decoded; see _read for objects that cannot be read."""
    values: Values = {}
    for each in objects.of("Secret"):
        secret = _read(objects, each, SecretObject, set_missing=set_missing)
        if secret is not None:
            own = values.setdefault(each.namespace, {})
            own |= dict(_decoded(objects, each, "data", secret.data))
            own |= _plain(each, secret.string_data)
    return values


def config_map_values(objects: ManifestObjects, *, set_missing: bool = False) -> Values:
    """Give all values of ConfigMaps; one that is not base64 is a problem. See _read for objects that cannot be read."""
    values: Values = {}
    for each in objects.of("ConfigMap"):
        config_map = _read(objects, each, ConfigMapObject, set_missing=set_missing)
        if config_map is not None:
            own = values.setdefault(each.namespace, {})
            own |= dict(_decoded(objects, each, "binaryData", config_map.binary_data, always=True))
            own |= _plain(each, config_map.data)
    return values


def _read(objects: ManifestObjects, each: ManifestObject, kind: type[_Kind], *, set_missing: bool) -> _Kind | None:
    """Read an object; with set_missing a variable may stand for all of its data, which then is not known."""
    if set_missing and any(_is_placeholder(each.part(name)) for name in _DATA):
        objects.note(each, "a placeholder stands for all of its data, which is left aside")
        return None
    try:
        return each.read(kind)
    except SourceError as error:
        objects.problems.extend(error.problems)
        return None


def _is_placeholder(data: object) -> bool:
    return isinstance(data, str) and data.startswith(PLACEHOLDER.decode())


def _decoded(
    objects: ManifestObjects, each: ManifestObject, name: str, data: Mapping[str, str | None], *, always: bool = False
) -> Iterator[tuple[tuple[str, str], bytes]]:
    """Decode values; one that is not base64 is a problem where a machine needs it, or `always`."""
    for key, encoded in data.items():
        try:
            yield (each.name, key), base64.b64decode("".join((encoded or "").split()), validate=True)
        except (binascii.Error, ValueError):
            problem = each.problem((name, key), "must be base64")
            if always:
                objects.problems.append(problem)
            else:
                objects.unreadable[each.namespace, each.name, key] = problem


def _plain(each: ManifestObject, data: Mapping[str, str | None]) -> dict[tuple[str, str], bytes]:
    return {(each.name, key): (text or "").encode() for key, text in data.items()}


def secret_material(
    config: ManifestObject,
    spec: Message,
    values: Mapping[tuple[str, str], bytes],
    objects: ManifestObjects,
    *,
    set_missing: bool,
) -> secretpb.SecretMaterial:
    """Give the secrets that a spec refers to, as far as its namespace holds them.

    Args:
        config: the object of the config.
        spec: what became of it.
        values: the values of its machine's namespace.
        objects: where notes go.
        set_missing: give placeholders for what the set does not hold.
    """
    material = secretpb.SecretMaterial()
    for name, key in sorted({(each.name, each.key) for each in references(spec) if "/" not in each.name}):
        value = values.get((name, key))
        unreadable = objects.unreadable.get((config.namespace, name, key))
        if value is None and unreadable is not None and not set_missing:
            objects.problems.append(unreadable)
        if value is None and set_missing:
            message = "a Secret that it refers to is not among the documents: a placeholder is used"
            objects.note(config, message)
            value = PLACEHOLDER
        if value is not None:
            material.secrets.add(name=name, key=key, kind=secretpb.SECRET_KIND_OPAQUE, value=value)
    return material


def references(message: Message) -> Iterator[secretpb.SecretReference]:
    """Give every reference to a secret in a message."""
    if isinstance(message, secretpb.SecretReference):
        yield message
        return
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for each in value if field.is_repeated else (value,):
                yield from references(each)
