"""Today's machine: the user data of Cluster API's kubeadm bootstrap provider, by its own renderer."""

from __future__ import annotations

import dataclasses
import enum
import json
import subprocess
from collections.abc import Mapping
from typing import Any

from tools.oracles import go_programs
from tools.oracles.failures import EngineBroken


class Role(enum.StrEnum):
    """What the machine becomes."""

    INIT = "init"
    CONTROL_PLANE = "control-plane"
    WORKER = "worker"


@dataclasses.dataclass(frozen=True, slots=True)
class ClusterFacts:
    """What the provider's controller would read from Machine, Cluster and Secrets.

    ``pki`` holds PEM by file name below ``/etc/kubernetes/pki``: ca.crt, ca.key, etcd/ca.crt, etcd/ca.key,
    front-proxy-ca.crt, front-proxy-ca.key, sa.pub, sa.key.
    """

    kubernetes_version: str
    cluster_name: str = ""
    control_plane_endpoint: str = ""
    service_domain: str = ""
    pod_subnet: str = ""
    service_subnet: str = ""
    pki: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False)


def render(
    spec: Mapping[str, Any],
    *,
    role: Role,
    facts: ClusterFacts,
    api_version: str = "v1beta2",
    ignition: bool | None = None,
) -> bytes:
    """User data for a KubeadmConfigSpec.

    Args:
        spec: the spec as it is in JSON; every ``contentFrom`` replaced by its content, as the controller
            does.
        role: what the machine becomes.
        facts: what does not stand in the spec.
        api_version: of the spec, ``v1beta1`` or ``v1beta2``.
        ignition: the format; None leaves the choice to the spec.

    Raises:
        EngineMissing: the renderer was not built.
        EngineBroken: it refuses the spec.
    """
    request = {
        **dataclasses.asdict(facts),
        "role": str(role),
        "format": {None: "", True: "ignition", False: "cloud-config"}[ignition],
        "api_version": api_version,
        "spec": spec,
    }
    command = [go_programs.PROGRAMS["kubeadm-provider"].require()]
    done = subprocess.run(command, input=json.dumps(request).encode(), capture_output=True, check=False, timeout=60)
    if done.returncode:
        raise EngineBroken(f"the kubeadm provider refuses: {done.stderr.decode(errors='replace')[-1000:]}")
    return done.stdout
