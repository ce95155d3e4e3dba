"""What takes more than one field to decide, as rules that the API server can check (CEL).

The bootstrapper checks the same and more (bootstrapper/slipway/bootstrapper/assembly/structure.py, kubernetes_rules.py
and content_rules.py); these are the ones that a person should hear of when they apply the document. A test puts
every example and every refusal of those to both.
"""

from collections.abc import Mapping
from itertools import combinations

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from slipway.contract.yaml_names import fields_by_key

Rule = dict[str, str]

_PACKAGE = "slipway.v1alpha1."
_FILLED = "(has(self.{0}) && size(self.{0}) > 0)"
_TRUE = "(has(self.{0}) && self.{0})"


def _filled(name: str) -> str:
    return _FILLED.format(name)


def _true(name: str) -> str:
    return _TRUE.format(name)


_EITHER_VALUE_OR_SEGMENTS = (f"has(self.value) != {_filled('segments')}", "must have exactly one of value and segments")

_OWN: Mapping[str, tuple[tuple[str, str], ...]] = {
    "File": (("has(self.content) != has(self.remote)", "must have exactly one of content and remote"),),
    "Partition": (
        ("!(has(self.percentage) && has(self.sizeMib))", "cannot have both percentage and sizeMib"),
        ("!has(self.sizeMib) || self.sizeMib > 0", "sizeMib must be at least 1; unset it for the rest of the disk"),
    ),
    "Mount": (("self.path.startsWith('/') || self.path == 'none'", 'path must be absolute, or "none" for swap'),),
    "SystemdUnit": (
        (
            f"!({_true('masked')} && ({_true('enabled')} || {_filled('contents')} || {_filled('dropIns')}))",
            "a masked unit cannot have contents, drop-ins or be enabled",
        ),
        (
            f"has(self.contents) || has(self.enabled) || has(self.masked) || {_filled('dropIns')}",
            "says nothing: set contents, enabled, masked or dropIns",
        ),
    ),
    "Registry": (
        (
            f"{_filled('endpoints')} || {_filled('server')} || has(self.credentials)",
            "says nothing: set endpoints, server or credentials",
        ),
        (
            f"!{_true('onlyEndpoints')} || {_filled('endpoints')}",
            "onlyEndpoints needs at least one entry in endpoints",
        ),
    ),
    "Discovery": (("!(has(self.token) && has(self.file))", "cannot have both token and file"),),
    "Etcd": (("has(self.local) != has(self.external)", "must have exactly one of local and external"),),
    "Command": (
        (f"{_filled('argv')} != has(self.script)", "must have exactly one of argv and script"),
        (f"!(has(self.interpreter) && {_filled('argv')})", "interpreter is only for a script"),
    ),
    "MachineText": (_EITHER_VALUE_OR_SEGMENTS,),
    "Argument": (_EITHER_VALUE_OR_SEGMENTS,),
    "SecretValue": (("has(self.value) || has(self.secretRef)", "says nothing: set value or secretRef"),),
    "OpaqueDocument": (("has(self.text) || has(self.data)", "says nothing: set text or data"),),
}


def rules_of(descriptor: Descriptor) -> list[Rule]:
    """Give the rules of a message type: its own, and that of a oneof at most one is set."""
    rules: list[Rule] = []
    for members in _alternatives(descriptor):
        count = " + ".join(f"(has(self.{name}) ? 1 : 0)" for name in members)
        rules.append({"rule": f"{count} <= 1", "message": f"can have only one of {', '.join(members)}"})
    if descriptor.full_name == f"{_PACKAGE}Content":
        sources = " || ".join(f"has(self.{name})" for members in _alternatives(descriptor) for name in members)
        rules.append(
            {
                "rule": f"!({_filled('segments')} && ({sources}))",
                "message": "cannot have segments together with another source",
            }
        )
    own = _OWN.get(descriptor.full_name.removeprefix(_PACKAGE), ())
    return rules + [{"rule": rule, "message": message} for rule, message in own]


def exclusive_fields(descriptor: Descriptor) -> list[tuple[str, str]]:
    """Give the pairs of fields that exclude each other since they are of one oneof."""
    return [pair for members in _alternatives(descriptor) for pair in combinations(members, 2)]


def _alternatives(descriptor: Descriptor) -> list[list[str]]:
    groups: dict[str, list[str]] = {}
    for key, field in fields_by_key(descriptor).items():
        group = _group(field)
        if group:
            groups.setdefault(group, []).append(key)
    return [members for members in groups.values() if len(members) > 1]


def _group(field: FieldDescriptor) -> str:
    """Give the name of the field's oneof; "" for what proto3 makes of `optional`."""
    group = field.containing_oneof
    return "" if group is None or len(group.fields) == 1 else group.name
