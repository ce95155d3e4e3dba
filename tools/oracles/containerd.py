"""containerd itself: daemons of three ages with what they really load, and the newest's own reading of files.

``containerd config dump`` and the exit status prove little: a version 3 file is silently ignored by 1.6 and kills 1.7,
a misspelt key is silent before 2.x, and with the wrong pair of registry settings the daemon runs on without its CRI
plugin. So the daemon is started and asked for its plugins, and the values that count are read back.
"""

from __future__ import annotations

import dataclasses
import shlex
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from tools.oracles import go_programs, roots, sandbox
from tools.oracles.finding import Finding, error, warning
from tools.oracles.sandbox import Command, File

NAME = "containerd"
DAEMONS = ("1.6", "1.7", "2.2")
_BUILT = "2.2"  # Not packaged: built from its module.
_ROOTS = {"1.6": "node-bookworm", "1.7": "node-trixie", _BUILT: "node-trixie"}
_CONFIG = "/etc/containerd/config.toml"
_STARTS = """\
containerd >/daemon.log 2>&1 &
daemon=$!
for _ in $(seq 300); do
  kill -0 "$daemon" 2>/dev/null || exit 9
  [ -S /run/containerd/containerd.sock ] && ctr --connect-timeout 1s version >/dev/null 2>&1 && break
  sleep 0.05
done
ctr --connect-timeout 1s plugins ls -d >/plugins || exit 9
kill "$daemon"
wait "$daemon"
exit 0
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Daemon:
    """How a daemon came up: plugin states by ``type.id``, and its effective configuration."""

    up: bool
    plugins: Mapping[str, str]
    effective: Mapping[str, Any]
    findings: tuple[Finding, ...]


def start(config: bytes, *, version: str, extra_files: Mapping[str, File] | None = None) -> Daemon:
    """Starts the real daemon with a configuration, asks it for its plugins, and ends it.

    Args:
        config: what goes to ``/etc/containerd/config.toml``.
        version: one of ``DAEMONS``.
        extra_files: further files by path, such as a certs.d tree.
    """
    files = {**(extra_files or {}), _CONFIG: File(config)}
    commands = [
        Command(("sh", "-c", "containerd config dump 2>/dump.log"), timeout=30.0),
        Command(("cat", "/dump.log")),
        Command(("sh", "-c", _STARTS), timeout=60.0),
        Command(("cat", "/plugins")),
        Command(("cat", "/daemon.log")),
    ]
    if version == _BUILT:
        daemon_program = go_programs.PROGRAMS[f"containerd-{version}"].require()
        files |= {"/usr/local/bin/containerd": File(mode=0o755, host=daemon_program)}
    with sandbox.opened(roots.ROOTS[_ROOTS[version]].require()) as box:
        dump, configuration, daemon, plugins, log = box.session(commands, files=files)
    engine = f"{NAME} {version}"
    states = _plugins(plugins.output.decode(errors="replace")) if not daemon.status else {}
    findings = [error(engine, "the daemon did not come up")] if daemon.status else []
    if dump.status:
        findings.append(error(engine, configuration.output.decode(errors="replace").strip()))
    findings += [
        error(engine, f"plugin {name} is in state {state}")
        for name, state in states.items()
        if "cri" in name and state != "ok"
    ]
    findings += _logged(engine, log.output.decode(errors="replace"))
    effective = {} if dump.status else tomllib.loads(dump.output.decode(errors="replace"))
    return Daemon(daemon.status == 0, states, effective, tuple(findings))


def validate(config: bytes) -> list[Finding]:
    """What containerd's own loader says about a configuration: that of 2.x, and only of its top level.

    For what a daemon makes of it, ask ``start``.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "config.toml"
        file.write_bytes(config)
        answer = go_programs.PROGRAMS["containerd-config"].ask("config", str(file))
    findings = _warnings(answer)
    return findings if answer["ok"] else [*findings, error(f"{NAME} 2", answer["error"])]


@dataclasses.dataclass(frozen=True, slots=True)
class RegistryHost:
    """A place where containerd looks for an image, with what it may do there."""

    url: str
    capabilities: tuple[str, ...]
    headers: Mapping[str, Sequence[str]]


def registry_hosts(
    certs_d: Mapping[str, bytes], references: Sequence[str]
) -> tuple[dict[str, list[RegistryHost]], list[Finding]]:
    """The hosts that containerd would ask for each registry, in that order, and what it warns of.

    Args:
        certs_d: files of a certs.d folder by path relative to it, such as ``docker.io/hosts.toml``.
        references: registries such as ``docker.io``.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, content in certs_d.items():
            if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
                raise ValueError("a path of certs_d must stay inside of it")
            file = Path(folder) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        answer = go_programs.PROGRAMS["containerd-config"].ask("hosts", folder, *references)
    findings = _warnings(answer)
    if not answer["ok"]:
        findings.append(error(f"{NAME} 2", answer["error"]))
    hosts = {
        reference: [
            RegistryHost(
                f"{entry['scheme']}://{entry['host']}{entry['path']}",
                tuple(entry["capabilities"]),
                entry.get("header") or {},
            )
            for entry in listed
        ]
        for reference, listed in (answer.get("hosts") or {}).items()
    }
    return hosts, findings


def _warnings(answer: Mapping[str, Any]) -> list[Finding]:
    """What the module only logs; a file that it cannot read and a key that it does not know are errors for us."""
    return [
        (error if message.startswith("error:") or "unknown key" in message else warning)(f"{NAME} 2", message)
        for message in answer.get("warnings") or ()
    ]


def _plugins(text: str) -> dict[str, str]:
    """The states out of ``ctr plugins ls -d``: blocks of ``Type:``, ``ID:`` and, if it failed, ``Error:`` lines."""
    states: dict[str, str] = {}
    kind = name = ""
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key == "Type":
            kind = value.strip()
        elif key == "ID":
            name = f"{kind}.{value.strip()}"
            states[name] = "ok"
        elif key == "Error":
            states[name] = "error"
    return states


def _logged(engine: str, log: str) -> list[Finding]:
    findings = []
    for line in log.splitlines():
        if not line.startswith("time="):
            continue
        words = dict(word.partition("=")[::2] for word in shlex.split(line) if "=" in word)
        about = f"{words.get('msg', '')} {words.get('error', '')}".strip()
        if words.get("level") in {"error", "fatal"} and ("cri" in about or "registry" in about):
            findings.append(error(engine, about))
        elif "unknown key" in about:
            findings.append(error(engine, f"unknown key {words.get('key')}", words.get("plugin", "")))
        elif words.get("level") == "warning" and "deprecat" in about:
            findings.append(warning(engine, about))
    return findings
