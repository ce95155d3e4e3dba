"""The Secrets and ConfigMaps of a manifest set: what its configs refer to, and nothing else."""

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from google.protobuf.message import Message

from bootstrapper.importers.cluster_api.kinds import ConfigMapObject, SecretObject
from bootstrapper.importers.cluster_api.objects import ManifestObject, ManifestObjects
from bootstrapper.importers.foreign import Opaque
from services.contract.source_position import SourceError
from slipway.v1alpha1 import secret_pb2 as secretpb

PLACEHOLDER = b"placeholder"

_Kind = TypeVar("_Kind", bound=Opaque)


def secret_values(objects: ManifestObjects) -> dict[tuple[str, str], bytes]:
    """Give all values by (name, key); what cannot be read becomes a problem of the objects."""
    values: dict[tuple[str, str], bytes] = {}
    for each in objects.of("Secret"):
        secret = _read(objects, each, SecretObject)
        if secret is not None:
            values |= dict(_decoded(objects, each, "data", secret.data))
            values |= _plain(each, secret.string_data)
    return values


def config_map_values(objects: ManifestObjects) -> dict[tuple[str, str], bytes]:
    """Give all values of ConfigMaps by (name, key); what cannot be read becomes a problem of the objects."""
    values: dict[tuple[str, str], bytes] = {}
    for each in objects.of("ConfigMap"):
        config_map = _read(objects, each, ConfigMapObject)
        if config_map is not None:
            values |= dict(_decoded(objects, each, "binaryData", config_map.binary_data))
            values |= _plain(each, config_map.data)
    return values


def _read(objects: ManifestObjects, each: ManifestObject, kind: type[_Kind]) -> _Kind | None:
    try:
        return each.read(kind)
    except SourceError as error:
        objects.problems.extend(error.problems)
        return None


def _decoded(
    objects: ManifestObjects, each: ManifestObject, name: str, data: Mapping[str, str | None]
) -> Iterator[tuple[tuple[str, str], bytes]]:
    for key, encoded in data.items():
        try:
            yield (each.name, key), base64.b64decode("".join((encoded or "").split()), validate=True)
        except (binascii.Error, ValueError):
            objects.problems.append(each.problem((name, key), "must be base64"))


def _plain(each: ManifestObject, data: Mapping[str, str | None]) -> dict[tuple[str, str], bytes]:
    return {(each.name, key): (text or "").encode() for key, text in data.items()}


def secret_material(
    references: Iterable[tuple[ManifestObject, secretpb.SecretReference]],
    values: dict[tuple[str, str], bytes],
    objects: ManifestObjects,
    *,
    set_missing: bool,
) -> secretpb.SecretMaterial:
    """Give the secrets that are referred to, as far as the set holds them.

    Args:
        references: the references, each with the object of its config.
        values: the values by (name, key).
        objects: where notes go.
        set_missing: give placeholders for what the set does not hold.
    """
    material = secretpb.SecretMaterial()
    wanted = {(each.name, each.key): owner for owner, each in references if "/" not in each.name}
    for (name, key), owner in sorted(wanted.items(), key=lambda item: item[0]):
        value = values.get((name, key))
        if value is None and set_missing:
            message = "a Secret that it refers to is not among the documents: a placeholder is used"
            objects.note(owner, message)
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
