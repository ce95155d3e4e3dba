"""A tree of files as a machine has them that meets a profile, as far as its evidence looks, and the evidence of it."""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from slipway.bootstrapper.compliance.evidence import evidence_program
from slipway.bootstrapper.compliance.profile import Sysctl
from slipway.bootstrapper.compliance.profile_table import profiles
from slipway.bootstrapper.compliance.selection import Selection
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.bootstrapper.compliance.specs import applied_to

ETCD_ACCOUNT = 4242
"""Number of the account etcd on such a machine; the name is not known where the tests run."""

_STAT = """#!/bin/sh
/usr/bin/stat "$@" | sed 's/UNKNOWN:UNKNOWN/etcd:etcd/'
"""
# What kubeadm itself passes to the components, beside what it is asked to.
API_SERVER = {
    "authorization-mode": "Node,RBAC",
    "client-ca-file": "/etc/kubernetes/pki/ca.crt",
    "etcd-cafile": "/etc/kubernetes/pki/etcd/ca.crt",
    "etcd-certfile": "/etc/kubernetes/pki/apiserver-etcd-client.crt",
    "etcd-keyfile": "/etc/kubernetes/pki/apiserver-etcd-client.key",
    "kubelet-client-certificate": "/etc/kubernetes/pki/apiserver-kubelet-client.crt",
    "kubelet-client-key": "/etc/kubernetes/pki/apiserver-kubelet-client.key",
    "secure-port": "6443",
    "service-account-key-file": "/etc/kubernetes/pki/sa.pub",
    "tls-cert-file": "/etc/kubernetes/pki/apiserver.crt",
    "tls-private-key-file": "/etc/kubernetes/pki/apiserver.key",
}
CONTROLLER_MANAGER = {
    "bind-address": "127.0.0.1",
    "root-ca-file": "/etc/kubernetes/pki/ca.crt",
    "service-account-private-key-file": "/etc/kubernetes/pki/sa.key",
    "use-service-account-credentials": "true",
}
ETCD = {
    "cert-file": "/etc/kubernetes/pki/etcd/server.crt",
    "client-cert-auth": "true",
    "key-file": "/etc/kubernetes/pki/etcd/server.key",
    "peer-cert-file": "/etc/kubernetes/pki/etcd/peer.crt",
    "peer-client-cert-auth": "true",
    "peer-key-file": "/etc/kubernetes/pki/etcd/peer.key",
    "trusted-ca-file": "/etc/kubernetes/pki/etcd/ca.crt",
}
KUBELET = {"config": "/var/lib/kubelet/config.yaml", "kubeconfig": "/etc/kubernetes/kubelet.conf"}
PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd", "kubelet")
FILES = {
    **{f"etc/kubernetes/manifests/{name}.yaml": 0o600 for name in PROGRAMS[:-1]},
    **{
        f"etc/kubernetes/{name}.conf": 0o600
        for name in ("admin", "super-admin", "scheduler", "controller-manager", "kubelet")
    },
    **{f"etc/kubernetes/pki/{name}": 0o600 for name in ("ca.crt", "ca.key", "etcd/ca.crt", "etcd/server.key")},
    "etc/systemd/system/kubelet.service.d/10-kubeadm.conf": 0o600,
    "etc/cni/net.d/10-bridge.conflist": 0o600,
}


@dataclass
class Node:
    """A machine: its tree, and the program that checks it."""

    root: Path
    program: Path
    bin: Path

    def evidence(self) -> dict[str, Any]:
        """Run the program, which ends well, and give what it wrote."""
        path = self.root / "var/lib/slipway/evidence.json"
        path.unlink(missing_ok=True)
        environment = {"PATH": f"{self.bin}:{os.environ['PATH']}", "SLIPWAY_ROOT": str(self.root)}
        done = subprocess.run(
            ["sh", str(self.program)], env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        tree: dict[str, Any] = json.loads(path.read_text(encoding="ascii"))
        return tree

    def results(self) -> dict[str, str]:
        """Give the worst result of each control."""
        rank = {"not-applicable": 0, "pass": 1, "fail": 2}
        results: dict[str, str] = {}
        for entry in self.evidence()["controls"]:
            name = entry["control"]
            if name not in results or rank[entry["result"]] > rank[results[name]]:
                results[name] = entry["result"]
        return results

    def run_program(self, name: str, arguments: Mapping[str, str]) -> None:
        """Have a process with arguments; it takes the place of one of the same name."""
        folder = self.root / "proc" / str(100 + PROGRAMS.index(name))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "comm").write_text(name[:15] + "\n", encoding="ascii")
        words = [f"/usr/bin/{name}", *(f"--{key}={value}" for key, value in arguments.items())]
        (folder / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in words))


