"""Files: cloud-init's write_files, with the owners, parents and times that the contract promises."""

import stat

from slipway.contract.paths import parents
from slipway.provisioners.cloud_init.document import Value
from slipway.provisioners.cloud_init.raw_items import RawItems
from slipway.provisioners.cloud_init.texts import content_entry
from slipway.sdk import RenderContext
from slipway.v1alpha1 import os_pb2 as ospb

_ROOT = "root"
_DEFAULT_MODE = 0o644
_SET_ID_BITS = 0o6000
# Directories that every Linux system has.
_STANDARD = {"", "/etc", "/home", "/opt", "/root", "/run", "/srv", "/usr", "/usr/local", "/usr/local/bin"} | {
    "/var",
    "/var/lib",
    "/var/log",
}


def write_files(system: ospb.OperatingSystem, ctx: RenderContext, raw: RawItems) -> list[Value]:
    """Give the entries of write_files for the bundle's files, in their order.

    What is not root's, or lies on a mount or in a home of the bundle, is deferred: cloud-init makes mounts
    and users after its first round of files. So is what comes behind a deferred file of the same path.
    """
    late = {mount.path.rstrip("/") for mount in system.mounts if mount.path.startswith("/")}
    late |= {user.home or f"/home/{user.name}" for user in system.users if user.name != _ROOT}
    made = _STANDARD | late
    deferred: set[str] = set()
    of_files: list[list[Value]] = []
    for index, file in enumerate(system.files):
        path = f"os.files[{index}]"
        entries: list[Value] = []
        of_files.append(entries)
        if file.owner.isdecimal() or file.group.isdecimal():
            ctx.refuse(path, "os.files", "cloud-init knows owners and groups by name only")
            continue
        if file.mode & _SET_ID_BITS:
            ctx.refuse(path, "os.files", "cloud-init changes the owner last, and the kernel drops these bits then")
            continue
        content = content_entry(file.content, ctx, f"{path}.content")
        if content is None:
            ctx.refuse(path, "os.files.extensions", "a template must stand in text that can be a literal block")
            continue
        above = parents(file.path)
        rooted = file.owner == _ROOT and file.group == _ROOT
        if not rooted and not made.issuperset(above):
            # cloud-init gives new parents to the file's owner: let root make them first.
            entries.append({"path": file.path, "permissions": "0600", "defer": True})
        made.update(above)
        if not rooted or not late.isdisjoint(above):
            deferred.add(file.path)
        entries.append(
            {
                "path": file.path,
                # Root and 0644 are fixed in cloud-init's code: saying them would only cost space.
                **({} if rooted else {"owner": f"{file.owner}:{file.group}"}),
                **({} if file.mode == _DEFAULT_MODE else {"permissions": _permissions(file.mode)}),
                **({"defer": True} if file.path in deferred else {}),
                **content,
            }
        )
    return raw.among("write_files", of_files)


def _permissions(mode: int) -> str:
    """Give a mode as cloud-init reads it, which takes 0 for no mode at all and leaves the file at 0644.

    With the bits of a regular file, which chmod(2) ignores, it is a number that counts. Source: util.chmod.
    """
    return f"{mode or stat.S_IFREG:04o}"
