"""What is refused of a machine whatever provisioner renders it: flags, labels, swap and what else an engine refuses.

It is the compilation of explain, with placeholders in place of secrets. No provisioner is asked, and what a format does
not support is no part of it: the formats say only whether an engine makes the machine's plan, or its operating system
becomes a node by itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from slipway.bootstrapper.assembly.subject import CheckedSubject
from slipway.bootstrapper.compliance.application import TALOS
from slipway.bootstrapper.documents.feature_names import feature_names
from slipway.bootstrapper.preparer import Preparer
from slipway.bootstrapper.problems.conversion import violation_of
from slipway.bootstrapper.problems.places import as_written
from slipway.bootstrapper.problems.problem import Problem, in_order
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.bootstrapper.target import stated
from slipway.bootstrapper.trials import Trials
from slipway.contract.errors import SlipwayError, Violation
from slipway.contract.feature_uses import uses
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb


@dataclass(frozen=True, slots=True)
class KubernetesRefusals:
    """What is refused of a machine's Kubernetes part, and of what its kubelet needs of the system.

    Attributes:
        certain: refused with every format that the machine can have.
        likely: refused with some of them, while the machine names no provisioner.
        others: names of the provisioners that accept what is `likely` refused.
    """

    certain: Sequence[Violation] = ()
    likely: Sequence[Violation] = ()
    others: Sequence[str] = ()


async def kubernetes_refusals(preparer: Preparer, subject: CheckedSubject) -> KubernetesRefusals:
    """Return what is refused of a checked machine; nothing is refused where its engine is not installed."""
    kubernetes, name = subject.spec.kubernetes, subject.spec.provisioner.name
    if kubernetes.engine and kubernetes.engine not in preparer.compiler.engines.names:
        return KubernetesRefusals()
    trials, candidates = Trials(preparer, subject), _candidates(preparer, subject)
    features = sorted({*feature_names(), *(use.id for use in uses(subject.spec))})
    plans = [candidate for candidate in candidates if candidate.takes_plan]
    found: dict[str, Problem] = {}
    for candidate in plans or candidates[:1]:
        for problem in await _refused(trials, _with_features(candidate, features)) or ():
            found.setdefault(problem.path, problem)
    if not found:
        return KubernetesRefusals()
    is_known = not name or any(candidate.name == name for candidate in candidates)
    accepted: dict[str, list[str]] = {path: [] for path in found}
    for candidate in candidates:
        refused = await _refused(trials, candidate if is_known else _with_features(candidate, features))
        if refused is not None:
            for path in found.keys() - {problem.path for problem in refused}:
                accepted[path].append(candidate.name)
    return KubernetesRefusals(
        certain=_violations(subject, [problem for path, problem in found.items() if not accepted[path]]),
        likely=_violations(subject, [problem for path, problem in found.items() if accepted[path]]),
        others=sorted({name for names in accepted.values() for name in names}),
    )


def _candidates(preparer: Preparer, subject: CheckedSubject) -> list[Candidate]:
    """Return the formats that a machine can have, one of each family of operating systems of those that take a plan.

    A provisioner that is not known may take a plan or the intent.
    """
    choice, options = subject.spec.provisioner, preparer.options(subject)
    options = [option for option in options if option.name == choice.name] or options
    options = [option for option in options if option.format.format == choice.format] or options
    plans = {tuple(option.format.os_families): option for option in reversed(options) if option.takes_plan}
    intents = [option for option in options if not option.takes_plan]
    if subject.spec.kubernetes.HasField("engine"):
        intents = []
    elif intents and stated(subject.spec.target, subject.machine.target).distribution == TALOS:
        plans = {}
    return [*plans.values(), *intents]


def _with_features(candidate: Candidate, features: Iterable[str]) -> Candidate:
    """Return a candidate whose format supports these features; with all, only an engine or a program refuses one."""
    info = provisionerpb.FormatInfo()
    info.CopyFrom(candidate.format)
    info.ClearField("features")
    info.features.extend(provisionerpb.FeatureSupport(id=name) for name in features)
    return replace(candidate, format=info)


async def _refused(trials: Trials, candidate: Candidate) -> Sequence[Problem] | None:
    """Return what is refused with a candidate; None where the machine cannot have it at all.

    It cannot where the machine as a whole is refused, such as for its operating system, or where only the operator's
    server has what it needs, such as an artifact.
    """
    try:
        refusals = (await trials.prepared(candidate)).compiled.refusals
    except SlipwayError:
        return None
    return None if any(problem.of_machine for problem in refusals) else refusals


def _violations(subject: CheckedSubject, problems: Sequence[Problem]) -> list[Violation]:
    imported = bool(subject.spec.imported.kind)
    placed = as_written(in_order(problems), subject.layers)
    return [violation_of(problem, imported=imported) for problem in placed]
