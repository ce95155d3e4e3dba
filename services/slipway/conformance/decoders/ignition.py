"""Ignition configs of the specifications 2 and 3, as coreos/ignition documents them."""

import base64
import binascii
import gzip
import json
import re
import urllib.parse
import zlib
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from slipway.conformance.decoders.ignition_places import Places
from slipway.conformance.decoders.ignition_units import unit
from slipway.conformance.decoders.sight import UnreadableError, known, sees, unread
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import os_pb2 as ospb

_SEES = "ignition"
_TYPES = {
    "0FC63DAF-8483-4772-8E79-3D69D8477DE4": "linux",
    "0657FD6D-A4AB-43C4-84E5-0933C84B4F4F": "swap",
    "A19D880F-05FC-4D3B-A006-743F0F84911E": "raid",
    "E6D6D379-F507-44C2-A23C-238F2A3DF928": "lvm",
}
_OTHERS = {"ignition": ("config", "proxy"), "storage": ("luks", "raid"), "": ("networkd",)}
_EXTENSION = "ext.ignition.slipway.dev/config"
_MERGED = ("merge", "append")
_SUDOERS, _HOSTNAME = "/etc/sudoers.d/", "/etc/hostname"
_PERMISSIONS = 0o777
"""The specifications up to 3.5 ignore all other bits of a mode."""

_WRITABLE = 0o022


def decode(user_data: bytes, attachments: Mapping[str, bytes]) -> statepb.MachineState:
    """Give what an Ignition config says.

    Raises:
        UnreadableError: it is none.
    """
    del attachments
    try:
        document = json.loads(user_data)
        if not re.fullmatch(r"[23]\.\d+\.\d+", document["ignition"]["version"]):
            raise UnreadableError("ignition.version is not a known version")
        if document["ignition"]["version"].startswith("2."):
            _see_filesystems(document.get("storage") or {})
        return _state(document)
    except (KeyError, TypeError, ValueError, AttributeError, binascii.Error, zlib.error, OSError) as error:
        raise UnreadableError(f"it is no Ignition config ({type(error).__name__})") from None


def _state(document: dict[str, Any]) -> statepb.MachineState:
    state = statepb.MachineState(features=sees(_SEES))
    # Ignition knows nothing of the image's own user, which therefore stays.
    state.os.default_user = ospb.DEFAULT_USER_KEEP
    storage, system = document.get("storage") or {}, state.os
    for entry in (document.get("systemd") or {}).get("units") or []:
        unit(entry, state)
    _nodes(document, state)
    _accounts(document.get("passwd") or {}, system)
    _disks(storage, system)
    arguments = document.get("kernelArguments") or {}
    for argument in arguments.get("shouldExist") or []:
        system.kernel_arguments.add(argument=argument, absent=False)
    for argument in arguments.get("shouldNotExist") or []:
        system.kernel_arguments.add(argument=argument, absent=True)
    for file in system.files:
        if file.path == _HOSTNAME:
            system.hostname.name.value = file.content.data.decode().removesuffix("\n")
    state.others.extend(_others(document))
    return state


def _nodes(document: dict[str, Any], state: statepb.MachineState) -> None:
    storage, system = document.get("storage") or {}, state.os
    places = Places(storage, system.mounts)
    for kind in ("directories", "files", "links"):
        for entry in storage.get(kind) or []:
            if places.is_hidden(entry):
                state.early_files.append(places.path(entry))
            entry["path"] = places.path(entry)
    for entry in storage.get("directories") or []:
        directory = system.directories.add(path=entry["path"], mode=entry.get("mode", 0o755) & _PERMISSIONS)
        directory.owner, directory.group = _owners(entry)
    authorities = _authorities(document["ignition"])
    for entry in storage.get("files") or []:
        system.files.extend(_files(entry, authorities))
        if not entry.get("overwrite", document["ignition"]["version"].startswith("2.")) and not entry.get("append"):
            state.kept_files.append(entry["path"])
    for entry in storage.get("links") or []:
        link = system.links.add(path=entry["path"], target=entry["target"], hard=entry.get("hard", False))
        link.owner, link.group = _owners(entry)


def _see_filesystems(storage: dict[str, Any]) -> None:
    """See that each node of a config of the old form says on which filesystem it lies: Ignition asks for it."""
    for kind in ("directories", "files", "links"):
        if not all(entry.get("filesystem") for entry in storage.get(kind) or []):
            raise UnreadableError(f"an entry of storage.{kind} has no filesystem")


def _others(document: dict[str, Any]) -> Iterator[statepb.Other]:
    """Give what a config does besides: another one that it fetches, volumes, networks."""
    config = document["ignition"].get("config") or {}
    for key, entries in config.items():
        # A config that stands in this one is the document of an extension; one that is fetched is not.
        whole = [_data(entry, entry["source"]).decode() for entry in entries] if _is_here(key, entries) else []
        yield from (statepb.Other(name=_EXTENSION, text=text) for text in whole)
    about = document["ignition"] | {"config": {key: config[key] for key in config if not _is_here(key, config[key])}}
    places = {"ignition": about, "storage": document.get("storage") or {}, "": document}
    for place, keys in _OTHERS.items():
        for key in keys:
            if places[place].get(key):
                name = f"{place}.{key}".removeprefix(".")
                yield statepb.Other(name=name, text=json.dumps(places[place][key], ensure_ascii=False))
    yield from unread(document, known("ignition"), "")


def _is_here(key: str, entries: Any) -> bool:
    return key in _MERGED and all(entry["source"].startswith("data:") for entry in entries)


