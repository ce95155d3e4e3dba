"""Talos' own loader, validator, patcher and generator, in its newest version and in an older one.

Its JSON schema is no gate (it rejects Talos' own generated configurations). The newest loader takes documents
that an older Talos refuses, so a configuration for an older machine must be put to the older module, too.
"""

from __future__ import annotations

import dataclasses
import enum
import tempfile
from pathlib import Path
from typing import Any

from tools.oracles import go_programs
from tools.oracles.failures import EngineBroken
from tools.oracles.finding import Finding, error, warning

NEWEST = "1.13"
OLDER = "1.11"


class Mode(enum.StrEnum):
    """Where the machine runs; metal alone wants an install disk."""

    METAL = "metal"
    CLOUD = "cloud"
    CONTAINER = "container"


@dataclasses.dataclass(frozen=True, slots=True)
class Loaded:
    """What Talos understood: ``documents`` as ``apiVersion/kind``, ``config`` its own dump (or empty)."""

    findings: tuple[Finding, ...]
    machine_type: str
    documents: tuple[str, ...]
    config: str = dataclasses.field(repr=False)


def load(
    config: bytes, *, version: str = NEWEST, mode: Mode = Mode.METAL, strict: bool = True, patch: bytes = b""
) -> Loaded:
    """Loads, optionally patches, and validates a machine configuration.

    Args:
        config: the YAML documents.
        version: of the Talos module that judges: ``NEWEST`` or ``OLDER``.
        mode: where the machine runs.
        strict: let warnings be errors.
        patch: a strategic merge patch to apply first.
    """
    arguments = [f"-mode={mode}", *([] if strict else ["-lenient"])]
    with tempfile.TemporaryDirectory() as folder:
        if patch:
            file = Path(folder) / "patch.yaml"
            file.write_bytes(patch)
            arguments.append(f"-patch={file}")
        answer = go_programs.PROGRAMS[f"talos-{version}"].ask(*arguments, document=config)
    return Loaded(
        findings=tuple(_findings(answer)),
        machine_type=answer.get("machine_type", ""),
        documents=tuple(answer.get("documents", ())),
        config=answer.get("config", ""),
    )


def validate(config: bytes, *, version: str = NEWEST, mode: Mode = Mode.METAL, strict: bool = True) -> list[Finding]:
    """What Talos says about a machine configuration; arguments as in ``load``."""
    return list(load(config, version=version, mode=mode, strict=strict).findings)


@dataclasses.dataclass(frozen=True, slots=True)
class Cluster:
    """Facts for Talos' own generator; ``pki`` is a folder in kubeadm's layout, or None for a new one."""

    name: str = "reference"
    endpoint: str = "https://192.0.2.1:6443"
    kubernetes_version: str = "1.34.3"
    pki: Path | None = None
    token: str = "abcdef.0123456789abcdef"  # noqa: S105 an example, for a machine that never is


def generate(machine_type: str, *, contract: str, cluster: Cluster | None = None, version: str = NEWEST) -> str:
    """A reference configuration by Talos' own generator.

    Args:
        machine_type: ``controlplane`` or ``worker``.
        contract: Talos version that it is for, such as ``v1.12``.
        cluster: what it is about.
        version: of the Talos module that generates.

    Raises:
        EngineBroken: the generator refuses.
    """
    facts = cluster or Cluster()
    arguments = [
        f"-generate={machine_type}", f"-contract={contract}", f"-cluster={facts.name}",
        f"-endpoint={facts.endpoint}",
        f"-kubernetes={facts.kubernetes_version}", f"-token={facts.token}", f"-pki={facts.pki or ''}",
    ]  # fmt: skip
    answer = go_programs.PROGRAMS[f"talos-{version}"].ask(*arguments)
    if not answer["ok"]:
        raise EngineBroken(f"talos {version} generates nothing: {answer['error']}")
    config: str = answer["config"]
    return config


def _findings(answer: dict[str, Any]) -> list[Finding]:
    engine = f"talos {answer['version']}"
    findings = [warning(engine, message, answer["stage"]) for message in answer.get("warnings") or ()]
    if not answer["ok"]:
        findings += [error(engine, message, answer["stage"]) for message in _messages(answer["error"])]
    return findings


def _messages(text: str) -> list[str]:
    """The bullets of Talos' nested error lists, or the text as one message."""
    bullets = [line.strip("\t *") for line in text.splitlines() if line.lstrip().startswith("*")]
    return [line for line in bullets if not line.endswith("occurred:")] or [" ".join(text.split())]
