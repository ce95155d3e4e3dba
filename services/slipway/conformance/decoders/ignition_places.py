"""Where the nodes of an Ignition config lie: on which filesystem they are written, and where that is after the boot.

Ignition writes before anything is mounted but what the config says under `storage.filesystems`, and units mount later.
A file that is written to another filesystem than the one that is mounted at its place cannot be seen any more.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from slipway.conformance.decoders.sight import UnreadableError

_BY_LABEL = ("LABEL=", "/dev/disk/by-label/")


class Places:
    """The filesystems of a config, and the mounts of its units."""

    def __init__(self, storage: Mapping[str, Any], mounts: Iterable[Any]) -> None:
        """Take `storage` as it stands in the config, and what its units mount."""
        self._labels: dict[str, str] = {}
        self._names: dict[str, str] = {}
        written: list[tuple[str, str]] = []
        for entry in storage.get("filesystems") or []:
            inner = entry.get("mount") or entry
            device = inner["device"]
            self._names[entry.get("name") or ""] = device
            self._labels |= {f"{start}{inner['label']}": device for start in _BY_LABEL if inner.get("label")}
            if inner.get("path"):
                written.append((inner["path"].rstrip("/"), device))
        self._written = written
        self._mounted = [
            (mount.path.rstrip("/"), self._labels.get(mount.source, mount.source)) for mount in mounts if mount.path
        ]

    def path(self, entry: Mapping[str, Any]) -> str:
        """Give the path of a node; that of the old form is one from the root of its filesystem.

        Raises:
            UnreadableError: Ignition takes no such path.
        """
        if not entry["path"].startswith("/"):
            raise UnreadableError("the path of a node does not begin with a slash")
        device = self._names.get(entry["filesystem"], "") if entry.get("filesystem") else ""
        place = next((place for place, mounted in self._mounted if device and mounted == device), "")
        return f"{place}{entry['path']}"

    def is_hidden(self, entry: Mapping[str, Any]) -> bool:
        """Whether another filesystem is mounted over a node after it was written."""
        path = self.path(entry)
        written = self._names.get(entry["filesystem"], "") if entry.get("filesystem") else _at(path, self._written)
        return written != _at(path, self._mounted)


def _at(path: str, places: Iterable[tuple[str, str]]) -> str:
    """Give the device at a path: that of the deepest place, the last of several; "" for the machine's own."""
    device, deepest = "", -1
    for place, there in places:
        if path.startswith(f"{place}/") and len(place) >= deepest:
            device, deepest = there, len(place)
    return device
