"""What controls need on the machine beyond settings: steps after the bootstrap, each with its control as its origin."""

from slipway.bootstrapper.compliance.application import Applied
from slipway.bootstrapper.compliance.names import origin_of_controls
from slipway.bootstrapper.compliance.profile import Files
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.contract.content import literal
from slipway.contract.errors import UnsupportedTarget, Violation
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb

_ETCD = "{etcd}"
_ETCD_DATA = "/var/lib/etcd"
_CLASSES = "ugo"
_BITS = {"r": 4, "w": 2, "x": 1}


def check_compliance(compliance: specpb.Compliance, target: clusterpb.Target) -> None:
    """Refuse profiles where nothing can meet or check them.

    Raises:
        UnsupportedTarget: the machine runs Windows.
    """
    if compliance.profiles and target.os_family == clusterpb.OS_FAMILY_WINDOWS:
        path = compliance.origin.path or "spec.compliance"
        wrong = Violation(f"{path}.profiles", "are not supported on Windows", remedy="leave them out on this machine")
        raise UnsupportedTarget("compliance profiles are for Linux", violations=[wrong])


def add_compliance(bundle: bundlepb.BootstrapBundle, applied: Applied) -> None:
    """Add the steps of a machine's controls to a neutral bundle, behind those of the user."""
    for call, (names, paths) in _repairs(applied).items():
        content = literal(script([[*call, *paths]], programs=["comply"]))
        bundle.commands.post.add(script=content, origin=origin_of_controls(names))


def _repairs(applied: Applied) -> dict[tuple[str, str], tuple[list[str], list[str]]]:
    """Give the files that steps set: by what is done, the controls that ask for it, and the files."""
    calls: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    for name, control in applied.selection.met.items():
        for demand in control.requires:
            if isinstance(demand, Files) and demand.repaired:
                call = ("belong", demand.owner) if demand.owner else ("restrict", forbidden_bits(demand.mode))
                names, paths = calls.setdefault(call, ([], []))
                names.append(name)
                paths += [path for path in paths_of(demand, applied.plain) if path not in paths]
    return {call: (names, paths) for call, (names, paths) in calls.items() if paths}


def paths_of(demand: Files, spec: specpb.MachineBootstrapSpec) -> list[str]:
    """Give the patterns of a demand on this machine: none of etcd's where its servers run elsewhere."""
    etcd = spec.kubernetes.etcd
    data = [] if etcd.HasField("external") else [etcd.local.data_dir or _ETCD_DATA]
    return [path for pattern in demand.files for path in (data if pattern == _ETCD else [pattern])]


def forbidden_bits(mode: str) -> str:
    """Write what chmod takes away so that only the bits of an octal mode stay: "u-x,go-rwx"."""
    forbidden = {
        name: "".join(letter for letter, bit in _BITS.items() if not int(digit) & bit)
        for name, digit in zip(_CLASSES, mode[-3:], strict=True)
    }
    return ",".join(f"{name}-{letters}" for name, letters in forbidden.items() if letters)
