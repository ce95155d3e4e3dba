"""What means the same in a bundle and on a machine: values, lists, documents and names of items, however written."""

from collections.abc import Sequence
from typing import Any

import yaml
from google.protobuf.message import Message

from slipway.contract.field_plans import FieldPlan
from slipway.contract.grammars import grammars
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb

HANDLES = {
    ("ComponentFile", "name"), ("Filesystem", "partition"), ("HostPathVolume", "name"), ("Mount", "partition"),
    ("TrustedCertificate", "name"),
}  # fmt: skip
"""Names that only identify items of a bundle, and references that a device stands for; no machine has to know them."""

_LEFT_ALONE = {("SystemdUnit", "enabled")}
"""What is neither true nor false when nothing is said of it."""

_SETS = {("ControlPlane", "api_server_sans"), ("User", "groups"), ("User", "ssh_authorized_keys")}
"""Lists in which an entry that is there twice means what it means once."""

_OF_SYSTEMD = {"_netdev", "nofail"}
"""Options of a mount that the filesystem never sees."""

_NO_OPTIONS = {"defaults", "sw"}
"""Words of fstab that stand for no option; source: fstab(5)."""

_MICROSOFT = "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7"
"""The type of a GPT for which the contract has two words: fat32 and ntfs."""

_TAGS = ("LABEL=", "UUID=", "PARTLABEL=", "PARTUUID=")
"""What a source of a mount begins with that names a device by a property; other sources may have the sign, too."""

_SWAP = "swap"
"""The kind of a mount that has no place, and of which a machine may have any number."""

_GROUP_AND_OTHERS = 0o077
_ADMINISTRATORS = {"root", "Administrators"}


def same_value(plan: FieldPlan, value: Any, actual: Message, *, windows: bool) -> bool:
    """Return whether the machine has a value of a bundle that is no list."""
    there = getattr(actual, plan.name)
    if _says_nothing(plan, value, actual):
        return True
    if (actual.DESCRIPTOR.name, plan.name) in _LEFT_ALONE and not actual.HasField(plan.name):
        return False
    if type(value) is int and not value and plan.enum is None and not _says_so(actual, plan.name):
        return False
    if plan.rules.format == "partition-type" and there.upper() == _MICROSOFT:
        return value in ("fat32", "ntfs") or value.upper() == _MICROSOFT
    if windows and plan.rules.format == "file-mode":
        return bool(value & _GROUP_AND_OTHERS) == bool(there & _GROUP_AND_OTHERS)
    if windows and plan.name in ("owner", "group") and value in _ADMINISTRATORS:
        return there in _ADMINISTRATORS
    if windows and plan.rules.format == "absolute-path":
        return path_key(value) == path_key(there)
    return bool(value == there)


def _says_nothing(plan: FieldPlan, value: Any, actual: Message) -> bool:
    """Whether a system may have any value of a field, or one that means the same in other words."""
    if isinstance(actual, ospb.Mount):
        match plan.name:
            case "check":  # nothing but a device can be checked
                return not _is_device(actual)
            case "path":
                return actual.type == _SWAP
            case "type":
                return {value, actual.type} == {"auto", ""}
    # An empty text that the field's grammar does not take counts as unset.
    return value == "" and bool(plan.rules.format) and not grammars()[plan.rules.format].check(value)


def same_name(entry: Message, other: Message, key: str, *, windows: bool) -> bool:
    """Return whether an item of a machine is that of a bundle, by the field that identifies it."""
    name, there = getattr(entry, key), getattr(other, key)
    if not there and (entry.DESCRIPTOR.name, key) in HANDLES:
        return True
    if isinstance(entry, ospb.Mount) and isinstance(other, ospb.Mount) and entry.type == _SWAP:
        return other.type == _SWAP and entry.source == other.source
    if windows and key == "path":
        return path_key(name) == path_key(there)
    return bool(name == there)


def alike(entry: Any, other: Any) -> bool:
    """Return whether two entries of a list both add something, or both take it away."""
    return bool(getattr(entry, "absent", False) == getattr(other, "absent", False))


def document(content: Any) -> Any:
    """Give what a document says; an OpaqueDocument's text and a Content's segments are both read here."""
    if isinstance(content, contentpb.Content):
        text = b"".join(segment.data for segment in content.segments) or content.data
    else:
        text = content.data or content.text.encode()
    return yaml.safe_load(text)


def list_key(name: tuple[str, str], values: Sequence[Any]) -> list[Any]:
    """Give the values of a list so that two lists which mean the same are equal."""
    if name in _SETS:
        return list(dict.fromkeys(values))
    if name == ("Mount", "options"):
        # Those of the filesystem come in order; the others are for systemd, wherever and however often they stand.
        others = [option for option in values if option not in _OF_SYSTEMD | _NO_OPTIONS]
        return [*others, *sorted(_OF_SYSTEMD & set(values))]
    return list(values)


def _says_so(message: Message, name: str) -> bool:
    """Whether a field is set, where that differs from 0."""
    return not message.DESCRIPTOR.fields_by_name[name].has_presence or message.HasField(name)


def _is_device(mount: Message) -> bool:
    return isinstance(mount, ospb.Mount) and mount.source.startswith(("/dev/", *_TAGS))


def path_key(path: str) -> str:
    """Give a path of Windows so that two which name the same file are equal."""
    return path.replace("/", "\\").lower()
