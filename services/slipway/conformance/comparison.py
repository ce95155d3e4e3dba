"""Compares items of a bundle with what its user data says of them: every one, and all that is set in it.

It goes by the descriptors, so a field that is added to the contract is compared on the day it is added. Whatever a
decoder does not claim to see is unverified: neither right nor wrong.
"""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import Message

from slipway.conformance.contents import Contents, extension_features, literal_text
from slipway.conformance.equivalence import HANDLES, alike, document, list_key, path_key, same_name, same_value
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.contract.field_plans import FieldPlan, plan
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import secret_pb2 as secretpb

_KEYS = {
    "files": "argument", "mounts": "path", "filesystems": "device", "kernel_arguments": "argument", "drop_ins": "name",
    "arguments": "name", "kubelet_arguments": "name", "volumes": "host_path",
}  # fmt: skip
_DOCUMENTS = {"policy", "manifest", "kubelet_configuration"}
"""Contents that are documents of Kubernetes: what counts is what they say, however it is written."""

_HARMS = {
    ("Disk", "overwrite"), ("Filesystem", "overwrite"), ("Link", "hard"), ("Packages", "upgrade"),
    ("SystemdUnit", "masked"), ("RegistryEndpoint", "skip_verify"), ("Filesystem", "replace_format"),
    ("Filesystem", "options"),
}  # fmt: skip
"""What must not be there unless it was asked for: it destroys, stops or opens something."""

SYSTEMS_OWN = {
    ("Containerd", "cgroup_driver"), ("Disk", "table_type"), ("Mount", "check"), ("Mount", "options"),
    ("Mount", "type"), ("Ntp", "enabled"), ("Packages", "update"), ("Partition", "percentage"),
    ("User", "lock_password"), ("User", "no_create_home"), ("User", "primary_group"),
}  # fmt: skip
"""What the contract gives a field of which nothing is said, or a decoder shows as the system has it then."""

_TRUE_UNLESS_SAID = {("Ntp", "enabled")}
"""What is true when nothing is said of it."""

_UNLESS_SAID: Mapping[tuple[str, str], Any] = {
    ("Cluster", "service_domain"): "cluster.local",
    ("Containerd", "cgroup_driver"): ospb.CGROUP_DRIVER_SYSTEMD,
    ("ControlPlane", "bind_port"): 6443,
    ("Disk", "table_type"): ospb.PARTITION_TABLE_TYPE_GPT,
    ("Mount", "type"): "auto",
}
"""What the contract gives a field of which nothing is said, where a decoder shows it."""

_ORDERED = {"kernel_arguments"}
"""Lists of items of which the last wins where two say the same; what is there twice means what it means once."""

_OF_SYSTEMS = frozenset({"auto", "comment=cloudconfig", "defaults", "nofail", "sw", "_netdev"})
"""Options of a mount that systems give one of which nothing is said."""

_BEGIN = b"-----BEGIN CERTIFICATE-----"


@dataclass(slots=True)
class Comparison:
    """What a comparison found.

    Attributes:
        problems: what is missing or different, by the bundle's field paths; never a value.
        failed: features of which something is missing or different.
        verified: features that were found.
        unverified: features that the decoder does not see.
        surplus: what is there, in words, and nothing of the bundle needs it.
    """

    problems: list[str] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)
    verified: set[str] = field(default_factory=set)
    unverified: set[str] = field(default_factory=set)
    surplus: list[str] = field(default_factory=list)


