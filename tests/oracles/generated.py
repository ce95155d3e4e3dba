"""Machines made from the contract's descriptors by hypothesis: a field that is added is in them on the day it is added.

The values come from tables, by grammar or by field, since what a machine can be is more than what is well-formed: a
file's owner exists, a name is there once. Every choice is hypothesis' own, and always the same. What a machine says of
Kubernetes is drawn for itself: it depends on the machine's role, and the system is the same with and without it.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, TypeVar

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from slipway.contract.field_plans import ORIGIN, plan
from slipway.contract.items import items
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.oracles import generated_kubernetes_values as of_kubernetes
from tests.oracles import generated_values as of_system

Made = TypeVar("Made", bound=Message)

BY_GRAMMAR = {**of_system.BY_GRAMMAR, **of_kubernetes.BY_GRAMMAR}
BY_FIELD = {**of_system.BY_FIELD, **of_kubernetes.BY_FIELD}
LEFT_OUT = {**of_system.LEFT_OUT, **of_kubernetes.LEFT_OUT}
_ONE_OF = {**of_system.ONE_OF, **of_kubernetes.ONE_OF}
_NEEDS = of_system.NEEDS
_ROOTS = (
    ospb.OperatingSystem.DESCRIPTOR,
    planpb.Commands.DESCRIPTOR,
    kubernetespb.Kubernetes.DESCRIPTOR,
    specpb.EngineOptions.DESCRIPTOR,
)
# What a machine that joins makes anything of; the rest stands on the machine that makes the cluster.
_OF_JOINING = ("node", "discovery", "static_pods", "timeouts")


@cache
def systems(count: int) -> tuple[specpb.MachineBootstrapSpec, ...]:
    """So many systems with commands; the first one says everything, the others leave things unsaid."""
    # Whatever hypothesis begins with is small: the largest ones say the most, and then what says anything new.
    complete = max(examples(4 * count, _system(complete=True)), key=lambda example: example.ByteSize())
    others = sorted(examples(8 * count, _system(complete=False)), key=lambda example: example.ByteSize(), reverse=True)
    chosen = [complete]
    while len(chosen) < count:
        known = _pairs(chosen)
        chosen.append(max(others, key=lambda other: len(_pairs([other]) - known)))
    return tuple(chosen)


@cache
def kubernetes(makes_cluster: tuple[bool, ...]) -> tuple[specpb.MachineBootstrapSpec, ...]:
    """What each machine says of Kubernetes, by whether it makes the cluster or joins it.

    Nearly everything, since only few of them make a cluster; the last one leaves things unsaid.
    """
    drawn = examples(4 * len(makes_cluster), _kubernetes(complete=True))
    chosen: list[specpb.MachineBootstrapSpec] = []
    for number, makes in enumerate(makes_cluster):
        known: set[str] = set()
        for one, other in zip(chosen, makes_cluster, strict=False):
            known |= said(used(one, makes_cluster=other)) if other == makes else set()
        if number and number == len(makes_cluster) - 1:
            drawn = examples(4, _kubernetes(complete=False))
        chosen.append(max(drawn, key=partial(_news, known=known, makes_cluster=makes)))
    return tuple(chosen)


def _news(one: specpb.MachineBootstrapSpec, *, known: set[str], makes_cluster: bool) -> tuple[int, int]:
    return len(said(used(one, makes_cluster=makes_cluster)) - known), one.ByteSize()


def used(spec: specpb.MachineBootstrapSpec, *, makes_cluster: bool) -> specpb.MachineBootstrapSpec:
    """What a machine makes anything of: whoever joins needs nothing of a cluster, whoever makes one finds none."""
    kept = specpb.MachineBootstrapSpec()
    kept.CopyFrom(spec)
    for field in kept.kubernetes.DESCRIPTOR.fields:
        if (field.name == "discovery") if makes_cluster else (field.name not in _OF_JOINING):
            kept.kubernetes.ClearField(field.name)
    return kept


def _pairs(specs: Sequence[specpb.MachineBootstrapSpec]) -> set[tuple[str, str]]:
    """Which fields stand beside each other in an item."""
    found = set()
    for spec in specs:
        for item in items(spec):
            names = sorted(said(item.message))
            found |= {(name, other) for name in names for other in names}
    return found


def examples(count: int, strategy: st.SearchStrategy[Made]) -> list[Made]:
    """So many examples, the same in every run."""
    found: list[Made] = []

    @seed(1)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(made: Made) -> None:
        found.append(made)

    collect()
    return found


def fields() -> set[str]:
    """Every field that a system, a command or Kubernetes can say, as "Message.field", but for those left out."""
    found: set[str] = set()
    waiting = list(_ROOTS)
    seen = set()
    while waiting:
        descriptor = waiting.pop()
        if descriptor.full_name in seen:
            continue
        seen.add(descriptor.full_name)
        for field in _fields(descriptor):
            found.add(f"{descriptor.name}.{field.name}")
            if field.message_type is not None:
                waiting.append(field.message_type)
    return found


def said(message: Any) -> set[str]:
    """Every field that a message says, as "Message.field"."""
    found: set[str] = set()
    for one, value in message.ListFields():
        found.add(f"{message.DESCRIPTOR.name}.{one.name}")
        if one.message_type is not None:
            for entry in value if one.is_repeated else [value]:
                found |= said(entry)
    return found


@st.composite
def _system(draw: st.DrawFn, *, complete: bool) -> specpb.MachineBootstrapSpec:
    made = specpb.MachineBootstrapSpec()
    _fill(made.os, draw, complete=complete)
    _fill(made.commands, draw, complete=complete)
    _number(made)
    return made


@st.composite
def _kubernetes(draw: st.DrawFn, *, complete: bool) -> specpb.MachineBootstrapSpec:
    made = specpb.MachineBootstrapSpec()
    _fill(made.kubernetes, draw, complete=complete)
    _fill(made.engine_options, draw, complete=complete)
    counter = iter(range(5000, 10**4))
    _replace(made, lambda text: text.replace("@", str(next(counter))) if "@" in text else text)
    _name_once(made)
    arguments, plane = made.kubernetes.node.kubelet_arguments, made.kubernetes.control_plane
    for argument, name in zip(arguments, of_kubernetes.KUBELET_FLAGS, strict=False):
        argument.name = name
    for component in (plane.api_server, plane.controller_manager, plane.scheduler):
        for argument, name in zip(component.arguments, of_kubernetes.COMPONENT_FLAGS, strict=False):
            argument.name = name
    for file, name in zip(plane.files, of_kubernetes.FILE_FLAGS, strict=False):
        if file.argument:
            file.argument = name
    # The system may have swap, with which the kubelet does not start otherwise.
    arguments.add(name="fail-swap-on", value="false")
    if made.kubernetes.certificates.HasField("ca_validity"):
        # kubeadm warns of an authority that ends before the certificates that it issues.
        made.kubernetes.certificates.ca_validity.seconds = 10 * 365 * 24 * 60 * 60
    for token in made.engine_options.kubeadm.bootstrap_tokens:
        # kubeadm takes groups only of who uses a token to say who it is.
        if token.groups and "authentication" not in token.usages:
            token.usages.append("authentication")
    return made


def _fields(descriptor: Any) -> list[FieldDescriptor]:
    return [
        field
        for field in descriptor.fields
        if f"{descriptor.name}.{field.name}" not in LEFT_OUT
        and not plan(descriptor)[field.number].rules.internal
        and not (field.message_type is not None and field.message_type.full_name == ORIGIN)
    ]


def _fill(message: Any, draw: st.DrawFn, *, complete: bool) -> None:
    """Say something in a message, or everything that can be said at once."""
    descriptor = message.DESCRIPTOR
    chosen = {field.name: field for field in _fields(descriptor)}
    exclusive = [[name for name in _ONE_OF.get(descriptor.name, ()) if name in chosen]]
    exclusive += [
        [field.name for field in group.fields if field.name in chosen]
        for group in descriptor.oneofs
        if len(group.fields) > 1 and descriptor.name not in _ONE_OF
    ]
    for group in filter(None, exclusive):
        kept = draw(st.sampled_from(group))
        chosen = {name: one for name, one in chosen.items() if name not in group or name == kept}
    for name, one in sorted(chosen.items(), key=lambda pair: f"{descriptor.name}.{pair[0]}" in _NEEDS):
        rules = plan(descriptor)[one.number].rules
        needed = rules.required or any(name in group for group in exclusive) or name == "content"
        if not needed and not complete and not draw(st.booleans()):
            continue
        other = _NEEDS.get(f"{descriptor.name}.{name}")
        if other and (other not in chosen or not _said(message, other)):
            continue
        if not one.is_repeated:
            _set(message, one, _value(message, one, draw, complete=complete))
            continue
        for _ in range(draw(st.integers(1, 3))):
            value = _value(message, one, draw, complete=complete)
            if one.message_type is not None or value not in getattr(message, name):
                getattr(message, name).append(value)


def _said(message: Any, name: str) -> bool:
    return name in {one.name for one, _ in message.ListFields()}


def _set(message: Any, one: FieldDescriptor, value: Any) -> None:
    if one.message_type is not None:
        getattr(message, one.name).CopyFrom(value)
    else:
        setattr(message, one.name, value)


def _value(message: Any, one: FieldDescriptor, draw: st.DrawFn, *, complete: bool) -> Any:
    rules = plan(message.DESCRIPTOR)[one.number].rules
    words: Any = BY_FIELD.get(f"{message.DESCRIPTOR.name}.{one.name}") or BY_GRAMMAR.get(rules.format)
    if words is not None:
        return draw(st.sampled_from(words))
    if one.message_type is not None:
        made = getattr(message, one.name).add() if one.is_repeated else type(getattr(message, one.name))()
        if one.is_repeated:
            del getattr(message, one.name)[-1]
        _fill(made, draw, complete=complete)
        return made
    if one.enum_type is not None:
        return draw(st.sampled_from([value.number for value in one.enum_type.values if value.number]))
    if one.type == FieldDescriptor.TYPE_BOOL:
        return draw(st.booleans())
    raise AssertionError(f"say in BY_FIELD or BY_GRAMMAR what {message.DESCRIPTOR.name}.{one.name} may be")


def _number(spec: specpb.MachineBootstrapSpec) -> None:
    """Give each name its number, and leave every other item with a name that is there already out."""
    # What is referred to is there; and which number a user gets depends on who is there already.
    _ = spec.os.users or spec.os.users.add()
    _ = spec.os.groups or spec.os.groups.add()
    for number, user in enumerate(spec.os.users):
        user.name, user.uid = f"user-{number}", 1200 + 100 * number
    for number, group in enumerate(spec.os.groups):
        group.name, group.gid = f"group-{number}", 4200 + number
    for mount in spec.os.mounts:
        if "noauto" not in mount.options:
            mount.options.append("noauto")  # There is nothing to mount.
    for part in (spec, spec.init, spec.join):
        for command in part.commands.boot:
            # No systemd runs on these machines: what is given to a unit at boot is started by hand, after the steps.
            _replace(command, lambda text: text.replace("/var/log/gen\n", "/var/log/gen-boot\n"))
    for command in (*spec.commands.boot, *spec.commands.pre, *spec.commands.post):
        if command.argv:
            command.argv.insert(0, "record")
    counter = iter(range(1000, 10**6))
    _replace(spec, lambda text: text.replace("@", str(next(counter))) if "@" in text else text)
    _ask_hosts(spec.os.containerd)


def _ask_hosts(containerd: ospb.Containerd) -> None:
    """Have each host with credentials asked: others are refused."""
    for registry in containerd.registries:
        if registry.HasField("credentials") and (registry.server or registry.only_endpoints):
            registry.server = f"https://{registry.host}"


def _name_once(message: Any) -> None:
    """Leave out every further entry of a list that has the name of an earlier one."""
    for one, value in list(message.ListFields()):
        if one.message_type is None:
            continue
        for entry in value if one.is_repeated else [value]:
            _name_once(entry)
        names = plan(message.DESCRIPTOR)[one.number].rules.unique_by
        if names:
            kept = {tuple(getattr(entry, name) for name in names): entry for entry in reversed(value)}
            del value[:]
            value.extend(reversed(kept.values()))


def _replace(message: Message, change: Callable[[str], str]) -> None:
    for one, value in list(message.ListFields()):
        if one.message_type is not None:
            for entry in value if one.is_repeated else [value]:
                _replace(entry, change)
        elif one.type == FieldDescriptor.TYPE_STRING:
            if one.is_repeated:
                value[:] = [change(text) for text in value]
            else:
                setattr(message, one.name, change(value))
