"""Ignition's own parsers, for every spec that we may emit, and what belongs to them: its translator, and Butane.

They are published Go modules. A parser finds less than the engine: an unknown owner or an existing file shows only in
a run.
"""

from __future__ import annotations

import json
from typing import Any

from tools.oracles import go_programs
from tools.oracles.failures import EngineBroken
from tools.oracles.finding import Finding, Severity, error

NAME = "ignition"
_BLOCK_DEVICES = ("disks", "raid", "filesystems", "luks")


def validate(config: bytes) -> list[Finding]:
    """What Ignition's own parser for the config's spec version says (3.0 to 3.6, 2.3)."""
    return _findings(go_programs.PROGRAMS["ignition-parsers"].ask("-do=validate", document=config))


def translate(config: bytes) -> bytes:
    """A 2.3 config as the equal 3.0 config, by Ignition's own translator.

    Raises:
        EngineBroken: it cannot be translated.
    """
    answer = go_programs.PROGRAMS["ignition-parsers"].ask("-do=translate", document=config)
    if not answer["ok"] or "config" not in answer:
        raise EngineBroken(f"no translation: {answer.get('error', answer.get('version'))}")
    return json.dumps(answer["config"]).encode()


def butane(document: bytes) -> tuple[bytes, list[Finding]]:
    """What Butane makes of its document (empty if it refuses), and what it says about it."""
    answer = go_programs.PROGRAMS["ignition-parsers"].ask("-do=butane", document=document)
    return json.dumps(answer["config"]).encode() if answer["ok"] else b"", _findings(answer)


def executable(config: bytes, *, leave_out_disks: bool = False) -> tuple[bytes, tuple[str, ...]]:
    """The config as the packaged engine takes it, 2.x translated, and which parts about block devices were left out.

    Raises:
        EngineBroken: it has disks, raid, luks or filesystems, and they are not to be left out.
    """
    try:
        document: dict[str, Any] = json.loads(config)
        version = str(document["ignition"]["version"])
        storage = document.get("storage") or {}
        devices = tuple(name for name in _BLOCK_DEVICES if storage.get(name))
    except (ValueError, KeyError, TypeError, AttributeError):
        return config, ()  # Broken on purpose: the engine is to say so.
    if devices and not leave_out_disks:
        raise EngineBroken(f"storage.{devices[0]} needs block devices, which a machine here must not have")
    if devices:
        document["storage"] = {name: part for name, part in storage.items() if name not in devices}
        config = json.dumps(document).encode()
    return translate(config) if version.startswith("2.") else config, devices


def _findings(answer: dict[str, Any]) -> list[Finding]:
    engine = f"{NAME} {answer['parser']}".strip()
    findings = [
        Finding(
            engine,
            _severity(entry["kind"]),
            entry["message"],
            entry.get("path") or str(entry.get("line", "")),
        )
        for entry in answer.get("entries") or ()
    ]
    if not answer["ok"]:
        findings.append(error(engine, answer["error"]))
    return findings


def _severity(kind: str) -> Severity:
    return Severity.ERROR if kind == "error" else Severity.WARNING
