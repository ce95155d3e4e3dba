"""The Ignition config of spec 2.3.0, made from the document of spec 3.

Spec 2 differs in shape: nodes name the filesystem that they lie on, filesystems are wrapped, and nested configs are
appended. Appending to files has another shape as well, but what is left of it is refused before: the translator
that newer machines put in front of their Ignition takes each path once. Source: configuration-v2_3.md of
coreos/ignition.
"""

from typing import Any

_ROOT = "root"


def translate(config: dict[str, Any]) -> dict[str, Any]:
    """Give the document, as it stands in JSON, in the shape of spec 2."""
    ignition = dict(config["ignition"])
    if "config" in ignition:
        ignition["config"] = {"append": ignition["config"]["merge"]}
    return config | {"ignition": ignition, "storage": _storage(config["storage"])}


def _storage(storage: dict[str, Any]) -> dict[str, Any]:
    translated = dict(storage)
    filesystems = {f"fs{index}": filesystem for index, filesystem in enumerate(storage.get("filesystems", []))}
    places = {entry["path"].rstrip("/"): name for name, entry in filesystems.items() if "path" in entry}
    if filesystems:
        translated["filesystems"] = [
            {"name": name, "mount": {key: value for key, value in entry.items() if key != "path"}}
            for name, entry in filesystems.items()
        ]
    for key in ("directories", "files", "links"):
        if key in storage:
            translated[key] = [_on_filesystem(node, places) for node in storage[key]]
    return translated


def _on_filesystem(node: dict[str, Any], places: dict[str, str]) -> dict[str, Any]:
    """Give a node with its filesystem, the deepest that it lies on, and its path from that one's root."""
    path = node["path"]
    place = max((place for place in places if f"{path}/".startswith(f"{place}/")), key=len, default="")
    return node | {"filesystem": places.get(place, _ROOT), "path": path[len(place) :] or "/"}
