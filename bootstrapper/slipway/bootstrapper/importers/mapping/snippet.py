"""ignition.containerLinuxConfig.additionalConfig: its items join those of the config, as Ignition appends them."""

from slipway.bootstrapper.importers import container_linux_config as clc
from slipway.bootstrapper.importers.container_linux_settings import UPDATE_CONF, NetworkdUnit, update_conf
from slipway.bootstrapper.importers.mapping.context import Context
from slipway.bootstrapper.importers.mapping.place import Place
from slipway.bootstrapper.importers.mapping.snippet_disks import add_filesystem, set_snippet_disks
from slipway.bootstrapper.importers.mapping.snippet_ignition import set_ignition
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb

_NETWORK = "/etc/systemd/network"
_MODE = 0o644
_ELSEWHERE = (
    "only files of the root are carried over: leave it out and write the path that it has in the running system, below "
    "a mount of this config (mounts) where it is on a disk of its own; a command of preKubeadmCommands can write to "
    "what the image mounts, such as /usr/share/oem/grub.cfg"
)


def set_snippet(
    context: Context, place: Place, snippet: clc.ContainerLinuxConfig, spec: specpb.MachineBootstrapSpec
) -> None:
    """Carry over a snippet. An account that the config has too gets the snippet's keys and groups as well."""
    os = spec.os
    set_ignition(context, place.within("ignition"), snippet.ignition, spec)
    for index, filesystem in enumerate(snippet.storage.filesystems):
        add_filesystem(context, place.within(f"storage.filesystems[{index}]"), filesystem, os)
    set_snippet_disks(context, place.within("storage.disks"), snippet.storage.disks, spec)
    for index, file in enumerate(snippet.storage.files):
        _add_file(os, _file(context, place.within(f"storage.files[{index}]"), file))
    for index, directory in enumerate(snippet.storage.directories):
        os.directories.append(_directory(context, place.within(f"storage.directories[{index}]"), directory))
    for index, link in enumerate(snippet.storage.links):
        os.links.append(_link(context, place.within(f"storage.links[{index}]"), link))
    for index, unit in enumerate(snippet.systemd.units):
        os.systemd_units.append(_unit(place.within(f"systemd.units[{index}]"), unit))
    for index, group in enumerate(snippet.passwd.groups):
        os.groups.append(_group(place.within(f"passwd.groups[{index}]"), group))
    for index, user in enumerate(snippet.passwd.users):
        _add_user(os, _user(place.within(f"passwd.users[{index}]"), user))

    _set_settings(place, snippet, os)


def _set_settings(place: Place, snippet: clc.ContainerLinuxConfig, os: ospb.OperatingSystem) -> None:
    """Add the files that settings of networks, updates and reboots mean."""
    for index, network in enumerate(snippet.networkd.units):
        for name, text in _networkd_files(network).items():
            item = ospb.File(path=f"{_NETWORK}/{name}", mode=_MODE)
            item.origin.CopyFrom(place.within(f"networkd.units[{index}]").origin())
            item.content.text = text
            _add_file(os, item)
    text = update_conf(snippet.update, snippet.locksmith)
    if text:
        here = place.within("update" if snippet.update is not None else "locksmith")
        item = ospb.File(path=UPDATE_CONF, mode=_MODE, origin=here.origin())
        item.content.text = text
        _add_file(os, item)


def _networkd_files(unit: NetworkdUnit) -> dict[str, str]:
    """Give the texts of a unit of networkd and its drop-ins by file name; Ignition leaves out what is empty."""
    files = {f"{unit.name}.d/{drop_in.name}": drop_in.contents for drop_in in unit.dropins}
    return {name: text for name, text in {**files, unit.name: unit.contents}.items() if text}


