"""Items of cloud-config that hold what only the machine knows, in fields that other formats must know before: kept so.

An item goes, with the keys that today's provider writes, into an extension of cloud-init's provisioner, which keeps its
place among the others. Every other format refuses it by the field. No rule of the neutral types holds for it: only what
today's provider checks was checked.
"""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from slipway.bootstrapper.importers.foreign import Foreign
from slipway.bootstrapper.importers.kubeadm_config.os_items import File, Filesystem, Ntp, Partition, User
from slipway.bootstrapper.importers.mapping.context import CLOUD_CONFIG, EXECUTES, Context
from slipway.bootstrapper.importers.mapping.files import file_content, file_text
from slipway.bootstrapper.importers.mapping.place import Place
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb

NO_RULE = {"false", "no", "off", "null", "~"}
"""Today's renderer writes a rule without quotes: these are YAML's false and null, of which cloud-init makes no rule."""

_Secret = tuple[str, secretpb.SecretReference]
_NO_SECRET: _Secret | None = None

_ITEM = "cloud-init.slipway.dev/item"
_TEXT_ENCODINGS = frozenset({"base64", "gzip+base64"})
"""Encodings whose encoded form is text."""
_FILE = {"path": "path", "owner": "owner", "permissions": "permissions", "append": "append"}
_USER = {
    "name": "name",
    "gecos": "gecos",
    "groups": "groups",
    "home_dir": "homedir",
    "inactive": "inactive",
    "lock_password": "lock_passwd",
    "shell": "shell",
    "primary_group": "primary_group",
    "sudo": "sudo",
    "ssh_authorized_keys": "ssh_authorized_keys",
    "passwd": "passwd",
}
_DISK = {"device": "device", "table_type": "table_type", "overwrite": "overwrite"}
_FILESYSTEM = {
    "label": "label",
    "filesystem": "filesystem",
    "device": "device",
    "partition": "partition",
    "overwrite": "overwrite",
    "replace_fs": "replace_fs",
    "extra_opts": "extra_opts",
}
_NTP = {"enabled": "enabled", "servers": "servers"}
_TYPES = {
    "Linux": "83",
    "LinuxSwap": "82",
    "LinuxRAID": "fd",
    "LVM": "8e",
    "Fat32": "0c",
    "NTFS": "07",
    "LinuxExtended": "85",
}
"""cloud-init's words for the types of partitions, as today's provider writes them."""


def keep_file(context: Context, place: Place, file: File, spec: specpb.MachineBootstrapSpec) -> bool:
    """Add an entry of files as it is written, where its path, owner or permissions are Jinja; else return False."""
    where = _jinja(context, place, file, _FILE)
    if where is None:
        return False
    item, secret = _written(context, place, file, _FILE), _NO_SECRET
    if file.content_from is None and not file.encoding:
        text = file_text(context, place.at("content"), file)
        item["content"] = context.content_as_jinja(place.at("content"), text)
    else:
        is_template = file.content_format == "Template"
        if file.content_from is not None and file.encoding in _TEXT_ENCODINGS and not is_template:
            # cloud-init decodes it as today; decoded, it would be rendered as a text of the document.
            source, item["encoding"] = file.content_from.secret, file.encoding
            content = contentpb.Content(secret_ref=secretpb.SecretReference(name=source.name, key=source.key))
        else:
            content = file_content(context, place, file, rendered=True)
        if content.HasField("secret_ref"):
            secret = ("content", content.secret_ref)
        else:
            item |= {"encoding": "b64", "content": base64.b64encode(content.data).decode()}
    _add(spec, where, {"key": "write_files", "position": len(spec.os.files), "item": item}, secret=secret)
    return True


def keep_user(context: Context, place: Place, user: User, spec: specpb.MachineBootstrapSpec) -> bool:
    """Add an entry of users as it is written, where a text of it is Jinja; else return False."""
    where = _jinja(context, place, user, _USER)
    if where is not None:
        _add_user(context, place, where, user, spec)
    return where is not None


def keep_repeated_user(context: Context, place: Place, user: User, spec: specpb.MachineBootstrapSpec) -> bool:
    """Add another entry for a name that has one, which cloud-init merges in their order; else return False.

    Source: cloud-init, cloudinit/distros/ug_util.py (_normalize_users).
    """
    if _stays(context):
        _add_user(context, place, place.at("name"), user, spec)
    return _stays(context)


def _add_user(context: Context, place: Place, where: Place, user: User, spec: specpb.MachineBootstrapSpec) -> None:
    item = _written(context, place, user, _USER)
    if user.sudo and user.sudo.lower() in NO_RULE:
        del item["sudo"]
    keys = [key for key in item.get("ssh_authorized_keys", []) if key.strip()]
    if "ssh_authorized_keys" in item:
        item["ssh_authorized_keys"] = keys
    secret = _NO_SECRET
    if user.passwd_from is not None:
        source = user.passwd_from.secret
        secret = ("passwd", secretpb.SecretReference(name=source.name, key=source.key))
    _add(spec, where, {"key": "users", "position": len(spec.os.users), "item": item}, secret=secret)


