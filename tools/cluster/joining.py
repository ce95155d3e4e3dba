"""``kubeadm join --dry-run``: whether a machine with these documents would find its cluster and be let in.

kubeadm discovers the real API server by token and CA pin, checks the signature of its cluster information, reads
kubeadm's ConfigMaps as the token's user, and stops where it would write to the machine.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

_TIMEOUT = 120.0


@dataclass(frozen=True, slots=True)
class Join:
    """What it came to."""

    succeeded: bool
    output: str


def kubeadm(programs: Path, *arguments: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Run kubeadm, whose dry runs write into the directory; output and errors come together."""
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(directory),
        "KUBEADM_INIT_DRYRUN_DIR": str(directory),
        "KUBEADM_JOIN_DRYRUN_DIR": str(directory),
    }
    command = [str(programs / "kubeadm"), *arguments]
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=_TIMEOUT,
        env=environment,
    )  # fmt: skip


def dry_run(programs: Path, documents: bytes) -> Join:
    """Join with these documents; checks of this machine are left out. It must run as root: kubeadm asks for it."""
    with tempfile.TemporaryDirectory(prefix="slipway-join-") as folder:
        config = Path(folder) / "join.yaml"
        config.write_bytes(documents)
        done = kubeadm(
            programs, "join", f"--config={config}", "--dry-run", "--skip-phases=preflight", directory=Path(folder)
        )
        return Join(done.returncode == 0, done.stdout)
