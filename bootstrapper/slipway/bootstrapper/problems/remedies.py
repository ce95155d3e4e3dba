"""What a person can do about a use of a feature that a format, or an engine, does not take.

It follows from the descriptors and from what is declared, so that a feature that is added to the contract has a remedy
on the day it is added. Where a whole item has no substitute on a family of operating systems, the table of passes knows
better; who else takes it, the takers do.
"""

import re
from collections.abc import Mapping
from enum import Enum

from google.protobuf.descriptor import EnumDescriptor

from slipway.bootstrapper.importers.kept_items import words_of
from slipway.contract.errors import SlipwayError
from slipway.contract.feature_uses import Use
from slipway.contract.features import Supports, Unsupported
from slipway.contract.yaml_names import enum_names, person_path
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1.reasons import Reason

_MOST_FACTS = 4
_MOST_VALUES = 3

_OF_EVERY_MACHINE = frozenset(
    {"kubernetes.cluster", "kubernetes.cluster.endpoint", "kubernetes.cluster.name"}
    | {"kubernetes.credentials", "kubernetes.role", "kubernetes.version"}
)
"""Facts that cannot be left out."""

_CONTROL_PLANE = "kubernetes.cluster.control_plane"

_ONE_OF: Mapping[str, str] = {
    "kubernetes.etcd.external": "put local in its place, or leave out etcd as a whole",
    "os.files.remote": "put content in its place",
}
"""What to do about a field that cannot be left out by itself: what holds it must have one of several."""


CORRECT = "correct it there"
"""What to do where the reason is the rule itself, "must be an absolute path": it adds nothing for people."""

_OF_REASONS: Mapping[str, str] = {
    Reason.AMBIGUOUS_PROVISIONER: "pin one in spec.provisioner.name",
    Reason.ATTACHMENTS_NOT_ACCEPTED: "accept attachments, or choose a format that needs none",
    Reason.BUNDLE_INVALID: CORRECT,
    Reason.BUNDLE_TOO_LARGE: "make the spec smaller, for example by remote files with a hash",
    Reason.CREDENTIALS_MISSING: "provide the credentials in the request or in the credentials store",
    Reason.FEATURE_DENIED: "leave it out, or ask the operator to allow it",
    Reason.IMPORT_INVALID: CORRECT,
    Reason.KUBERNETES_VERSION_UNSUPPORTED: "choose a version that is supported",
    Reason.NO_READY_PROVISIONER: "start one, or wait until it is ready",
    Reason.PROVISIONER_NOT_ALLOWED: "choose one that the operator allows, or ask the operator to allow it",
    Reason.PROVISIONER_NOT_FOUND: "correct the name, or start the provisioner",
    Reason.SECRETS_NOT_ALLOWED: "leave the secrets out, or have the operator allow them for the server and for you",
    Reason.SECRET_EXPIRED: "obtain a fresh secret",
    Reason.SECRET_MISSING: "provide the secret",
    Reason.SPEC_INVALID: CORRECT,
    Reason.UNSUPPORTED_FEATURE: "change it, or leave it out",
    Reason.UNSUPPORTED_FORMAT: "choose another format or provisioner",
    Reason.UNSUPPORTED_TARGET: "choose another target or provisioner",
    Reason.ARTIFACT_REJECTED: "choose a version of which the operator has a signed release",
    Reason.USER_DATA_TOO_LARGE: "move the largest parts to remote files, or into the image",
}
"""The remedy of an error that has none of its own, by its reason; as far as a spec can cause it."""

_OF_TEXT = ".extension.id"
"""With it end the paths at which a text uses the language of an extension."""
_LAST = "try again; if the error persists, contact the operator of this server"


class _Part(Enum):
    """Parts of features that have a substitute of their own, by the word that their ids hold."""

    FACTS = ".facts"
    EXTENSIONS = ".extensions"
    CONFIG_MAPS = ".config_maps"


def reason_of(entry: Unsupported) -> str:
    """Say why a use is not supported, beginning with its feature."""
    if entry.use.id == _CONTROL_PLANE:
        return "the control plane of the cluster is made by something else, and this format's machines cannot join it"
    words = words_of(entry.use)
    if words is not None:
        return words[0]
    return f"{entry.use.id} {entry.why}"


