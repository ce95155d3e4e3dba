"""Today's k3s machine: the user data of cluster-api-k3s, by its own reconciler."""

from __future__ import annotations

import subprocess

from tools.oracles import go_programs
from tools.oracles.failures import EngineBroken


def render(manifests: bytes) -> bytes:
    """User data for the machine of a stream of manifests: Cluster, Machine, KThreesConfig and Secrets.

    Raises:
        EngineMissing: the reconciler was not built.
        EngineBroken: it refuses the manifests.
    """
    command = [go_programs.PROGRAMS["k3s-provider"].require()]
    done = subprocess.run(command, input=manifests, capture_output=True, check=False, timeout=60)
    if done.returncode:
        raise EngineBroken(f"cluster-api-k3s refuses: {done.stderr.decode(errors='replace')[-1000:]}")
    return done.stdout
