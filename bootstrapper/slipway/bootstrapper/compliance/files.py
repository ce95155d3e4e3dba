"""The files of a control on a machine, and what is taken away from their permissions."""

from slipway.bootstrapper.compliance.profile import Files
from slipway.v1alpha1 import spec_pb2 as specpb

_ETCD = "{etcd}"
_ETCD_DATA = "/var/lib/etcd"
_CLASSES = "ugo"
_BITS = {"r": 4, "w": 2, "x": 1}


def paths_of(demand: Files, spec: specpb.MachineBootstrapSpec) -> list[str]:
    """Give the patterns of a demand on this machine: none of etcd's where its servers run elsewhere."""
    etcd = spec.kubernetes.etcd
    data = "" if etcd.HasField("external") else etcd.local.data_dir or _ETCD_DATA
    return [pattern.replace(_ETCD, data) for pattern in demand.files if data or _ETCD not in pattern]


def forbidden_bits(mode: str) -> str:
    """Write what chmod takes away so that only the bits of an octal mode stay: "u-x,go-rwx"."""
    forbidden = {
        name: "".join(letter for letter, bit in _BITS.items() if not int(digit) & bit)
        for name, digit in zip(_CLASSES, mode[-3:], strict=True)
    }
    return ",".join(f"{name}-{letters}" for name, letters in forbidden.items() if letters)
