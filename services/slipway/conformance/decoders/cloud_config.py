"""#cloud-config, as the reference of cloud-init's modules describes it."""

import base64
import binascii
import gzip
import re
import stat
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from slipway.conformance.decoders import units
from slipway.conformance.decoders.cloud_config_storage import searches, storage
from slipway.conformance.decoders.sight import UnreadableError, known, other, sees, unread
from slipway.conformance.decoders.words import shell_lines, shell_words
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import os_pb2 as ospb

_SEES = "cloud-config"
_SEES_BELOW = "cloud_config"
_HEADER, _TEMPLATE = b"#cloud-config\n", b"## template: jinja\n"
_VARIABLE, _CONSTRUCTS = re.compile(rb"\{\{ [a-z0-9_.]+ \}\}"), re.compile(rb"\{[{%#]")
_LITERAL = re.compile(rb"\{\{ '([^'\\]*)' \}\}")
_SCRIPTS = {
    "/var/lib/cloud/scripts/per-boot": statepb.START_EVERY_BOOT,
    "/var/lib/cloud/scripts/per-once": statepb.START_FIRST_BOOT,
    "/var/lib/cloud/scripts/per-instance": statepb.START_FIRST_BOOT,
}
_UNITS, _SET_ID, _USUAL_MODE = "/etc/systemd/system", 0o6000, 0o644
_BASE64 = {"b64", "base64", "gz+b64", "gz+base64", "gzip+b64", "gzip+base64"}
_GZIP = {"gz", "gzip", "gz+b64", "gz+base64", "gzip+b64", "gzip+base64"}
_READ = {
    "bootcmd", "disk_setup", "fqdn", "fs_setup", "groups", "hostname", "mounts", "ntp", "package_update",
    "package_upgrade", "packages", "runcmd", "swap", "timezone", "users", "write_files",
}  # fmt: skip
_HARMLESS = {
    "create_hostname_file", "final_message", "manage_etc_hosts", "merge_how", "merge_type", "output",
    "prefer_fqdn_over_hostname", "preserve_hostname",
}  # fmt: skip
"""What says how the rest is done, and gives the machine nothing of its own."""


def decode(user_data: bytes, attachments: Mapping[str, bytes]) -> statepb.MachineState:
    """Give what a cloud-config says. Of one that is rendered as a template on the machine, variables stay as they are.

    Raises:
        UnreadableError: it is no cloud-config.
    """
    del attachments
    if user_data.startswith(_TEMPLATE):
        # Jinja drops the last line break.
        user_data = user_data.removeprefix(_TEMPLATE).removesuffix(b"\n")
        if _CONSTRUCTS.search(_LITERAL.sub(b"", _VARIABLE.sub(b"", user_data))):
            return statepb.MachineState()  # more than variables and texts: only Jinja itself reads that
        user_data = _LITERAL.sub(rb"\1", user_data)
    if not user_data.startswith(_HEADER):
        raise UnreadableError("its first line is not #cloud-config")
    try:
        document = yaml.safe_load(user_data)
        if not isinstance(document, dict):
            raise UnreadableError("it is no mapping")
        return _state(document)
    except (yaml.YAMLError, UnicodeDecodeError):
        raise UnreadableError("it is no YAML") from None
    except (KeyError, TypeError, ValueError, AttributeError, binascii.Error, zlib.error, OSError) as error:
        raise UnreadableError(f"a key has another shape than cloud-init asks for ({type(error).__name__})") from None


def _state(document: dict[str, Any]) -> statepb.MachineState:
    state = statepb.MachineState(features=sees(_SEES))
    system = state.os
    system.files.extend(_files(document.get("write_files", [])))
    # What is written a second time later is late.
    late = {entry["path"] for entry in document.get("write_files", []) if entry.get("defer")}
    state.early_files.extend(entry["path"] for entry in document.get("write_files", []) if entry["path"] not in late)
    system.groups.extend(_groups(document.get("groups", [])))
    _users(document, system)
    storage(document, system)
    name = document.get("fqdn") or document.get("hostname")
    if name:
        system.hostname.name.value = str(name)
    if document.get("timezone"):
        system.time_zone.name = document["timezone"]
    _packages(document, system)
    if "ntp" in document:
        system.ntp.enabled = document["ntp"].get("enabled", True)
        system.ntp.servers.extend(document["ntp"].get("servers", []))
        system.ntp.pools.extend(document["ntp"].get("pools", []))
    state.programs.extend(_programs(document, system))
    state.others.extend(searches(document))
    for key in sorted(document.keys() - _READ - _HARMLESS):
        state.others.append(other(key, document[key]))
    read = {key: document[key] for key in known(_SEES_BELOW) if key in document}
    state.others.extend(unread(read, known(_SEES_BELOW), ""))
    return state


def _files(entries: list[dict[str, Any]]) -> Iterator[ospb.File]:
    # What cloud-init defers it writes after all others.
    replaced: dict[str, ospb.File] = {}
    appended: list[ospb.File] = []
    for entry in sorted(entries, key=lambda one: bool(one.get("defer"))):
        owner, _, group = str(entry.get("owner", "root:root")).partition(":")
        made = ospb.File(path=entry["path"], owner=owner, group=group, mode=_mode(entry.get("permissions", "0644")))
        made.content.data = _content(entry)
        if entry.get("append"):
            made.append = True
            appended.append(made)
        else:
            replaced[made.path] = made
    yield from replaced.values()
    yield from appended