def keep_partition(context: Context, place: Place, partition: Partition, spec: specpb.MachineBootstrapSpec) -> bool:
    """Add an entry of diskSetup.partitions as it is written, where its device is Jinja; else return False."""
    where = _jinja(context, place, partition, _DISK)
    if where is None:
        return False
    layout = [
        [entry.percentage, _TYPES.get(entry.partition_type, entry.partition_type)]
        if entry.partition_type
        else entry.percentage
        for entry in partition.disk_layout
    ]
    item = _written(context, place, partition, _DISK) | {"layout": layout or bool(partition.layout)}
    _add(spec, where, {"key": "disk_setup", "item": item})
    return True


def keep_filesystem(context: Context, place: Place, filesystem: Filesystem, spec: specpb.MachineBootstrapSpec) -> bool:
    """Add an entry of diskSetup.filesystems as it is written, where a text of it is Jinja; else return False."""
    where = _jinja(context, place, filesystem, _FILESYSTEM)
    if where is None:
        return False
    item = _written(context, place, filesystem, _FILESYSTEM)
    _add(spec, where, {"key": "fs_setup", "position": len(spec.os.filesystems), "item": item})
    return True


def keep_ntp(context: Context, place: Place, ntp: Ntp, spec: specpb.MachineBootstrapSpec) -> bool:
    """Add time servers as they are written, where one is Jinja; else return False."""
    where = _jinja(context, place, ntp, _NTP)
    if where is None:
        return False
    _add(spec, where, {"key": "ntp", "item": _written(context, place, ntp, _NTP)})
    return True


def keep_mount(context: Context, place: Place, words: list[str], spec: specpb.MachineBootstrapSpec) -> bool:
    """Add a mount as it is written, where a word is Jinja or where it is one word alone; else return False."""
    if not _stays(context):
        return False
    where = next((place.at(index) for index, word in enumerate(words) if context.is_of_machine(word)), None)
    if where is None and len(words) > 1:
        return False
    row = [context.as_jinja(place.at(index), word) for index, word in enumerate(words)]
    _add(spec, where or place, {"key": "mounts", "position": len(spec.os.mounts), "item": row})
    return True


def _stays(context: Context) -> bool:
    """Return whether the config is for cloud-init, and no provider executes its templates on the way."""
    return context.format == CLOUD_CONFIG and not context.windows and context.target.infrastructure != EXECUTES


def _jinja(context: Context, place: Place, item: Foreign, names: Iterable[str]) -> Place | None:
    """Give the first field of an item with what only the machine knows, where that can stay Jinja."""
    if not _stays(context):
        return None
    return next((here for here, text in _texts(place, item, names) if context.is_of_machine(text)), None)


def _texts(place: Place, item: Foreign, names: Iterable[str]) -> Iterator[tuple[Place, str]]:
    for name in names:
        value, here = getattr(item, name), place.at(type(item).model_fields[name].alias or name)
        if isinstance(value, list):
            yield from ((here.at(index), text) for index, text in enumerate(value))
        elif isinstance(value, str):
            yield here, value


def _written(context: Context, place: Place, item: Foreign, keys: Mapping[str, str]) -> dict[str, Any]:
    """Give the fields of an item that are set, by the keys of cloud-config."""
    result: dict[str, Any] = {}
    for name, key in keys.items():
        value, here = getattr(item, name), place.at(type(item).model_fields[name].alias or name)
        if isinstance(value, bool):
            result[key] = value
        elif isinstance(value, list) and value:
            result[key] = [context.as_jinja(here.at(index), text) for index, text in enumerate(value)]
        elif value:
            result[key] = context.as_jinja(here, value)
    return result


def _add(
    spec: specpb.MachineBootstrapSpec,
    where: Place,
    entry: Mapping[str, Any],
    *,
    secret: _Secret | None = None,
) -> None:
    """Add the extension; a secret becomes the last field of the item, which is the last one of the entry."""
    text = json.dumps(entry, ensure_ascii=False)
    content = contentpb.Content(text=text)
    if secret is not None:
        head = f"{text[:-2]}, {json.dumps(secret[0])}: "
        value = contentpb.Segment(secret_ref=secret[1], encoding=contentpb.SPLICE_ENCODING_JSON_STRING)
        content = contentpb.Content(segments=[contentpb.Segment(text=head), value, contentpb.Segment(text="}}")])
    spec.extensions.add(id=_ITEM, media_type="application/json", content=content, origin=where.origin())