def _owners(entry: dict[str, Any]) -> tuple[str, str]:
    owners = []
    for key in ("user", "group"):
        owner = entry.get(key) or {}
        # A name of digits is no number: Ignition looks for an account that is called so, and fails the boot.
        name = owner.get("name") or ""
        owners.append(f"account {name}" if name.isdecimal() else name or str(owner.get("id") or "root"))
    return owners[0], owners[1]


def _authorities(ignition: dict[str, Any]) -> bytes:
    """Give the certificate authorities of all servers of https. Those that are fetched as well cannot be seen."""
    tls = (ignition.get("security") or {}).get("tls") or {}
    return b"".join(_data(entry, entry["source"]) for entry in tls.get("certificateAuthorities") or [])


def _files(entry: dict[str, Any], authorities: bytes) -> Iterator[ospb.File]:
    owner, group = _owners(entry)
    append = entry.get("append")
    resources = [entry.get("contents") or {}]
    if isinstance(append, list) and append:
        resources = append
    for resource in resources:
        mode = entry.get("mode", 0o644) & _PERMISSIONS
        made = ospb.File(path=entry["path"], owner=owner, group=group, mode=mode)
        if append:
            made.append = True
        source = resource.get("source") or "data:,"
        if source.startswith("data:"):
            made.content.data = _data(resource, source)
        else:
            made.remote.urls.append(source)
            if authorities and source.startswith("https:"):
                made.remote.ca.data = authorities
            kind, _, digest = (resource.get("verification") or {}).get("hash", "").partition("-")
            if kind in ("sha256", "sha512"):
                setattr(made.remote, kind, digest)
        yield made


def _data(resource: dict[str, Any], source: str) -> bytes:
    if not source.startswith("data:"):
        raise UnreadableError("what is trusted is downloaded")
    head, _, body = source.removeprefix("data:").partition(",")
    data = urllib.parse.unquote_to_bytes(body)
    if head.endswith(";base64"):
        data = base64.b64decode(data, validate=True)
    return gzip.decompress(data) if resource.get("compression") == "gzip" else data


def _accounts(passwd: dict[str, Any], system: ospb.OperatingSystem) -> None:
    for entry in passwd.get("groups") or []:
        system.groups.add(name=entry["name"], gid=entry.get("gid", 0), system=entry.get("system", False))
    fields = {
        "gecos": "gecos", "homeDir": "home", "noCreateHome": "no_create_home", "shell": "shell",
        "primaryGroup": "primary_group", "uid": "uid", "system": "system",
    }  # fmt: skip
    own = {group.name for group in system.groups}
    for entry in passwd.get("users") or []:
        if entry["name"] in own and not entry.get("primaryGroup"):
            raise UnreadableError("useradd makes no user whose group is there already, unless it is the primary group")
        user = system.users.add(name=entry["name"], groups=entry.get("groups") or [])
        user.ssh_authorized_keys.extend(entry.get("sshAuthorizedKeys") or [])
        for key, field in fields.items():
            if entry.get(key) is not None:
                setattr(user, field, entry[key])
        if entry.get("passwordHash") is not None:
            # Ignition has no word for a locked password; crypt(3) gives no hash that starts with "!".
            user.lock_password = entry["passwordHash"].startswith("!")
            user.password_hash.value = entry["passwordHash"].removeprefix("!")
        for file in system.files:
            if _is_sudoers(file):
                user.sudo.extend(_rules(file.content.data.decode(), user.name))


def _is_sudoers(file: ospb.File) -> bool:
    """Whether sudo reads a file; source: sudoers(5), on @includedir, and its checks of owner and mode."""
    name = file.path.removeprefix(_SUDOERS)
    read = file.owner == "root" and not file.mode & _WRITABLE and "." not in name and not name.endswith("~")
    return file.path.startswith(_SUDOERS) and read


def _rules(text: str, user: str) -> list[str]:
    return [line[len(user) + 1 :] for line in text.splitlines() if line.startswith(f"{user} ")]


def _disks(storage: dict[str, Any], system: ospb.OperatingSystem) -> None:
    for entry in storage.get("disks") or []:
        disk = system.disks.add(device=entry["device"], overwrite=bool(entry.get("wipeTable")))
        disk.table_type = ospb.PARTITION_TABLE_TYPE_GPT
        for part in _numbered(entry.get("partitions") or []):
            kind = part.get("typeGuid") or ""
            disk.partitions.add(
                label=part.get("label") or "", size_mib=part.get("sizeMiB") or 0, type=_TYPES.get(kind, kind)
            )
            # Without a size, or with 0, it takes all that is left.
            disk.partitions[-1].percentage = 0 if part.get("sizeMiB") else 100
    for entry in storage.get("filesystems") or []:
        inner = entry.get("mount") or entry
        filesystem = system.filesystems.add(device=inner["device"], format=inner.get("format") or "")
        filesystem.label = inner.get("label") or ""
        filesystem.overwrite = bool(inner.get("wipeFilesystem"))
        filesystem.options.extend(inner.get("options") or [])


def _numbered(partitions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give partitions in the order of their numbers; one without a number, or with 0, gets the first that is free."""
    by_number = {part["number"]: part for part in partitions if part.get("number")}
    free = (number for number in count(1) if number not in by_number)
    automatic = {next(free): part for part in partitions if not part.get("number")}
    if len(by_number) + len(automatic) < len(partitions):
        raise UnreadableError("two partitions of a disk have the same number")
    return [part for _, part in sorted({**by_number, **automatic}.items())]