def _mode(said: Any) -> int:
    # A bare number in YAML is read as decimal by cloud-init, whatever it looks like. It changes the owner last, and the
    # kernel drops the bits that change who a program runs as. It takes 0 for no mode at all, while the kernel ignores
    # the bits of a file's type.
    number = said if isinstance(said, int) else int(str(said), 8)
    return stat.S_IMODE(number) & ~_SET_ID if number else _USUAL_MODE


def _content(entry: dict[str, Any]) -> bytes:
    said = entry.get("content", "")
    data = said if isinstance(said, bytes) else str(said).encode()
    encoding = str(entry.get("encoding", "text/plain"))
    if encoding in _BASE64:
        data = base64.b64decode(data, validate=True)
    return gzip.decompress(data) if encoding in _GZIP else data


def _groups(entries: Any) -> Iterator[ospb.Group]:
    for entry in entries:
        yield ospb.Group(name=entry if isinstance(entry, str) else next(iter(entry)))


def _users(document: dict[str, Any], system: ospb.OperatingSystem) -> None:
    entries = document.get("users")
    if entries is None:
        system.default_user = ospb.DEFAULT_USER_KEEP
        return
    system.default_user = ospb.DEFAULT_USER_KEEP if "default" in entries else ospb.DEFAULT_USER_OMIT
    words = {"gecos": "gecos", "homedir": "home", "shell": "shell", "primary_group": "primary_group"}
    values = {"no_create_home": "no_create_home", "uid": "uid", "system": "system", "lock_passwd": "lock_password"}
    own = {group.name for group in system.groups}
    for entry in entries:
        if entry == "default":
            continue
        # cloud-init locks passwords unless it is told not to.
        user = system.users.add(name=entry["name"], lock_password=True)
        if entry.get("ssh_authorized_keys") and (entry.get("no_create_home") or entry.get("system")):
            # Source: cc_users_groups, NO_HOME and NEED_HOME.
            raise UnreadableError("cloud-init gives up on all users where one has keys and no home that it makes")
        for key, field in {**words, **values}.items():
            if key in entry:
                setattr(user, field, entry[key])
        groups = entry.get("groups", [])
        user.groups.extend(groups.split(",") if isinstance(groups, str) else groups)
        if user.name in own and not user.primary_group:
            raise UnreadableError("useradd makes no user whose group is there already, unless it is the primary group")
        # What `passwd` says holds for new users only.
        if entry.get("hashed_passwd"):
            user.password_hash.value = entry["hashed_passwd"]
        sudo = entry.get("sudo", [])
        user.sudo.extend(sudo.split(f"\n{user.name} ") if isinstance(sudo, str) else sudo)
        user.ssh_authorized_keys.extend(entry.get("ssh_authorized_keys", []))


def _packages(document: dict[str, Any], system: ospb.OperatingSystem) -> None:
    if not any(key in document for key in ("packages", "package_update", "package_upgrade")):
        return
    # cloud-init refreshes the index before it installs anything, whatever the key says.
    system.packages.update = bool(document.get("package_update") or document.get("packages"))
    system.packages.upgrade = document.get("package_upgrade", False)
    for package in document.get("packages", []):
        name, version = package if isinstance(package, list) else (package, "")
        system.packages.install.add(name=name, version=version)


def _programs(document: dict[str, Any], system: ospb.OperatingSystem) -> Iterator[statepb.Program]:
    commands: list[list[str]] = []
    for key, start in (("bootcmd", statepb.START_EARLY), ("runcmd", statepb.START_FIRST_BOOT)):
        for entry in document.get(key, []):
            argv = [str(word) for word in entry] if isinstance(entry, list) else ["sh", "-c", entry]
            yield statepb.Program(argv=argv, start=start)
            commands.append(argv if isinstance(entry, list) else shell_words(entry) or [])
    for file in system.files:
        folder, _, name = file.path.rpartition("/")
        text = file.content.data.decode(errors="replace")
        if folder in _SCRIPTS and file.mode & 0o111:
            for line in shell_lines(text):
                words = shell_words(line)
                if words:
                    yield statepb.Program(argv=words[1:] if words[0] == "exec" else words, start=_SCRIPTS[folder])
        elif folder == _UNITS and name.endswith(".service"):
            yield from _service(name, units.sections(text), commands)


def _service(name: str, said: units.Sections, commands: list[list[str]]) -> Iterator[statepb.Program]:
    """Give what a unit among the files starts, where a command starts it; one that is only enabled starts too late."""
    about = [
        argv
        for argv in commands
        if argv and argv[0].rpartition("/")[2] == "systemctl" and {name, name.removesuffix(".service")} & set(argv)
    ]
    if not any({"start", "restart", "--now"} & set(argv) for argv in about):
        return
    enabled = "WantedBy" in said.get("Install", {}) and any("enable" in argv for argv in about)
    for program in units.programs(said):
        if not enabled:
            program.start = statepb.START_FIRST_BOOT
        program.unit_name = name
        yield program
