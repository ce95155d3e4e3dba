"""What is wrong with machines only beside each other: names that clash, clusters begun twice, versions too far apart.

Each machine alone is checked elsewhere. These are the mistakes that people make in several files at once.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from slipway.bootstrapper.assembly.overrides import effective_spec
from slipway.bootstrapper.documents.engines import engine_path, named_engine
from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.bootstrapper.engines.table import installed_engines
from slipway.contract.source_position import SourceProblem
from slipway.v1alpha1 import cluster_pb2 as clusterpb

_OLDER_ALLOWED = 3
_OLDER_ALLOWED_BEFORE_1_28 = 2
_NEW_SKEW = (1, 28)
_VERSION = "machine.kubernetesVersion"
_OVERRIDE = "hostname-override"
_COMPLETED = re.compile(r"[$@%{]")


@dataclass(frozen=True, slots=True)
class Inconsistency:
    """A machine that does not go with the others, and why.

    Attributes:
        machine: the one that is to be changed.
        field: the field that is wrong, by the name that errors have for it; "" for the machine as a whole.
        message: what is wrong and what to do.
    """

    machine: MachineQuestion
    field: str
    message: str


def namesakes(questions: Iterable[MachineQuestion]) -> Iterator[tuple[str, SourceProblem]]:
    """Give a problem, with the name, for every machine that has the name of an earlier one.

    Their user data could not be distinguished.
    """
    seen: dict[str, MachineQuestion] = {}
    for entry in questions:
        if entry.name in seen:
            earlier = seen[entry.name].standing
            line = f"{earlier.file}:{earlier.position.line}" if earlier.position else earlier.file
            yield entry.name, entry.standing.problem(f"the machine in {line} has the same name")
        seen.setdefault(entry.name, entry)


def inconsistencies(questions: Sequence[MachineQuestion]) -> Iterator[Inconsistency]:
    """Give everything in which the machines of a cluster do not go together.

    The distance of versions is that of Kubernetes' version skew policy: a kubelet is never newer than the API server,
    and at most three minor versions older (two before 1.28); control-plane machines are at most one minor version
    apart.
    """
    clusters: dict[tuple[str, str], list[MachineQuestion]] = {}
    for entry in questions:
        cluster = entry.subject.cluster
        clusters.setdefault((cluster.namespace, cluster.name), []).append(entry)
    for machines in clusters.values():
        yield from _begun_twice(machines)
        yield from _described_twice(machines)
        yield from _engines(machines)
        yield from _versions(machines)
        yield from _same_nodes(machines)


def _begun_twice(machines: Sequence[MachineQuestion]) -> Iterator[Inconsistency]:
    beginning = [entry for entry in machines if _role(entry) == clusterpb.ROLE_INIT]
    for entry in beginning[1:]:
        first = beginning[0].name
        message = f"machine {first} begins the same cluster: only one machine can have role Init"
        yield Inconsistency(entry, "machine.role", message)


def _described_twice(machines: Sequence[MachineQuestion]) -> Iterator[Inconsistency]:
    """Networks are the cluster's, so every machine must say the same; an endpoint may differ, as it does today."""
    first = machines[0]
    reported = set()
    for entry in machines[1:]:
        for name in ("pod_cidrs", "service_cidrs", "service_domain", "control_plane"):
            if getattr(entry.subject.cluster, name) != getattr(first.subject.cluster, name) and name not in reported:
                reported.add(name)
                what = name.replace("_", " ").replace("cidrs", "networks")
                message = f"the {what} of its cluster are not those that machine {first.name} has: give both the same"
                yield Inconsistency(entry, "", message)


def _engines(machines: Sequence[MachineQuestion]) -> Iterator[Inconsistency]:
    """Machines join only a control plane of their own engine; one that names none has that of the cluster's facts."""
    planes = [entry for entry in machines if _role(entry) != clusterpb.ROLE_WORKER]
    for entry in machines:
        named, fact = named_engine(entry), entry.subject.cluster.control_plane
        if named and fact and named != fact:
            message = f"its bootstrap engine is not {fact}, that of the cluster's control plane, which it cannot join: "
            message += "leave it out, so that it is that one"
            yield Inconsistency(entry, engine_path(entry), message)
        elif planes and _engine(entry) != _engine(planes[0]):
            message = f"its bootstrap engine is not that of control-plane machine {planes[0].name}: "
            message += "leave engine out of both, and name it in the cluster's controlPlane"
            yield Inconsistency(entry, engine_path(entry) if named_engine(entry) else "", message)


