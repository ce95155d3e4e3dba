"""Machines that boot from our user data in the network of a real domain controller."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.diagnosis.diagnosis import diagnose
from slipway.diagnosis.log_files import Log
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.bootstrapper.asking import asked
from tools.oracles import cloud_init, directory, ignition
from tools.oracles.sandbox import File
from tools.oracles.systemd_boot import Boot

_DOCUMENTS = """
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayConfig
metadata: {name: members}
spec:
  target: {osFamily: Linux, distribution: debian, osVersion: "13"}
  os: {directory: %s}
  commands: {post: [{script: {text: %s}}]}
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayCluster
metadata: {name: c}
spec:
  cluster: {kubernetesVersion: v1.34.2, endpoint: {host: api.example.com}}
  machines: [{name: %s, role: Worker, config: members}]
"""
KEYS = {"OneTimePassword": "one-time-password", "Keytab": "keytab", "OfflineBlob": "blob"}
CHECKS = "/root/checks"
# Between two tries of a machine nothing happens, unless a test lets it wait.
_SLEEP = File(b"#!/bin/sh\nexit 0\n", 0o755)
ANY_MACHINE = cloud_init.Machine | ignition.Machine


@dataclasses.dataclass(frozen=True)
class Member:
    """A machine after its first boot."""

    machine: ANY_MACHINE
    boot: Boot

    def text(self, path: str) -> str:
        """Give what a file of the machine holds; "" if it does not exist."""
        file = self.machine.box.upper / path.lstrip("/")
        return file.read_text(errors="replace") if file.exists() else ""

    @property
    def checks(self) -> str:
        """What the commands of the phase POST printed."""
        return self.text(CHECKS)

    @property
    def failure(self) -> str:
        """The record of the step that failed; "" where none did."""
        records = sorted(self.machine.box.upper.glob("var/lib/slipway/state/*/*.failed"))
        return "".join(record.read_text(errors="replace") for record in records)

    @property
    def reasons(self) -> set[str]:
        """The reasons that a diagnosis gives for the failure."""
        return {finding.rule.reason for finding in diagnose([Log("failure", self.failure)]).findings}


def question(machine: str, membership: Mapping[str, object], secret: bytes, *checks: str) -> MachineQuestion:
    """Give the question for a machine with a membership, and commands whose output is kept."""
    script = "\n".join([f"exec >{CHECKS} 2>&1", "set -x", *checks, "true"])
    text = _DOCUMENTS % (json.dumps({"domain": directory.DOMAIN, **membership}), json.dumps(script), machine)
    (made,) = read_document_set({"machine": text}, variables={}, substitute=False).questions
    key = KEYS[str(membership["method"])]
    made.secrets.secrets.add(name=f"{machine}-directory", key=key, kind=secretpb.SECRET_KIND_OPAQUE, value=secret)
    return made


async def user_data(made: MachineQuestion, provisioner: str) -> bytes:
    """Give the machine's user data."""
    bootstrapper = embedded_bootstrapper(store=PlaceholderStore())
    return (await bootstrapper.user_data(asked(made, provisioner))).user_data


@contextmanager
def booted(
    data: bytes,
    provisioner: str = "cloud-init",
    *,
    neighbour: int,
    name_server: str = directory.ADDRESS,
    extra: Mapping[str, File] | None = None,
) -> Iterator[Member]:
    """Boot a machine, with the real systemd, from user data; 0 for `neighbour` is a machine without a network."""
    files = {
        "/etc/resolv.conf": File(f"nameserver {name_server}\n".encode()),
        "/usr/local/bin/kubeadm": File(b"#!/bin/sh\nexit 0\n", 0o755),
        "/usr/local/bin/sleep": _SLEEP,
        **(extra or {}),
    }
    if provisioner == "cloud-init":
        with cloud_init.opened(root="member", extra_files=files, neighbour=neighbour) as machine:
            yield Member(machine, machine.boot_under_systemd(data, timeout=240.0))
    else:
        with ignition.opened(root="member", extra_files=files, neighbour=neighbour) as other:
            other.boot(data)
            yield Member(other, other.boot_under_systemd(timeout=240.0))
