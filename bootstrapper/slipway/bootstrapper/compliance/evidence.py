"""The program that checks a machine's controls after its bootstrap, and writes what it has observed.

It judges by the same rules as the spec is judged by. Its end counts for nothing: evidence never fails a bootstrap.
"""

import json
from collections.abc import Iterator
from datetime import UTC

from slipway.bootstrapper.compliance.application import STRONG, Applied
from slipway.bootstrapper.compliance.files import paths_of
from slipway.bootstrapper.compliance.profile import (
    Argument,
    AuditPolicy,
    Encryption,
    Files,
    Kubelet,
    Loopback,
    Plugin,
    Requirement,
    Sysctl,
)
from slipway.bootstrapper.compliance.rule import Rule
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb

VERSION = 1
"""Of the format of evidence."""

EVIDENCE = "/var/lib/slipway/evidence.json"
_API_SERVER = "kube-apiserver"


def evidence_program(applied: Applied, role: clusterpb.Role.ValueType) -> bytes:
    """Give the script that writes the evidence of a machine; waived controls are checked, too."""
    controls = {**applied.selection.met, **applied.selection.waived}
    rows, places = [], dict[str, None]()
    for name, control in controls.items():
        for demand in control.requires:
            rows += ["\t".join([name, *row]) for row in _rows(demand, applied.plain)]
            places |= dict.fromkeys(_places(demand, applied.plain))
    call = ["evidence", _head(applied.plain.compliance, role), "\n".join(rows), *places]
    return script([["set", "+eu"], call, ["true"]], programs=["evidence"])


def _head(compliance: specpb.Compliance, role: clusterpb.Role.ValueType) -> str:
    """Give what is known of the evidence beforehand, as the members of a JSON object."""
    waivers = [
        {
            "control": waiver.control,
            "reason": waiver.reason,
            **({"expireTime": f"{waiver.expire_time.ToDatetime(tzinfo=UTC):%Y-%m-%dT%H:%M:%SZ}"}
               if waiver.HasField("expire_time") else {}),
        }
        for waiver in compliance.waivers
    ]  # fmt: skip
    head = {"role": clusterpb.Role.Name(role), "profiles": list(compliance.profiles), "waivers": waivers}
    return json.dumps(head)[1:-1]


def _places(demand: Requirement, spec: specpb.MachineBootstrapSpec) -> list[str]:
    """Give the paths that a demand is about, with patterns of the shell."""
    if isinstance(demand, Files):
        return paths_of(demand, spec)
    return [_sysctl_path(demand)] if isinstance(demand, Sysctl) else []


def _sysctl_path(demand: Sysctl) -> str:
    return f"/proc/sys/{demand.sysctl.replace('.', '/')}"


def _rows(demand: Requirement, spec: specpb.MachineBootstrapSpec) -> Iterator[list[str]]:
    """Give the rows of a demand in the table that the program goes by, without the name of the control."""
    match demand:
        case Argument() if demand.program == "etcd" and spec.kubernetes.etcd.HasField("external"):
            return
        case Argument() if demand.unlike is not None:
            other = demand.unlike
            yield ["differs", demand.program, demand.argument, other.program, other.argument]
        case Argument():
            yield ["argument", demand.program, demand.argument, *_operator(demand)]
        case Kubelet():
            yield ["setting", demand.kubelet, demand.flag, *_operator(demand)]
        case Plugin() | AuditPolicy() | Encryption():
            yield _of_api_server(demand)
        case Files():
            paths = paths_of(demand, spec)
            if paths:
                yield ["owners" if demand.owner else "modes", demand.owner or demand.mode, " ".join(paths)]
        case Sysctl():
            yield ["value", _sysctl_path(demand), "equals", demand.value]
        case Loopback():
            yield ["loopback", f"{demand.loopback:04X}"]


def _of_api_server(demand: Plugin | AuditPolicy | Encryption) -> list[str]:
    match demand:
        case Plugin():
            return ["argument", _API_SERVER, "enable-admission-plugins", "includes", demand.plugin]
        case AuditPolicy():
            return ["argument", _API_SERVER, "audit-policy-file", "present", ""]
        case Encryption(encryption="configured"):
            return ["argument", _API_SERVER, "encryption-provider-config", "present", ""]
        case _:
            return ["provider", ",".join(sorted(STRONG))]


def _operator(rule: Rule) -> tuple[str, str]:
    operator, operand = rule.operator
    return f"{operator}-or-unset" if rule.or_unset else operator, operand
