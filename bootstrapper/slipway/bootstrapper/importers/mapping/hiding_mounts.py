"""Mounts of an ignition config that hide what was written below them: the boot mounts them after Ignition has written.

Ignition writes into the filesystems that it makes itself. A mount of anything else is a unit of systemd: what Ignition
has written to the folder of the root by then is there no more. Today's provider mounts no such source at all.
"""

from collections.abc import Iterator

from slipway.bootstrapper.importers.mapping.context import IGNITION, Context
from slipway.bootstrapper.importers.mapping.files import normal_path
from slipway.bootstrapper.importers.mapping.place import Place
from slipway.v1alpha1 import os_pb2 as ospb

_OF_IMAGE = frozenset({"/", "/etc", "/usr", "/var"})
"""Folders of which the image has more than an empty one, and where Slipway writes, too."""
_MOST = 3
_REMEDY = "mount it at a folder of its own, or make its filesystem in diskSetup, into which Ignition writes"


def warn_of_hidden(context: Context, place: Place, os: ospb.OperatingSystem) -> None:
    """Warn of each mount that hides files of the config, or what the image has; `place` is that of the mounts."""
    if context.format != IGNITION or context.findings.problems:
        return
    made = {name for filesystem in os.filesystems for name in _names(filesystem)}
    for index, mount in enumerate(os.mounts):
        path = normal_path(mount.path)
        if mount.source in made or not path.startswith("/"):
            continue
        hidden = [*_below(path, os), *(["what the image and Slipway have there"] if path in _OF_IMAGE else [])]
        if hidden:
            more = f" and {len(hidden) - _MOST} more" if len(hidden) > _MOST else ""
            message = f"hides what was written below it before: {', '.join(hidden[:_MOST])}{more}; {_REMEDY}"
            context.findings.warn(place.at(index, 1), "MOUNT_HIDES", message)


def _names(filesystem: ospb.Filesystem) -> Iterator[str]:
    if filesystem.device:
        yield filesystem.device
    if filesystem.label:
        yield from (f"LABEL={filesystem.label}", f"/dev/disk/by-label/{filesystem.label}")


def _below(path: str, os: ospb.OperatingSystem) -> Iterator[str]:
    """Give the places of the nodes that are written at or below a path."""
    above = path.rstrip("/") + "/"
    nodes: list[ospb.File | ospb.Directory | ospb.Link] = [*os.files, *os.directories, *os.links]
    for node in nodes:
        if normal_path(node.path) == path or normal_path(node.path).startswith(above):
            yield node.origin.path