class Comparer:
    """Compares one bundle with one state.

    Attributes:
        found: what was found so far.
        bundle: the bundle.
        contents: gives the bytes of the bundle's contents.
        secrets: the bundle's secrets by name and key.
        state: what the user data says.
        windows: whether the machine is one of Windows, where case and the kind of slash mean nothing in a path.
    """

    def __init__(self, bundle: bundlepb.BootstrapBundle, state: statepb.MachineState, *, windows: bool) -> None:
        """Start with nothing found."""
        self.found = Comparison()
        self.bundle = bundle
        self.contents = Contents(bundle)
        self.secrets = {(secret.name, secret.key): secret.value for secret in bundle.secrets.secrets}
        self.state = state
        self._seen = set(state.features)
        self.windows = windows

    def message(
        self, expected: Message, actual: Message, path: str, above: str, *, apart_from: Container[str] = ()
    ) -> None:
        """Compare what is set in a message; `above` is the nearest feature's id."""
        plans = plan(expected.DESCRIPTOR)
        for descriptor, value in expected.ListFields():
            field_plan = plans[descriptor.number]
            if (
                field_plan.name == "origin"
                or field_plan.name in apart_from
                or (expected.DESCRIPTOR.name, field_plan.name) in HANDLES
            ):
                continue
            own = field_plan.own_id(above)
            where = f"{path}.{field_plan.name}"
            if own and not self.sees(own):
                self.found.unverified |= {own}
                continue
            if own:
                self.found.verified.add(own)
            self._field(field_plan, value, actual, where, own or above)
        self._harmless(expected, actual, path, above)

    def _harmless(self, expected: Message, actual: Message, path: str, above: str) -> None:
        said = {descriptor.name for descriptor, _ in expected.ListFields()}
        for descriptor, value in actual.ListFields():
            name = (expected.DESCRIPTOR.name, descriptor.name)
            if descriptor.name in said:
                continue
            if name in _UNLESS_SAID:
                if value and value != _UNLESS_SAID[name]:
                    self.more(f"{path}.{descriptor.name}", above)
                continue
            if name == ("Mount", "options") and not _OF_SYSTEMS.issuperset(value):
                self.more(f"{path}.{descriptor.name}", above)
            chosen = value and name not in SYSTEMS_OWN and path.startswith("os.") and descriptor.message_type is None
            if chosen or (value and name in _HARMS) or (not value and name in _TRUE_UNLESS_SAID):
                self.more(f"{path}.{descriptor.name}", above)

    def _field(self, field_plan: FieldPlan, value: Any, actual: Message, where: str, feature: str) -> None:
        there = getattr(actual, field_plan.name)
        if field_plan.name in _DOCUMENTS:
            if document(value) != document(there):
                self.wrong(where, feature)
        elif field_plan.name == "files" and feature == "os.files":
            self._files(list(value), list(there), where)
        elif field_plan.message is None:
            for number in value if field_plan.repeated else [value]:
                suffix = field_plan.value_features.get(number) if field_plan.enum is not None else None
                if suffix and not self.sees(feature + suffix):
                    self.found.unverified.add(feature + suffix)
                    return
                if suffix:
                    self.found.verified.add(feature + suffix)
            name = (actual.DESCRIPTOR.name, field_plan.name)
            same = (
                list_key(name, value) == list_key(name, there)
                if field_plan.repeated
                else same_value(field_plan, value, actual, windows=self.windows)
            )
            if not same:
                self.wrong(where, feature)
        elif field_plan.repeated:
            self._entries(field_plan, list(value), list(there), where, feature)
        else:
            self._entry(value, there, where, feature)

    def _entries(
        self, field_plan: FieldPlan, wanted: Sequence[Any], there: Sequence[Any], where: str, feature: str
    ) -> None:
        if field_plan.name == "trusted_certificates":
            self._certificates(wanted, there, where, feature)
            return
        key = _KEYS.get(field_plan.name) or next(iter(field_plan.rules.unique_by), "")
        used: set[int] = set()
        if field_plan.name in _ORDERED:
            self._ordered(wanted, there, key, where, feature)
        for index, entry in enumerate(wanted):
            at = f"{where}[{index}]"
            if field_plan.name in _ORDERED and entry in wanted[:index]:
                continue
            candidates = (
                [
                    number
                    for number, other in enumerate(there)
                    if number not in used and same_name(entry, other, key, windows=self.windows)
                ]
                if key
                else [index][: len(there) - index if index < len(there) else 0]
            )
            if not candidates:
                self.wrong(at, feature)
                continue
            # Entries may share a name, such as a kernel argument that one adds and another one takes away.
            chosen = next((number for number in candidates if alike(entry, there[number])), candidates[0])
            used.add(chosen)
            self._entry(entry, there[chosen], at, feature)
            if isinstance(entry, Message):
                self._check_borrowed(entry, there[chosen], wanted, at, feature)

    def _ordered(self, wanted: Sequence[Any], there: Sequence[Any], key: str, where: str, feature: str) -> None:
        """See that entries which are to be there come in the bundle's order, as far as they are there."""
        wanted_names = list(dict.fromkeys(getattr(entry, key) for entry in wanted if not entry.absent))
        present = dict.fromkeys(getattr(entry, key) for entry in there if not entry.absent)
        if [name for name in present if name in wanted_names] != [name for name in wanted_names if name in present]:
            self.wrong(f"the order of {where}", feature)

    def _check_borrowed(
        self, entry: Message, there: Message, others: Sequence[Message], where: str, feature: str
    ) -> None:
        """See that nothing is in an entry that only another one of the list says."""
        set_here = {descriptor.name for descriptor, _ in entry.ListFields()}
        for descriptor, value in there.ListFields():
            name = descriptor.name
            if (
                value
                and name not in set_here
                and (there.DESCRIPTOR.name, name) not in SYSTEMS_OWN
                and any(_says(other, name, value) for other in others if other is not entry)
            ):
                self.more(f"{where}.{name}", feature)

    def _certificates(self, wanted: Sequence[Any], there: Sequence[Any], where: str, feature: str) -> None:
        """Compare authorities one by one: some systems have a file of each, however many stand in one text."""
        held = Counter(block for root in there for block in self._blocks(root.certificate))
        for index, root in enumerate(wanted):
            blocks = self._blocks(root.certificate)
            if not blocks or Counter(blocks) - held:
                self.wrong(f"{where}[{index}].certificate", feature)
            held -= Counter(blocks)

    def _blocks(self, certificate: contentpb.Content) -> list[bytes]:
        data = self.contents.bytes_of(certificate) or b""
        return [b"".join(block.partition(b"-----END")[0].split()) for block in data.split(_BEGIN)[1:]]

    def _files(self, wanted: list[ospb.File], there: list[ospb.File], where: str) -> None:
        """Compare files; whether content is put behind a file here or on the machine makes no difference."""
        feature = "os.files"
        if any(file.append for file in wanted) and not self.sees("os.files.append"):
            self.found.unverified.add("os.files.append")
            return
        self.found.verified |= {"os.files.append"} if any(file.append for file in wanted) else set()
        joined = {path_key(file.path) if self.windows else file.path: file for file in self.contents.joined(there)}
        for index, file in enumerate(self.contents.joined(wanted)):
            other = joined.get(path_key(file.path) if self.windows else file.path)
            if other is None:
                self.wrong(f"{where} (file {index})", "os.files.append" if file.append else feature)
            else:
                self._entry(file, other, f"{where} (file {index})", feature)

    def _entry(self, entry: Any, there: Any, where: str, feature: str) -> None:
        if isinstance(entry, contentpb.Content):
            data = self.contents.bytes_of(entry)
            if data is not None and data != self.contents.bytes_of(there):
                self.wrong(where, feature)
            else:
                self.found.verified |= extension_features(feature, entry.segments) & self._seen
        elif isinstance(entry, secretpb.SecretValue):
            if self.contents.secret(entry) != self.contents.secret(there):
                self.wrong(where, feature)
        elif isinstance(entry, contentpb.MachineText):
            if literal_text(entry) not in (None, literal_text(there) or ""):
                self.wrong(where, feature)
        else:
            self.message(entry, there, where, feature)

    def fact(self, feature: str, where: str, holds: bool) -> None:  # noqa: FBT001  # the third part of a fact, as its callers write it
        """Take in whether something holds that is compared as a whole."""
        if not self.sees(feature):
            self.found.unverified.add(feature)
        elif holds:
            self.found.verified.add(feature)
        else:
            self.wrong(where, feature)

    def sees(self, feature: str) -> bool:
        """Whether the decoder can read a feature."""
        return feature in self._seen

    def wrong(self, where: str, feature: str) -> None:
        """Take in something that is missing or different."""
        self.found.problems.append(f"{where} is not in the user data as the bundle says it")
        self.found.failed.add(feature)

    def more(self, what: str, feature: str) -> None:
        """Take in something that nobody asked for."""
        self.found.problems.append(f"{what} is in the user data, and the bundle does not say it")
        self.found.failed.add(feature)


def _says(message: Message, name: str, value: Any) -> bool:
    return any(descriptor.name == name and other == value for descriptor, other in message.ListFields())
