"""kubeadm's own loader: strict validation, and what it understood, of two versions.

1.30, at home in v1beta3, refuses v1beta4; 1.34 still reads v1beta3, but only for Kubernetes versions that it
supports. ``program`` is the real kubeadm, built from the same module. A document must name its
kubernetesVersion, else kubeadm asks the network.
"""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Any

import yaml

from tools.oracles import go_programs
from tools.oracles.failures import EngineBroken
from tools.oracles.finding import Finding, error, warning

CURRENT = "1.34"
OLDER = "1.30"
_AS_CHECKER = {"KUBEADM_ENGINE": "check", "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}


class Action(enum.StrEnum):
    """For which command kubeadm loads the documents."""

    INIT = "init"
    JOIN = "join"


def validate(documents: bytes, *, version: str = CURRENT) -> list[Finding]:
    """What ``kubeadm config validate`` says; an unknown field, of the kubelet's too, is an error."""
    return _findings(_ask("validate", documents, version=version))


def effective(documents: bytes, *, action: Action, version: str = CURRENT) -> list[dict[str, Any]]:
    """What kubeadm understood: its documents, defaulted, in the newest API version that the module writes.

    Raises:
        EngineBroken: kubeadm refuses the documents.
    """
    answer = _ask(str(action), documents, version=version)
    if not answer["ok"]:
        raise EngineBroken(f"kubeadm {version} refuses: {answer['error']}")
    return [document for document in yaml.safe_load_all(answer["effective"]) if document]


def migrate(documents: bytes, *, version: str = CURRENT) -> list[dict[str, Any]]:
    """The documents as ``kubeadm config migrate`` rewrites them.

    Raises:
        EngineBroken: kubeadm refuses the documents.
    """
    answer = _ask("migrate", documents, version=version)
    if not answer["ok"]:
        raise EngineBroken(f"kubeadm {version} refuses: {answer['error']}")
    return [document for document in yaml.safe_load_all(answer["effective"]) if document]


def program(*, version: str = CURRENT) -> Path:
    """The real kubeadm, statically linked; to be put on a machine as one of its ``extra_files``."""
    return go_programs.PROGRAMS[f"kubeadm-{version}"].require()


def _ask(do: str, documents: bytes, *, version: str) -> dict[str, Any]:
    return go_programs.PROGRAMS[f"kubeadm-{version}"].ask(f"-do={do}", document=documents, environment=_AS_CHECKER)


def _findings(answer: dict[str, Any]) -> list[Finding]:
    engine = f"kubeadm {answer['version']}"
    findings = [warning(engine, message) for message in answer.get("warnings") or ()]
    return findings if answer["ok"] else [*findings, error(engine, answer["error"])]
