"""Cluster API's docker provider, as far as it reads user data: it has no cloud-init, but a small reader of its own.

The reader is in an internal package and cannot be called; what is written down here is what it does: it knows
`write_files` and `runcmd` and nothing else, executes one after the other in a shell, stops at the first failure, and
looks for the literal `kubeadm init` or `kubeadm join` to make kubeadm content with a container.
"""

import base64
import gzip
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from tests.oracles.machines import given_files
from tools.oracles import roots, sandbox, tree_scan
from tools.oracles.machine_state import MachineState
from tools.oracles.sandbox import Command

_WRITE = 'mkdir -p "$(dirname "$1")" && cat %s "$1" && chown "$2" "$1" && chmod "$3" "$1"'
# It passes over "defer", and makes no users later: the order of the entries is all there is.
_KNOWN = {"path", "owner", "permissions", "encoding", "append", "content", "defer"}
_PREFLIGHT = "--ignore-preflight-errors=all"


class NotUnderstood(ValueError):  # noqa: N818  # it is a finding
    """The reader would leave something out, or fail."""


def boot(user_data: bytes) -> MachineState:
    """Have a machine executed as the provider executes it."""
    document = yaml.safe_load(user_data)
    unknown = set(document) - {"write_files", "runcmd"}
    if unknown:
        raise NotUnderstood(f"nothing is made of {sorted(unknown)}")
    commands = [*_files(document["write_files"]), *_commands(document["runcmd"])]
    with sandbox.opened(roots.ROOTS["trixie"].require()) as box:
        for outcome in box.session(commands, files=given_files()):
            if outcome.status:
                raise NotUnderstood(f"{outcome.argv} ended with {outcome.status}: {outcome.output.decode()}")
        return tree_scan.read(box, tree_scan.Verdict("docker", "done", ()), given=given_files())


def _files(entries: list[dict[str, Any]]) -> Iterator[Command]:
    for entry in entries:
        if set(entry) - _KNOWN:
            raise NotUnderstood(f"{entry['path']}: nothing is made of {sorted(set(entry) - _KNOWN)}")
        script = _WRITE % (">>" if entry.get("append") else ">")
        owner, mode = entry.get("owner", "root:root"), entry.get("permissions", "0644")
        yield Command(("sh", "-c", script, "sh", entry["path"], owner, mode), stdin=_content(entry))


def _content(entry: Mapping[str, Any]) -> bytes:
    data: bytes = entry.get("content", "").encode()
    encoding = entry.get("encoding", "")
    if "base64" in encoding or "b64" in encoding:
        data = base64.b64decode(data)
    return gzip.decompress(data) if "gz" in encoding else data


def _commands(entries: list[Any]) -> Iterator[Command]:
    for entry in entries:
        line = entry if isinstance(entry, str) else " ".join(entry)
        for verb in ("init", "join"):
            line = line.replace(f"kubeadm {verb}", f"kubeadm {verb} {_PREFLIGHT}", 1)
        yield Command(("/bin/sh", "-c", line))
