"""What is likely a slip in a machine's documents, though it need not be: a third party may know what is not known here.

A mistake is reported elsewhere; a doubt is a warning, and nothing is refused for it.
"""

import re
from collections.abc import Collection, Iterator, Mapping

from slipway.bootstrapper.assembly.paths import describe
from slipway.bootstrapper.delivery.infrastructure import infrastructures
from slipway.bootstrapper.documents.engines import engine_doubt
from slipway.bootstrapper.documents.feature_names import feature_names
from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.bootstrapper.engines.kubernetes_version import KubernetesVersionError, parse_kubernetes_version
from slipway.bootstrapper.engines.table import installed_engines
from slipway.bootstrapper.lowering.optional_fields import EXTENSION
from slipway.contract.errors import Violation
from slipway.contract.source_position import did_you_mean

_ARCHITECTURES = ("386", "amd64", "arm", "arm64", "ppc64le", "riscv64", "s390x")
"""By the names that Kubernetes has for them: those of Go."""
_OTHER_NAMES = {"x86_64": "amd64", "x86-64": "amd64", "x64": "amd64", "aarch64": "arm64", "i386": "386", "x86": "386"}
_CRYPT = re.compile(r"[$_!*].*|[./0-9A-Za-z]{13}|\{\{.*", re.DOTALL)
"""What crypt(5) knows, or locks; and what a template makes it of. A spec of ours is refused for more than this."""


def doubts(question: MachineQuestion, served: Mapping[str, Collection[str]]) -> Iterator[Violation]:
    """Give the doubts about a machine.

    Args:
        question: the machine.
        served: names of the provisioners that come with Slipway, each with its formats.
    """
    choice = question.subject.spec.provisioner
    if choice.name and choice.name not in served:
        meant = _meant(choice.name, served, "one of your own has to be registered where this is rendered")
        yield Violation("spec.provisioner.name", f"no provisioner of this name comes with Slipway; {meant}")
    formats = served.get(choice.name, []) if choice.name else [entry for all_ in served.values() for entry in all_]
    if choice.format and formats and choice.format not in formats:
        whose = "this provisioner" if choice.name else "a provisioner that comes with Slipway"
        meant = _meant(choice.format, formats, f"there are {', '.join(formats)}")
        yield Violation("spec.provisioner.format", f"is no format of {whose}; {meant}")
    engine = engine_doubt(question)
    if engine:
        yield Violation(*engine)
    yield from _optional(question)
    yield from _version(question)
    yield from _target(question)
    yield from _passwords(question)


def _optional(question: MachineQuestion) -> Iterator[Violation]:
    known = feature_names()
    for index, name in enumerate(question.subject.spec.optional_features):
        if name not in known and not name.startswith(EXTENSION):
            meant = _meant(name, known, "docs/reference/features.md has them all")
            yield Violation(f"spec.optionalFeatures[{index}]", f"is no feature that this Slipway knows; {meant}")


def _meant(word: str, known: Collection[str], otherwise: str) -> str:
    proposal = did_you_mean(word, known)
    return f"did you mean {proposal}?" if proposal else otherwise


def _version(question: MachineQuestion) -> Iterator[Violation]:
    machine, cluster = question.subject.machine, question.subject.cluster
    try:
        version = parse_kubernetes_version(machine.kubernetes_version or cluster.kubernetes_version)
    except KubernetesVersionError:
        return
    major, minor = max(engine.newest for engine in installed_engines())
    if version.series > (major, minor):
        newest = f"v{major}.{minor}"
        message = f"is newer than {newest}, the newest that this Slipway knows: check it, or try a newer Slipway"
        yield Violation("machine.kubernetesVersion", message)


def _target(question: MachineQuestion) -> Iterator[Violation]:
    own, machines = question.subject.spec.target, question.subject.machine.target
    name = own.infrastructure or machines.infrastructure
    if name and name not in infrastructures():
        meant = _meant(name, infrastructures(), f"known are {', '.join(sorted(infrastructures()))}")
        message = f"is no infrastructure that this Slipway knows, so what it takes at most is not known; {meant}"
        yield Violation(f"{'spec.' if own.infrastructure else ''}target.infrastructure", message)
    name = own.architecture or machines.architecture
    if name and name not in _ARCHITECTURES:
        known = _OTHER_NAMES.get(name.casefold())
        meant = f"did you mean {known}?" if known else _meant(name, _ARCHITECTURES, "amd64 and arm64 are common")
        message = f"is no name that Kubernetes has for an architecture; {meant}"
        yield Violation(f"{'spec.' if own.architecture else ''}target.architecture", message)


def _passwords(question: MachineQuestion) -> Iterator[Violation]:
    for index, user in enumerate(question.subject.spec.os.users):
        value = user.password_hash.value
        if value and not _CRYPT.fullmatch(value):
            place = describe(user.origin) if user.origin.document else f"spec.os.users[{index}].passwordHash"
            message = (
                "the password hash is not in crypt form, so no login is possible with it; mkpasswd makes a valid hash"
            )
            yield Violation(place, message)
