"""A wave on Windows: staged files, and the JSON list from which the static installer takes their places.

Windows has no permission bits. A file without any bit for group and others is for Administrators and SYSTEM
only; any other one inherits the access list of its folder. "root" means the Administrators.
"""

from collections.abc import Iterator
from typing import Any

from slipway.bootstrapper.lowering.runners.pieces import SplicedFact, pieces
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.bootstrapper.lowering.runners.windows_file import (
    INSTALL_PROGRAM,
    POWERSHELL,
    ROOT,
    document,
    private_file,
)
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb

_ENCODINGS = {contentpb.SPLICE_ENCODING_JSON_STRING: "json", contentpb.SPLICE_ENCODING_BASE64: "base64"}
_GROUP_AND_OTHERS = 0o077


def install_argv(wave_id: str) -> list[str]:
    """Give the command that installs a wave."""
    return [*POWERSHELL, INSTALL_PROGRAM, wave_id]


def install_step(wave: Wave) -> planpb.Step:
    """Give the step that installs a wave."""
    return planpb.Step(id=wave.id, phase=planpb.PHASE_PREPARE, command=planpb.Command(argv=install_argv(wave.id)))


def is_protected(mode: int) -> bool:
    """Say whether permission bits mean Administrators and SYSTEM only."""
    return not mode & _GROUP_AND_OTHERS


def stage_files(wave: Wave) -> Iterator[ospb.File]:
    """Give the files of a wave: its parts, then its list.

    Raises:
        UnsupportedFeature: a file holds text of an extension.
    """
    folder = f"{ROOT}\\stage\\{wave.id}"
    entries: list[dict[str, Any]] = [
        {"kind": "directory", "path": _path(directory.path), **_access(directory.owner, directory.mode)}
        for directory in wave.directories
    ]
    number = 0
    for file in wave.files:
        parts: list[dict[str, str]] = []
        for piece in pieces(file.content, file.origin):
            if isinstance(piece, SplicedFact):
                parts.append({"fact": piece.name, "encoding": _ENCODINGS.get(piece.encoding, "raw")})
                continue
            number += 1
            parts.append({"part": str(number)})
            yield private_file(f"{folder}\\{number}", piece, file.origin)
        entry = {"kind": "append" if file.append else "file", "path": _path(file.path), "parts": parts}
        if file.HasField("remote"):
            entry["remote"] = _sources(file.remote)
        entries.append({**entry, **_access(file.owner, file.mode)})
    entries += [
        {"kind": "hard" if link.hard else "symbolic", "path": _path(link.path), "target": _path(link.target)}
        for link in wave.links
    ]
    entries += [{"kind": "protect", "path": _path(path), "protected": True} for path in wave.protected]
    yield private_file(f"{folder}\\list.json", document({"items": entries}))


def _path(path: str) -> str:
    return path.replace("/", "\\")


def _access(owner: str, mode: int) -> dict[str, Any]:
    access: dict[str, Any] = {"protected": True} if is_protected(mode) else {}
    return access if owner in ("", "root") else {**access, "owner": owner}


def _sources(remote: ospb.RemoteContent) -> list[dict[str, str]]:
    algorithm, digest = ("SHA512", remote.sha512) if remote.sha512 else ("SHA256", remote.sha256)
    return [{"algorithm": algorithm, "hash": digest.upper(), "url": url} for url in remote.urls]