def _add_file(os: ospb.OperatingSystem, item: ospb.File) -> None:
    """Add a file, in the place of one with the same path: what comes later wins in Ignition."""
    replaced = [index for index, file in enumerate(os.files) if file.path == item.path and not item.append]
    for index in reversed(replaced):
        del os.files[index]
    os.files.append(item)


def _file(context: Context, place: Place, file: clc.File) -> ospb.File:
    item = ospb.File(path=file.path, origin=place.origin())
    contents = file.contents or clc.Contents()
    if contents.remote is not None:
        item.remote.urls.append(contents.remote.url)
        verification = contents.remote.verification
        if verification and verification.hash:
            item.remote.sha512 = verification.hash.sum
    elif isinstance(contents.inline, bytes):
        item.content.CopyFrom(contentpb.Content(data=contents.inline))
    else:
        item.content.CopyFrom(contentpb.Content(text=contents.inline or ""))
    _set_node(context, place, item, file)
    if file.mode is not None:
        item.mode = file.mode
    if file.append:
        item.append = True
    if file.overwrite is False:
        context.findings.refuse(
            place.within(f"{place.inner}.overwrite"), "keeping a file that is there is not carried over"
        )
    return item


def _directory(context: Context, place: Place, directory: clc.Directory) -> ospb.Directory:
    item = ospb.Directory(path=directory.path, origin=place.origin())
    _set_node(context, place, item, directory)
    if directory.mode is not None:
        item.mode = directory.mode
    return item


def _link(context: Context, place: Place, link: clc.Link) -> ospb.Link:
    item = ospb.Link(path=link.path, target=link.target, origin=place.origin())
    _set_node(context, place, item, link)
    if link.hard:
        item.hard = True
    return item


def _set_node(context: Context, place: Place, item: ospb.File | ospb.Directory | ospb.Link, node: clc.Node) -> None:
    if node.filesystem not in {"", "root"}:
        context.findings.refuse(place.within(f"{place.inner}.filesystem"), _ELSEWHERE)
    owner, group = _account(node.user), _account(node.group)
    if owner:
        item.owner = owner
    if group:
        item.group = group


def _account(account: clc.Account | None) -> str:
    if account is None:
        return ""
    return account.name or ("" if account.id is None else str(account.id))


def _unit(place: Place, unit: clc.Unit) -> ospb.SystemdUnit:
    item = ospb.SystemdUnit(name=unit.name, origin=place.origin())
    if unit.contents:
        item.contents = unit.contents
    enabled = unit.enabled if unit.enabled is not None else unit.enable
    if enabled is not None:
        item.enabled = enabled
    if unit.mask:
        item.masked = True
    item.drop_ins.extend(ospb.SystemdDropIn(name=drop_in.name, contents=drop_in.contents) for drop_in in unit.dropins)
    return item


def _group(place: Place, group: clc.Group) -> ospb.Group:
    item = ospb.Group(name=group.name, origin=place.origin())
    if group.gid is not None:
        item.gid = group.gid
    if group.system:
        item.system = True
    return item


def _user(place: Place, user: clc.User) -> ospb.User:
    item = ospb.User(name=user.name, groups=user.groups, origin=place.origin())
    item.ssh_authorized_keys.extend(user.ssh_authorized_keys)
    texts = {"gecos": user.gecos, "home": user.home_dir, "shell": user.shell, "primary_group": user.primary_group}
    for name, text in texts.items():
        if text:
            setattr(item, name, text)
    if user.uid is not None:
        item.uid = user.uid
    for name, flag in {"no_create_home": user.no_create_home, "system": user.system}.items():
        if flag:
            setattr(item, name, True)
    if user.password_hash:
        item.password_hash.CopyFrom(secretpb.SecretValue(value=user.password_hash))
    return item


def _add_user(os: ospb.OperatingSystem, item: ospb.User) -> None:
    known = next((user for user in os.users if user.name == item.name), None)
    if known is None:
        os.users.append(item)
        return
    item.ClearField("origin")
    known.MergeFrom(item)