def _engine(entry: MachineQuestion) -> str:
    return named_engine(entry) or entry.subject.cluster.control_plane or installed_engines().names[0]


def _versions(machines: Sequence[MachineQuestion]) -> Iterator[Inconsistency]:
    planes = [entry for entry in machines if _role(entry) != clusterpb.ROLE_WORKER and _version(entry)]
    if planes:
        newest = max(_version(entry) for entry in planes)
        oldest = min(_version(entry) for entry in planes)
        for entry in planes:
            if _minors(newest, _version(entry)) > 1:
                message = "its version is more than one minor version behind another control-plane machine"
                message += ": choose a newer one"
                yield Inconsistency(entry, _VERSION, message)
    else:
        versions = {_parsed(entry.subject.cluster.kubernetes_version) for entry in machines} - {()}
        if len(versions) != 1:
            return
        newest = oldest = versions.pop()
    allowed = _OLDER_ALLOWED if newest >= _NEW_SKEW else _OLDER_ALLOWED_BEFORE_1_28
    for entry in machines:
        version = _version(entry)
        if _role(entry) != clusterpb.ROLE_WORKER or not version:
            continue
        if version[:2] > oldest[:2]:
            message = "its Kubernetes version is newer than the control plane's: choose that one, or one before it"
            yield Inconsistency(entry, _VERSION, message)
        elif _minors(newest, version) > allowed:
            message = f"its Kubernetes version is more than {allowed} minor versions behind the control plane's"
            message += ": choose a newer one"
            yield Inconsistency(entry, _VERSION, message)


def _same_nodes(machines: Sequence[MachineQuestion]) -> Iterator[Inconsistency]:
    """Find machines that would be one node: the name is written out, and another machine has it, or a replica.

    Where the node has no name of its own, it is the host's; the kubelet's argument wins over both.
    """
    seen: dict[str, str] = {}
    for entry in machines:
        field, name = _node_name(entry)
        if not name:
            continue
        if name in seen or (entry.replicas or 1) > 1:
            whose = f"machine {seen[name]} has" if name in seen else "each of its replicas has"
            message = f"{whose} the same name, and would be the same node: use a machine fact"
            yield Inconsistency(entry, field, message)
        seen.setdefault(name, entry.name)


def _node_name(entry: MachineQuestion) -> tuple[str, str]:
    """Give the field that names the node, and the name where it is the same on every machine."""
    spec = effective_spec(entry.subject.spec, _role(entry))
    node, host = spec.kubernetes.node, spec.os.hostname
    for index, argument in reversed(list(enumerate(node.kubelet_arguments))):
        if argument.name.replace("_", "-") == _OVERRIDE:
            # A command of an imported config may complete it on the machine.
            literal = "" if argument.segments or _COMPLETED.search(argument.value) else argument.value
            return f"spec.kubernetes.node.kubelet_arguments[{index}]", literal.lower()
    text = node.name if node.HasField("name") else host.name
    field = "spec.kubernetes.node.name" if node.HasField("name") else "spec.os.hostname.name"
    is_literal = not any(segment.WhichOneof("value") != "text" for segment in text.segments)
    literal = text.value or "".join(segment.text for segment in text.segments)
    return field, literal.lower() if is_literal else ""


def _role(entry: MachineQuestion) -> clusterpb.Role.ValueType:
    return entry.subject.machine.role


def _version(entry: MachineQuestion) -> tuple[int, ...]:
    return _parsed(entry.subject.machine.kubernetes_version or entry.subject.cluster.kubernetes_version)


def _parsed(version: str) -> tuple[int, ...]:
    """Give the numbers of a version, or () when it is not one: that is reported elsewhere."""
    parts = version.removeprefix("v").partition("-")[0].partition("+")[0].split(".")
    return tuple(int(part) for part in parts) if len(parts) >= 2 and all(map(str.isdecimal, parts)) else ()  # noqa: PLR2004  # major and minor


def _minors(newer: tuple[int, ...], older: tuple[int, ...]) -> int:
    """Give how many minor versions lie between two; another major version is far away."""
    return newer[1] - older[1] if newer[0] == older[0] else _OLDER_ALLOWED + 1
