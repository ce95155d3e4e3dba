"""Compares what a bundle asks for with what its user data says: every item, and all that is set in it.

It goes by the descriptors, so a field that is added to the contract is compared on the day it is added. Whatever a
decoder does not claim to see is told apart: neither right nor wrong, but unverified.
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import Message

from services.contract.walk import FieldPlan, plan, uses
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tools.conformance.contents import Contents

_KEYS = {
    "files": "path", "mounts": "path", "filesystems": "device", "kernel_arguments": "argument", "drop_ins": "name",
}  # fmt: skip
_GROUP_AND_OTHERS = 0o077
_ADMINISTRATORS = {"root", "Administrators"}


@dataclass(slots=True)
class Comparison:
    """What a comparison found.

    Attributes:
        problems: what is missing or different, by the bundle's field paths; never a value.
        failed: features of which something is missing or different.
        verified: features that were found.
        unverified: features that the decoder does not see.
    """

    problems: list[str] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)
    verified: set[str] = field(default_factory=set)
    unverified: set[str] = field(default_factory=set)


def compare(bundle: bundlepb.BootstrapBundle, state: statepb.MachineState, *, windows: bool) -> Comparison:
    """Compare a bundle with what its user data says."""
    made = _Comparer(bundle, state, windows=windows)
    made.message(bundle.os, state.os, "os", "")
    made.programs(bundle)
    if bundle.WhichOneof("kubernetes") == "intent":
        made.node(bundle)
    if bundle.extensions:
        made.found.unverified |= {f"ext.{one.id}" for one in bundle.extensions}
    found = made.found
    found.verified -= found.failed | found.unverified
    return found


class _Comparer:
    def __init__(self, bundle: bundlepb.BootstrapBundle, state: statepb.MachineState, *, windows: bool) -> None:
        self.found = Comparison()
        self._contents = Contents(bundle)
        self._secrets = {(one.name, one.key): one.value for one in bundle.secrets.secrets}
        self._state = state
        self._seen = set(state.features)
        self._windows = windows

    def message(
        self, expected: Message, actual: Message, path: str, above: str, *, apart_from: Container[str] = ()
    ) -> None:
        """Compare what is set in a message; `above` is the nearest feature's id."""
        plans = plan(expected.DESCRIPTOR)
        for descriptor, value in expected.ListFields():
            one = plans[descriptor.number]
            if one.name == "origin" or one.name in apart_from:
                continue
            own = one.own_id(above)
            where = f"{path}.{one.name}"
            if own and not self._sees(own):
                self.found.unverified |= {own}
                continue
            if own:
                self.found.verified.add(own)
            self._field(one, value, actual, where, own or above)

    def _field(self, one: FieldPlan, value: Any, actual: Message, where: str, feature: str) -> None:
        there = getattr(actual, one.name)
        if one.name == "files":
            self._files(list(value), list(there), where)
        elif one.message is None:
            for number in value if one.repeated else [value]:
                suffix = one.value_features.get(number) if one.enum is not None else None
                if suffix and not self._sees(feature + suffix):
                    self.found.unverified.add(feature + suffix)
                    return
                if suffix:
                    self.found.verified.add(feature + suffix)
            same = list(value) == list(there) if one.repeated else self._same(one, value, actual)
            if not same:
                self._wrong(where, feature)
        elif one.repeated:
            self._entries(one, list(value), list(there), where, feature)
        else:
            self._entry(value, there, where, feature)

    def _entries(self, one: FieldPlan, wanted: Sequence[Any], there: Sequence[Any], where: str, feature: str) -> None:
        key = next(iter(one.rules.unique_by), _KEYS.get(one.name, ""))
        used: set[int] = set()
        for index, entry in enumerate(wanted):
            at = f"{where}[{index}]"
            candidates = (
                [number for number, other in enumerate(there) if number not in used and self._named(entry, other, key)]
                if key
                else [index][: len(there) - index if index < len(there) else 0]
            )
            if not candidates:
                self._wrong(at, feature)
                continue
            used.add(candidates[0])
            self._entry(entry, there[candidates[0]], at, feature)

    def _files(self, wanted: list[ospb.File], there: list[ospb.File], where: str) -> None:
        """Compare files; whether content is put behind a file here or on the machine makes no difference."""
        feature = "os.files"
        if any(file.append for file in wanted) and not self._sees("os.files.append"):
            self.found.unverified.add("os.files.append")
            return
        self.found.verified |= {"os.files.append"} if any(file.append for file in wanted) else set()
        joined = {_drive(file.path) if self._windows else file.path: file for file in self._contents.joined(there)}
        for index, file in enumerate(self._contents.joined(wanted)):
            other = joined.get(_drive(file.path) if self._windows else file.path)
            if other is None:
                self._wrong(f"{where} (file {index})", "os.files.append" if file.append else feature)
            else:
                self._entry(file, other, f"{where} (file {index})", feature)

    def _entry(self, entry: Any, there: Any, where: str, feature: str) -> None:
        if isinstance(entry, contentpb.Content):
            data = self._contents.bytes_of(entry)
            if data is not None and data != self._contents.bytes_of(there):
                self._wrong(where, feature)
        elif isinstance(entry, secretpb.SecretValue):
            if self._contents.secret(entry) != self._contents.secret(there):
                self._wrong(where, feature)
        elif isinstance(entry, contentpb.MachineText):
            if entry.HasField("value") and entry.value != there.value:
                self._wrong(where, feature)
        else:
            self.message(entry, there, where, feature)

    def _same(self, one: FieldPlan, value: Any, actual: Message) -> bool:
        there = getattr(actual, one.name)
        if self._windows and one.rules.format == "file-mode":
            return bool(value & _GROUP_AND_OTHERS) == bool(there & _GROUP_AND_OTHERS)
        if self._windows and one.name in ("owner", "group") and value in _ADMINISTRATORS:
            return there in _ADMINISTRATORS
        if self._windows and one.rules.format == "absolute-path":
            return _drive(value) == _drive(there)
        return bool(value == there)

    def _named(self, entry: Message, other: Message, key: str) -> bool:
        name, there = getattr(entry, key), getattr(other, key)
        if self._windows and key == "path":
            return _drive(name) == _drive(there)
        return bool(name == there)

    def programs(self, bundle: bundlepb.BootstrapBundle) -> None:
        """Compare what is started."""
        entry = bundle.plan.entrypoint
        there = [list(program.argv) for program in self._state.programs]
        if entry.argv:
            self._started(list(entry.argv), there, "plan.entrypoint.argv", "plan.entrypoint")
        for index, line in enumerate(entry.commands):
            text = ["sh", "-c", "".join(segment.text for segment in line.segments)]
            if all(segment.HasField("text") for segment in line.segments):
                self._started(text, there, f"plan.entrypoint.commands[{index}]", "plan.entrypoint.commands")
        for index, command in enumerate(bundle.commands.boot):
            script = self._contents.bytes_of(command.script) if command.HasField("script") else None
            argv = list(command.argv) or ["sh", "-c", (script or b"").decode(errors="replace")]
            self._started(argv, there, f"commands.boot[{index}]", "os.commands.boot")
            if argv in there:
                self._below(bundle.commands, f"boot[{index}]")
        service = next((program for program in self._state.programs if program.argv == entry.argv), statepb.Program())
        if entry.after_units:
            holds = set(entry.after_units) <= set(service.after_units)
            self._fact("plan.entrypoint.after_units", "plan.entrypoint.after_units", holds)
        if entry.drop_ins:
            holds = list(entry.drop_ins) == list(service.drop_ins)
            self._fact("plan.entrypoint.drop_ins", "plan.entrypoint.drop_ins", holds)

    def _below(self, commands: planpb.Commands, path: str) -> None:
        """Take in the features of a command that was found: its form was compared as a whole."""
        self.found.verified.add("os.commands")
        whole = bundlepb.BootstrapBundle(commands=commands)
        found = {use.id for use in uses(whole) if use.path.startswith(f"commands.{path}")}
        self.found.verified |= {id_ for id_ in found if self._sees(id_)}

    def _started(self, argv: list[str], there: Iterable[list[str]], where: str, feature: str) -> None:
        if not self._sees(feature):
            self.found.unverified.add(feature)
        elif argv in there:
            self.found.verified.add(feature)
        else:
            self._wrong(where, feature)

    def node(self, bundle: bundlepb.BootstrapBundle) -> None:
        """Compare the core of an intent; whatever else it holds is unverified."""
        intent, node = bundle.intent, self._state.node
        tokens = [
            one.value.decode() for one in bundle.secrets.secrets if one.kind == secretpb.SECRET_KIND_BOOTSTRAP_TOKEN
        ]
        ca = intent.credentials.cluster_ca.certificate
        wanted = intent.kubernetes.node
        self._fact("kubernetes.role", "intent.role", intent.role == node.role)
        if self._sees("kubernetes.role") and intent.role == node.role:
            self.found.verified.add("kubernetes.role.worker")
        self._fact(
            "kubernetes.version", "intent.kubernetes_version", intent.kubernetes_version == node.kubernetes_version
        )
        self._fact("kubernetes.cluster.endpoint", "intent.cluster.endpoint", intent.cluster.endpoint == node.endpoint)
        authority = self._secrets.get((ca.name, ca.key), b"").strip() == node.cluster_ca.strip()
        self._fact(
            "kubernetes.credentials", "intent.credentials", authority and (not tokens or node.bootstrap_token in tokens)
        )
        if wanted.name.HasField("value"):
            self._fact("kubernetes.node.name", "intent.kubernetes.node.name", wanted.name.value == node.name)
        labels = {one.name: one.value for one in node.labels}
        found = all(labels.get(one.name) == one.value for one in wanted.labels)
        self._fact("kubernetes.node.labels", "intent.kubernetes.node.labels", found)
        taints = {(one.key, one.value, one.effect) for one in node.taints}
        found = all((one.key, one.value, one.effect) in taints for one in wanted.taints.items)
        self._fact("kubernetes.node.taints", "intent.kubernetes.node.taints", found)
        if "kubernetes.cluster.endpoint" in self.found.verified:
            self.found.verified.add("kubernetes.cluster")
        core = ("endpoint", "kubernetes_version", "namespace")
        self.message(intent.cluster, node.cluster, "intent.cluster", "kubernetes.cluster", apart_from=core)
        core = ("name", "labels", "taints")
        self.message(wanted, node.registration, "intent.kubernetes.node", "kubernetes.node", apart_from=core)

    def _fact(self, feature: str, where: str, holds: bool) -> None:  # noqa: FBT001  # the fact itself
        if not self._sees(feature):
            self.found.unverified.add(feature)
        elif holds:
            self.found.verified.add(feature)
        else:
            self._wrong(where, feature)

    def _sees(self, feature: str) -> bool:
        return feature in self._seen

    def _wrong(self, where: str, feature: str) -> None:
        self.found.problems.append(f"{where} is not in the user data as the bundle says it")
        self.found.failed.add(feature)


def _drive(path: str) -> str:
    return path.replace("/", "\\").lower()