@dataclass
class Hardened:
    """A machine that meets its profile, and what its programs run with."""

    node: Node
    arguments: dict[str, dict[str, str]]
    settings: dict[str, Any]

    def write(self) -> None:
        """Have the programs run with their arguments, and the kubelet's configuration as kubeadm writes it."""
        for name, arguments in self.arguments.items():
            self.node.run_program(name, arguments)
        path = self.node.root / "var/lib/kubelet/config.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(self.settings, default_flow_style=False), encoding="utf-8")
        path.chmod(0o600)


def hardened(
    folder: Path,
    spec: specpb.MachineBootstrapSpec,
    role: clusterpb.Role.ValueType = clusterpb.ROLE_INIT,
    *,
    only: str = "",
) -> Hardened:
    """Make a machine of a spec with profiles: what kubeadm does, and what the profiles add.

    With `only` its program checks that control alone, in a fraction of the time.
    """
    applied = applied_to(spec, role)
    if only:
        alone = Selection({only: applied.selection.met[only]}, {})
        applied = replace(applied, selection=alone)
    root = folder / "root"
    programs = folder / "bin"
    programs.mkdir(parents=True)
    (programs / "stat").write_text(_STAT, encoding="ascii")
    (programs / "stat").chmod(0o755)
    program = folder / "evidence"
    program.write_bytes(evidence_program(applied, role))
    node = Node(root, program, programs)
    made = Hardened(node, _arguments(spec), _settings(spec))
    if role == clusterpb.ROLE_WORKER:
        made.arguments = {"kubelet": KUBELET}
    for path, mode in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x\n", encoding="ascii")
        (root / path).chmod(mode)
    for data in (root / "var/lib/etcd", root / "var/lib/etcd/member"):
        data.mkdir(parents=True)
        data.chmod(0o700)
        os.chown(data, ETCD_ACCOUNT, ETCD_ACCOUNT)
    encryption = root / "etc/kubernetes/slipway/encryption"
    encryption.parent.mkdir()
    text = spec.kubernetes.control_plane.encryption.configuration
    encryption.write_text("".join(part.text or '"c2VjcmV0"' for part in text.segments), encoding="ascii")
    (root / "proc/net").mkdir(parents=True)
    (root / "proc/net/tcp").write_text(
        "  sl  local_address rem_address   st\n   0: 0100007F:2809 00000000:0000 0A\n", encoding="ascii"
    )
    for profile in profiles().values():
        for control in profile.controls:
            for demand in control.requires:
                if isinstance(demand, Sysctl):
                    place = root / "proc/sys" / demand.sysctl.replace(".", "/")
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_text(f"{demand.value}\n", encoding="ascii")
    (root / "var/lib/slipway").mkdir()
    (root / "var/lib/slipway/plan").write_text("bundle-1\n20-kubeadm bootstrap\n-\n", encoding="ascii")
    made.write()
    return made


def _arguments(spec: specpb.MachineBootstrapSpec) -> dict[str, dict[str, str]]:
    control_plane = spec.kubernetes.control_plane

    def own(component: Any) -> dict[str, str]:
        return {argument.name: argument.value for argument in component.arguments}

    files = {"audit-policy-file": "/etc/kubernetes/slipway/audit"} if control_plane.HasField("audit") else {}
    if control_plane.HasField("encryption"):
        files["encryption-provider-config"] = "/etc/kubernetes/slipway/encryption"
    audit = control_plane.audit
    rotation = {
        "audit-log-path": audit.log_path, "audit-log-maxage": str(audit.max_age_days),
        "audit-log-maxbackup": str(audit.max_backups), "audit-log-maxsize": str(audit.max_size_mib),
    }  # fmt: skip
    return {
        "kube-apiserver": {**API_SERVER, **files, **rotation, **own(control_plane.api_server)},
        "kube-controller-manager": {**CONTROLLER_MANAGER, **own(control_plane.controller_manager)},
        "kube-scheduler": {"bind-address": "127.0.0.1", **own(control_plane.scheduler)},
        "etcd": {**ETCD, **own(spec.kubernetes.etcd.local)},
        "kubelet": dict(KUBELET),
    }


def _settings(spec: specpb.MachineBootstrapSpec) -> dict[str, Any]:
    own = json.loads(spec.kubernetes.node.kubelet_configuration.text or "{}")
    authentication = {"x509": {"clientCAFile": "/etc/kubernetes/pki/ca.crt"}, **own.get("authentication", {})}
    settings = {**own, "authentication": authentication}
    # The kubelet's own encoder leaves a port of 0 out.
    settings.pop("readOnlyPort", None)
    return settings
