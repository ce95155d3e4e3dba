"""What is likely a slip in a machine's documents, though it need not be: a third party may know what is not known here.

A mistake is told elsewhere; a doubt is a warning, and nothing is refused for it.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from bootstrapper.documents.feature_names import feature_names
from bootstrapper.documents.machines import MachineQuestion
from bootstrapper.engines.kubeadm.kubernetes_version import NEWEST, KubernetesVersionError, parse_kubernetes_version
from bootstrapper.lowering.legalise import EXTENSION
from services.contract.source_position import did_you_mean


@dataclass(frozen=True, slots=True)
class Doubt:
    """A field, by the name that errors have for it, and what is doubtful."""

    field: str
    message: str


def doubts(question: MachineQuestion, served: Mapping[str, Collection[str]]) -> Iterator[Doubt]:
    """Give the doubts about a machine.

    Args:
        question: the machine.
        served: names of the provisioners that come with Slipway, each with its formats.
    """
    choice = question.subject.spec.provisioner
    if choice.name and choice.name not in served:
        meant = _meant(choice.name, served, "one of your own has to be registered where this is rendered")
        yield Doubt("spec.provisioner.name", f"no provisioner of this name comes with Slipway; {meant}")
    formats = served.get(choice.name, []) if choice.name else [one for all_ in served.values() for one in all_]
    if choice.format and formats and choice.format not in formats:
        whose = "this provisioner" if choice.name else "a provisioner that comes with Slipway"
        meant = _meant(choice.format, formats, f"there are {', '.join(formats)}")
        yield Doubt("spec.provisioner.format", f"is no format of {whose}; {meant}")
    yield from _optional(question)
    yield from _version(question)


def _optional(question: MachineQuestion) -> Iterator[Doubt]:
    known = feature_names()
    for index, name in enumerate(question.subject.spec.optional_features):
        if name not in known and not name.startswith(EXTENSION):
            meant = _meant(name, known, "docs/reference/features.md has them all")
            yield Doubt(f"spec.optionalFeatures[{index}]", f"is no feature that this Slipway knows; {meant}")


def _meant(word: str, known: Collection[str], otherwise: str) -> str:
    found = did_you_mean(word, known)
    return f"did you mean {found}?" if found else otherwise


def _version(question: MachineQuestion) -> Iterator[Doubt]:
    machine, cluster = question.subject.machine, question.subject.cluster
    try:
        version = parse_kubernetes_version(machine.kubernetes_version or cluster.kubernetes_version)
    except KubernetesVersionError:
        return
    if version.series > NEWEST:
        newest = f"v{NEWEST[0]}.{NEWEST[1]}"
        message = f"is newer than {newest}, the newest that this Slipway knows: check it, or try a newer Slipway"
        yield Doubt("machine.kubernetesVersion", message)
