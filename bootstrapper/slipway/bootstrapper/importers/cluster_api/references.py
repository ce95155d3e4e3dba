"""What objects of a set name, and is not in it although others of its kind are: most likely a slip.

Cluster API takes such objects and waits for what they name; so nothing is refused for it here either.
"""

from collections.abc import Iterator

from slipway.bootstrapper.importers.cluster_api.objects import ManifestObject, ManifestObjects
from slipway.contract.source_position import FieldPath, SourceProblem, did_you_mean, path_text

_MACHINES: FieldPath = ("spec", "template", "spec")

_REFERENCES: dict[str, tuple[FieldPath, ...]] = {
    "Cluster": (("spec", "controlPlaneRef"), ("spec", "infrastructureRef")),
    "KubeadmControlPlane": (
        ("spec", "machineTemplate", "infrastructureRef"),
        ("spec", "machineTemplate", "spec", "infrastructureRef"),
    ),
    "MachineDeployment": ((*_MACHINES, "infrastructureRef"),),
    "MachineSet": ((*_MACHINES, "infrastructureRef"),),
    "MachinePool": ((*_MACHINES, "infrastructureRef"),),
    "Machine": (("spec", "infrastructureRef"),),
}
"""Where each kind names others by kind and name; both layouts of the API's versions."""

_COMPLETE = ("Cluster", "KubeadmControlPlane")
"""Kinds of which a set that has any has all."""

_CLUSTER_NAMES: dict[str, tuple[FieldPath, ...]] = {
    "MachineDeployment": (("spec", "clusterName"), (*_MACHINES, "clusterName")),
    "MachineSet": (("spec", "clusterName"), (*_MACHINES, "clusterName")),
    "MachinePool": (("spec", "clusterName"), (*_MACHINES, "clusterName")),
    "Machine": (("spec", "clusterName"),),
}
"""Where each kind names its Cluster."""


def dangling(objects: ManifestObjects) -> Iterator[SourceProblem]:
    """Give a doubt for every name of an object that its namespace lacks, while it has others of that kind.

    What machines are made from is often in a file of its own: of that only a name that is nearly one of the set counts.
    """
    names: dict[str, dict[str, list[str]]] = {}
    for each in objects.all:
        names.setdefault(each.namespace, {}).setdefault(each.kind, []).append(each.name)
    for each in objects.all:
        near = names[each.namespace]
        for path in _REFERENCES.get(each.kind, ()):
            yield from _reference(each, path, near)
        for path in _CLUSTER_NAMES.get(each.kind, ()):
            yield from _named(each, path, "Cluster", near)


def _reference(each: ManifestObject, path: FieldPath, names: dict[str, list[str]]) -> Iterator[SourceProblem]:
    kind = each.part(*map(str, path), "kind")
    if not isinstance(kind, str):
        return
    if kind in names:
        yield from _named(each, (*path, "name"), kind, names)
        return
    meant = did_you_mean(kind, (known for known in names if not _another(kind, known)))
    if meant:
        yield _doubt(each, (*path, "kind"), f"no object of this kind is in the files; did you mean {meant}?")


def _another(kind: str, known: str) -> bool:
    """Return whether two kinds are like each other since one is named after the other: DockerMachine, Machine."""
    return kind.endswith(known) or known.endswith(kind) or f"{kind}Template" == known or f"{known}Template" == kind


def _named(each: ManifestObject, path: FieldPath, kind: str, names: dict[str, list[str]]) -> Iterator[SourceProblem]:
    name, known = each.part(*map(str, path)), names.get(kind, [])
    if isinstance(name, str) and known and name not in known:
        meant = did_you_mean(name, known)
        if not meant and kind not in _COMPLETE:
            return
        hint = f"did you mean {meant}?" if meant else "check the name, or add its file"
        yield _doubt(each, path, f"the files have no {kind} of this name; {hint}")


def _doubt(each: ManifestObject, path: FieldPath, message: str) -> SourceProblem:
    position = each.source.position(path)
    return SourceProblem(each.source.file, position, f"{each.document}: {path_text(path)}", message)
