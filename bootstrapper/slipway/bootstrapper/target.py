"""Completes the target of a machine: what the spec says, else the infrastructure, else the chosen format's default."""

from slipway.contract.errors import UnsupportedTarget, Violation
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

DEFAULT_ARCHITECTURE = "amd64"
# Systems that none of the formats for Linux in general sets up, with what they take: a provisioner of their own must
# name them.
_OWN_FORMATS = {
    "bottlerocket": "takes settings in TOML, and has no shell for steps",
    "kairos": "takes a cloud-config of its own, which has other modules",
}
_SYSTEM_FIELDS = ("os_family", "distribution", "os_version")


def stated(spec_target: clusterpb.Target, machine_target: clusterpb.Target) -> clusterpb.Target:
    """Give what is said about a target: the spec's fields, and the machine's where the spec has none."""
    target = clusterpb.Target()
    target.CopyFrom(machine_target)
    target.MergeFrom(spec_target)
    return target


def resolve(
    said: clusterpb.Target, info: provisionerpb.FormatInfo
) -> tuple[clusterpb.Target, list[diagnosticpb.Diagnostic]]:
    """Complete a target for a format, and say what was assumed.

    Raises:
        UnsupportedTarget: the format does not serve the operating system.
    """
    if said.os_family and said.os_family not in info.os_families:
        families = sorted(clusterpb.OsFamily.Name(one).removeprefix("OS_FAMILY_").lower() for one in info.os_families)
        raise UnsupportedTarget(
            f"format {info.format} is for {', '.join(families)} machines",
            violations=[
                Violation(
                    "target.osFamily",
                    f"is not supported by format {info.format}, which is for {', '.join(families)}",
                    remedy="choose a format for the machine's operating system, or another machine",
                )
            ],
            metadata={"supported": ",".join(families)},
        )
    _check_own_format(said, info)
    target = clusterpb.Target()
    target.CopyFrom(said)
    assumed = []
    if not target.distribution and info.default_target.distribution:
        for name in _SYSTEM_FIELDS:
            if not getattr(target, name) and getattr(info.default_target, name):
                setattr(target, name, getattr(info.default_target, name))
        assumed.append(f"{target.distribution} {target.os_version}".strip())
    if not target.os_family:
        target.os_family = info.default_target.os_family or info.os_families[0]
    if not target.architecture:
        target.architecture = info.default_target.architecture or DEFAULT_ARCHITECTURE
    if not target.infrastructure and info.default_target.infrastructure:
        target.infrastructure = info.default_target.infrastructure
    if not assumed:
        return target, []
    note = diagnosticpb.Diagnostic(
        severity=diagnosticpb.SEVERITY_INFO,
        code="TARGET_ASSUMED",
        message=f"the operating system is not stated; {assumed[0]} is assumed, the default of format {info.format}",
        field_path="machine.target",
    )
    return target, [note]


def _check_own_format(said: clusterpb.Target, info: provisionerpb.FormatInfo) -> None:
    """Refuse a system that the format's user data would reach for nothing."""
    why = _OWN_FORMATS.get(said.distribution)
    if why is None or info.default_target.distribution == said.distribution:
        return
    raise UnsupportedTarget(
        f"format {info.format} is not for {said.distribution}",
        violations=[
            Violation(
                "target.distribution",
                f"is a system that {why}: format {info.format} does not set it up",
                remedy="register a provisioner whose default target is this distribution, or choose another system",
            )
        ],
        metadata={"supported": ""},
    )
