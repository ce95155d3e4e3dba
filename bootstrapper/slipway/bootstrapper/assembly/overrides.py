"""Applies a spec's differences by role, and the defaults that the contract promises.

A provisioner defaults nothing. What a spec leaves unsaid is therefore said here, once, for all of them.
"""

from typing import Any, Final

from google.protobuf import duration_pb2
from google.protobuf.message import Message

from slipway.contract.field_plans import plan
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb

OVERRIDDEN: Final = ("os", "kubernetes", "commands", "engine_options")
"""Parts of a spec that can be said anew for a role."""

WHOLE = (
    *(contentpb.Content, contentpb.MachineText, diagnosticpb.Origin, duration_pb2.Duration),
    kubernetespb.Taints,
)
"""Messages that are one value each: half of one and half of another would be neither. Taints without items are none."""

FILE_MODE = 0o644
PRIVATE_MODE = 0o600
DIRECTORY_MODE = 0o755
ROOT = "root"


def effective_spec(spec: specpb.MachineBootstrapSpec, role: clusterpb.Role.ValueType) -> specpb.MachineBootstrapSpec:
    """Give the spec as it is for a role: `init` or `join` applied and removed, defaults filled in."""
    effective = specpb.MachineBootstrapSpec()
    effective.CopyFrom(spec)
    overrides, _ = overrides_of(spec, role)
    for name in OVERRIDDEN:
        if overrides.HasField(name):
            overlay(getattr(effective, name), getattr(overrides, name))
    effective.ClearField("init")
    effective.ClearField("join")
    if effective.HasField("os"):
        fill_defaults(effective.os, imported=spec.HasField("imported"))
    return effective


def overrides_of(spec: specpb.MachineBootstrapSpec, role: clusterpb.Role.ValueType) -> tuple[specpb.RoleOverrides, str]:
    """Give what a spec says anew for a role, and the name of the field that holds it."""
    return (spec.init, "init") if role == clusterpb.ROLE_INIT else (spec.join, "join")


def is_whole(value: object) -> bool:
    """Return whether a field's value is replaced as a whole: it is no message, or one that is one value."""
    return not isinstance(value, Message) or isinstance(value, WHOLE)


def overlay(base: Message, over: Message) -> None:
    """Put `over` on top of `base`, in place: messages are merged, scalars, lists, oneofs and whole values replaced."""
    plans = plan(base.DESCRIPTOR)
    base.SetInParent()
    for descriptor, value in over.ListFields():
        field = plans[descriptor.number]
        if field.repeated:
            base.ClearField(field.name)
            getattr(base, field.name).extend(value)
        elif not is_whole(value):
            overlay(getattr(base, field.name), value)
        elif field.message is not None:
            getattr(base, field.name).CopyFrom(value)
        else:
            setattr(base, field.name, value)


def fill_defaults(os: ospb.OperatingSystem, *, imported: bool = False) -> None:
    """Fill in owner, group and mode of files, directories and links.

    They are root's; directories have 0755, files 0644, and those that hold a secret 0600 unless they were imported: the
    first-boot system that such a spec was written for makes no difference.
    """
    entry: Any
    for entry in (*os.files, *os.directories, *os.links):
        if not entry.owner:
            entry.owner = ROOT
        if not entry.group:
            entry.group = ROOT
    for file in os.files:
        if not file.HasField("mode"):
            file.mode = PRIVATE_MODE if not imported and _holds_secret(file.content) else FILE_MODE
    for directory in os.directories:
        if not directory.HasField("mode"):
            directory.mode = DIRECTORY_MODE


def _holds_secret(content: contentpb.Content) -> bool:
    return content.HasField("secret_ref") or any(segment.HasField("secret_ref") for segment in content.segments)