def is_kept(use: Use) -> bool:
    """Return whether an import has kept an item as it was written, since no neutral item means the same."""
    return words_of(use) is not None


def remedy_of(use: Use, supports: Supports, *, item_path: str = "") -> str:
    """Say what to do in the spec about a use that `supports` does not take: never nothing.

    It names the field within the item, since the place that is told with it is the item's; `item_path` is the item's
    own, where it is not the nearest one.
    """
    name = _inner(use.path, item_path or use.item_path)
    if use.id in _ONE_OF:
        return _ONE_OF[use.id]
    if use.id == _CONTROL_PLANE:
        return _same_family(supports.get(use.id))
    support = supports.get(use.id)
    if support is not None:
        return _within_bounds(use, support, name)
    if use.id in _OF_EVERY_MACHINE:
        return "choose another format: every machine of a cluster has it"
    if use.id.startswith("kubernetes.role."):
        return "choose this format for machines of another role only"
    if use.id.startswith("ext.") and not use.path.endswith(_OF_TEXT):
        words = words_of(use)
        return "leave it out" if words is None else f"{words[1]}, or leave it out"
    part = next((entry for entry in _Part if f"{entry.value}." in f"{use.id}."), None)
    if part is _Part.FACTS:
        return _without_fact(use, supports)
    if part is _Part.EXTENSIONS or use.path.endswith(_OF_TEXT):
        return "write the text without template, or a machine fact in its place"
    if part is _Part.CONFIG_MAPS:
        return "write the text itself in place of the ConfigMap"
    return _leave_out(name)


def remedy_of_error(error: SlipwayError) -> str:
    """Say what to do about an error that does not say it by itself."""
    supported = error.metadata.get("supported", "") if error.reason == "UNSUPPORTED_TARGET" else ""
    if supported:
        return f"choose one of {', '.join(supported.split(','))}"
    return _OF_REASONS.get(error.reason, _LAST)


def _inner(path: str, item_path: str) -> str:
    """Give the path of a field within its item, as a person writes it; "it" for the item itself."""
    inside = path.removeprefix(item_path).lstrip(".") if item_path else ""
    # Every entry of a list asks for the same: not the first one alone is to go.
    return person_path(re.sub(r"\[\d+\]$", "", inside)) or "it"


def _leave_out(name: str) -> str:
    return "leave it out" if name == "it" else f"leave out {name}"


def _same_family(support: provisionerpb.FeatureSupport | None) -> str:
    """Say what can be done about a worker of another family than its control plane."""
    families = ", ".join(support.allowed_values) if support is not None else ""
    if not families:
        return "choose the provisioner that made the control plane for this machine too"
    return f"have the control plane made by {families} too"


def _within_bounds(use: Use, support: provisionerpb.FeatureSupport, name: str) -> str:
    """Say how a use comes to lie within the bounds that are declared for its feature."""
    if support.allowed_values:
        values = " or ".join(_spelt(value, use.enum) for value in support.allowed_values)
        if len(support.allowed_values) > _MOST_VALUES:
            values = "one of these"
        return f"set {name} to {values}, or leave it out"
    if support.path_prefixes:
        return f"choose a path below {' or '.join(support.path_prefixes)}"
    if support.excluded_path_prefixes:
        return f"choose a path that is not below {' or '.join(support.excluded_path_prefixes)}"
    if support.HasField("max_items"):
        return f"keep {support.max_items} of them" if support.max_items else _leave_out(name)
    if support.HasField("max_bytes"):
        return f"shorten {name}"
    return _leave_out(name)


def _spelt(value: str, enum: EnumDescriptor | None) -> str:
    """Spell an allowed value as a person writes it."""
    known = enum.values_by_name.get(value) if enum is not None else None
    return enum_names(enum)[known.number] if enum is not None and known is not None and known.number else value


def _without_fact(use: Use, supports: Supports) -> str:
    stem = use.id.partition(_Part.FACTS.value)[0] + _Part.FACTS.value + "."
    facts = [id_.removeprefix(stem) for id_ in sorted(supports) if id_.startswith(stem)]
    words = [person_path(fact)[0].upper() + person_path(fact)[1:] for fact in facts[:_MOST_FACTS]]
    return f"write the value itself, or the fact {' or '.join(words)}" if words else "write the value itself"
