"""The volumes of a pod as folders: Secrets and ConfigMaps of the API server, written in the way of a kubelet."""

import base64
import itertools
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.cluster.client import Client

Object = dict[str, Any]
Key = tuple[str, str]

TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount"


class NotMounted(Exception):  # noqa: N818  # a state of the volume, which the next try may change
    """A volume cannot be mounted yet, so that the pod does not start; the text says why."""


@dataclass
class Volumes:
    """The volumes of one pod below a folder."""

    folder: Path
    client: Client
    namespace: str
    group: int
    _versions: dict[str, Mapping[str, bytes]] = field(default_factory=dict)
    _numbers: itertools.count = field(default_factory=itertools.count)  # type: ignore[type-arg]

    def mount(self, pod: Object, container: Object) -> dict[str, tuple[str, bool]]:
        """Give what is bound where in a container: path, folder, and whether it is read-only.

        Raises:
            NotMounted: a Secret or ConfigMap, or a key of it, is not there.
        """
        volumes = {one["name"]: one for one in pod.get("volumes") or ()}
        found = {}
        for mount in container.get("volumeMounts") or ():
            volume = volumes[mount["name"]]
            self._write(volume)
            found[mount["mountPath"]] = (str(self.folder / volume["name"]), mount.get("readOnly", False))
        return found

    def token(self, content: Mapping[str, bytes]) -> dict[str, tuple[str, bool]]:
        """Give the mount of the account's token."""
        self._replace("token", content, mode=0o644)
        return {TOKEN: (str(self.folder / "token"), True)}

    def follow(self, pod: Object) -> bool:
        """Write what has changed in the API server; tell whether anything had."""
        before = dict(self._versions)
        for volume in pod.get("volumes") or ():
            if volume["name"] in before:
                self._write(volume)
        return before != self._versions

    def _write(self, volume: Object) -> None:
        name = volume["name"]
        if "emptyDir" in volume:
            (self.folder / name).mkdir(parents=True, exist_ok=True)
            os.chown(self.folder / name, 0, self.group)
            (self.folder / name).chmod(0o2777)
        elif "secret" in volume:
            source = volume["secret"]
            self._replace(name, self._data("Secret", source["secretName"], source), mode=source["defaultMode"])
        elif "configMap" in volume:
            source = volume["configMap"]
            self._replace(name, self._data("ConfigMap", source["name"], source), mode=source["defaultMode"])
        else:
            raise KeyError(f"volume {name}: of a kind that nobody needed so far")

    def _data(self, kind: str, name: str, source: Object) -> dict[str, bytes]:
        found = self.client.find("v1", kind, name, namespace=self.namespace)
        if found is None:
            raise NotMounted(f"{kind} {name} is not there")
        data = found.get("data") or {}
        content = {key: base64.b64decode(one) if kind == "Secret" else one.encode() for key, one in data.items()}
        items = source.get("items")
        if items is None:
            return content
        missing = [item["key"] for item in items if item["key"] not in content]
        if missing:
            raise NotMounted(f"{kind} {name} has no {missing[0]} yet")
        return {item["path"]: content[item["key"]] for item in items}

    def _replace(self, name: str, content: Mapping[str, bytes], *, mode: int) -> None:
        """All files change at once: a reader opens them by way of one symbolic link, which is renamed."""
        if self._versions.get(name) == content:
            return
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        version = folder / f"..{next(self._numbers)}"
        version.mkdir(mode=0o755)
        for key, value in content.items():
            descriptor = os.open(version / key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(value)
            os.chown(version / key, 0, self.group)
            (version / key).chmod(mode)
        link, old = folder / "..data", None
        if link.is_symlink():
            old = folder / link.readlink()
        beside = folder / "..data.new"
        beside.symlink_to(version.name)
        beside.rename(link)
        for key in content:
            if not (folder / key).is_symlink():
                (folder / key).symlink_to(f"..data/{key}")
        if old is not None:
            shutil.rmtree(old)
        self._versions[name] = dict(content)
