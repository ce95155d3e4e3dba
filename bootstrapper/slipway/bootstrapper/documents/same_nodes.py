"""Machines of a cluster that would be one node: the name is written out, and another machine has it, or a replica.

Only the first of them joins: kubeadm refuses a name that another node has.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from slipway.bootstrapper.assembly.overrides import effective_spec
from slipway.bootstrapper.assembly.subject import field_name
from slipway.bootstrapper.documents.machines import Inconsistency, MachineQuestion, by_cluster
from slipway.bootstrapper.field_index import item_index
from slipway.bootstrapper.importers.document_words import DocumentWords, is_of_document
from slipway.bootstrapper.importers.mapping.context import CLOUD_CONFIG
from slipway.contract.errors import Violation
from slipway.v1alpha1 import spec_pb2 as specpb

_OVERRIDE = "hostname-override"
_COMPLETED = re.compile(r"[$@%{]")
_FACT = "use a machine fact"
_HOST = "leave it out, so that each is named as its host"
_JINJA = f"{_HOST}, or have cloud-init fill it in: {{{{ ds.meta_data.local_hostname }}}}"


def same_nodes(machines: Sequence[MachineQuestion], *, tolerant: bool = False) -> Iterator[Inconsistency]:
    """Find the machines of one cluster that would be the node that another one is, or that several of its own would be.

    Where the node has no name of its own, it is the host's; the kubelet's argument wins over both. `tolerant` leaves
    out the replicas of an imported config, of which one joins today.
    """
    seen: dict[str, str] = {}
    for entry in machines:
        field, name = _node_name(entry)
        if not name or entry.replicas == 0:
            continue
        replicated = (entry.replicas or 1) > 1 and not (tolerant and is_of_document(entry.subject.spec))
        if name in seen or replicated:
            whose = f"machine {seen[name]} has" if name in seen else "each of its replicas has"
            message = f"{whose} the same name, and would be the same node: {_remedy(entry.subject.spec)}"
            yield Inconsistency(entry, field, message)
        seen.setdefault(name, entry.name)


def namesake_nodes(questions: Iterable[MachineQuestion]) -> Iterator[Inconsistency]:
    """Give the machines of all clusters that get no user data, since they would be the node that another one is."""
    for machines in by_cluster(questions):
        yield from same_nodes(machines, tolerant=True)


def _remedy(spec: specpb.MachineBootstrapSpec) -> str:
    if not is_of_document(spec):
        return _FACT
    return _JINJA if spec.imported.format == CLOUD_CONFIG else _HOST


def _node_name(entry: MachineQuestion) -> tuple[str, str]:
    """Give the field that names the node, and the name where it is the same on every machine."""
    spec = effective_spec(entry.subject.spec, entry.subject.machine.role)
    node, host = spec.kubernetes.node, spec.os.hostname
    for index, argument in reversed(list(enumerate(node.kubelet_arguments))):
        if argument.name.replace("_", "-") == _OVERRIDE:
            # A command of an imported config may complete it on the machine.
            literal = "" if argument.segments or _COMPLETED.search(argument.value) else argument.value
            return _written(entry, spec, f"kubernetes.node.kubelet_arguments[{index}]"), literal.lower()
    text = node.name if node.HasField("name") else host.name
    field = "kubernetes.node.name" if node.HasField("name") else "os.hostname.name"
    is_literal = not any(segment.WhichOneof("value") != "text" for segment in text.segments)
    literal = text.value or "".join(segment.text for segment in text.segments)
    return _written(entry, spec, field), literal.lower() if is_literal else ""


def _written(entry: MachineQuestion, effective: specpb.MachineBootstrapSpec, path: str) -> str:
    """Give the name of a field; of an imported spec its place in the document that it comes from."""
    path = f"spec.{path}"
    if not is_of_document(entry.subject.spec):
        return path
    place = Violation(field_name(item_index(effective), path), "")
    return DocumentWords(entry.subject.spec).violations(place)[0].path
