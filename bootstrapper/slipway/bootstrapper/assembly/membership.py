"""What a machine's membership in a domain holds beyond the spec: its computer's name, and where its secret is.

Both follow from the Machine's name, so that no spec can hand one machine's account to another.
"""

from collections.abc import Iterator

from slipway.bootstrapper.assembly.computer_name import computer_name
from slipway.contract.errors import Violation
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb

KEYS = {
    ospb.DIRECTORY_JOIN_METHOD_OFFLINE_BLOB: "blob",
    ospb.DIRECTORY_JOIN_METHOD_ONE_TIME_PASSWORD: "one-time-password",
    ospb.DIRECTORY_JOIN_METHOD_KEYTAB: "keytab",
}
"""Keys of the secret by method, as `slipway directory` writes them."""
_SUFFIX = "-directory"
_LONGEST = 253


def joins_domain(spec: specpb.MachineBootstrapSpec) -> bool:
    """Return whether the machine becomes a member of a domain, in any role."""
    return any(part.HasField("directory") for part in (spec.os, spec.init.os, spec.join.os))


def membership_secret_name(machine: str) -> str:
    """Return the name of the Secret with the credential of a Machine's computer account."""
    return f"{machine}{_SUFFIX}"


def membership_secrets(spec: specpb.MachineBootstrapSpec) -> frozenset[str]:
    """Return the names of the Secrets with credentials of computer accounts that a completed spec refers to."""
    names = (part.directory.secret_ref.name for part in (spec.os, spec.init.os, spec.join.os))
    return frozenset(name for name in names if name)


def complete_membership(spec: specpb.MachineBootstrapSpec, machine: str) -> None:
    """Set computer name and secret reference in a spec, in place; whatever they were before.

    Args:
        spec: the spec of a machine.
        machine: name of the Machine. Where no computer can be named after it, nothing is set.
    """
    try:
        name = computer_name(machine)
    except ValueError:
        return
    for part in (spec.os, spec.init.os, spec.join.os):
        if not part.HasField("directory"):
            continue
        part.directory.computer_name = name
        method = part.directory.method or spec.os.directory.method
        if method in KEYS:
            part.directory.secret_ref.name = membership_secret_name(machine)
            part.directory.secret_ref.key = KEYS[method]


def membership_violations(spec: specpb.MachineBootstrapSpec, machine: str) -> Iterator[Violation]:
    """Give why a machine of this name cannot have the membership of its spec."""
    if spec.os.HasField("directory") and len(machine) + len(_SUFFIX) > _LONGEST:
        limit = _LONGEST - len(_SUFFIX)
        yield Violation("machine.name", f"must have at most {limit} characters: a Secret is named after it")
    if spec.os.HasField("directory") and not machine:
        yield Violation("machine.name", "is required: the computer account is named after it", remedy="set it")


def violations(os: ospb.OperatingSystem, path: str) -> Iterator[Violation]:
    """Give what excludes each other in a membership, by field path."""
    login = os.directory.login
    if login.HasField("access_filter") and (login.users or login.groups):
        yield Violation(
            f"{path}.directory.login.access_filter",
            "cannot be used with users and groups",
            remedy="write them into the filter, or leave it out",
        )
    if os.HasField("directory") and os.directory.HasField("domain") and "." not in os.directory.domain:
        yield Violation(f"{path}.directory.domain", "must be the DNS name of the domain, such as corp.example.com")
