"""What is refused of a machine whatever provisioner renders it: flags, labels, swap and what else an engine refuses.

It is the compilation of explain, with placeholders in place of secrets. What a format does not support is not part of
it: the formats show only whether an engine makes the machine's plan, or its operating system becomes a node by itself.
Where something is refused, the other formats that the machine can have are tried, so that only one that accepts it is
named.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from slipway.bootstrapper.assembly.subject import CheckedSubject
from slipway.bootstrapper.compliance.application import TALOS
from slipway.bootstrapper.documents.feature_names import feature_names
from slipway.bootstrapper.engines.request import VERSION_PATH
from slipway.bootstrapper.judgement import judge
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

_VERSIONS = (VERSION_PATH, "intent.cluster.kubernetes_version")
"""Problems with these are refused with every format, though they concern the machine as a whole."""


@dataclass(frozen=True, slots=True)
class KubernetesRefusals:
    """What is refused of a machine's Kubernetes part, and of what its kubelet needs of the system.

    Attributes:
        certain: refused with every format that the machine can have.
        likely: refused with some of them, while the machine names no provisioner.
        others: names of the provisioners that accept what is `likely` refused; empty if the named one is not known.
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
    problems: dict[str, Problem] = {}
    for candidate in plans or candidates[:1]:
        for problem in _possible(await _compiled(trials, _with_features(candidate, features))) or ():
            problems.setdefault(problem.path, problem)
    if not problems:
        return KubernetesRefusals()
    is_known = not name or any(candidate.name == name for candidate in candidates)
    accepted: dict[str, list[str]] = {path: [] for path in problems}
    for candidate in candidates:
        if is_known:
            refused = _possible(await _tried(preparer, trials, candidate))
        else:
            refused = _possible(await _compiled(trials, _with_features(candidate, features)))
        if refused is not None:
            for path in problems:
                if not any(_is_at(problem.path, path) for problem in refused):
                    accepted[path].append(candidate.name)
    return KubernetesRefusals(
        certain=_violations(subject, [problem for path, problem in problems.items() if not accepted[path]]),
        likely=_violations(subject, [problem for path, problem in problems.items() if accepted[path]]),
        others=sorted({name for names in accepted.values() for name in names}) if is_known else (),
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


async def _compiled(trials: Trials, candidate: Candidate) -> Sequence[Problem] | None:
    """Return what compilation refuses with a candidate; None where the machine cannot have it.

    That is so where only the operator's server has what it needs, such as an artifact.
    """
    try:
        return (await trials.prepared(candidate)).compiled.refusals
    except SlipwayError:
        return None


async def _tried(preparer: Preparer, trials: Trials, candidate: Candidate) -> Sequence[Problem] | None:
    """Return what compilation and Render refuse with a candidate; None where the machine cannot have it."""
    try:
        return (await judge(preparer, await trials.prepared(candidate))).refusals
    except SlipwayError:
        return None


def _possible(problems: Sequence[Problem] | None) -> Sequence[Problem] | None:
    """Return the problems of a candidate; None where the machine cannot have it, such as for its operating system."""
    if any(problem.of_machine and problem.path not in _VERSIONS for problem in problems or ()):
        return None
    return problems


def _is_at(path: str, other: str) -> bool:
    """Return whether a field is another one, within it, or around it."""
    return f"{path}.".startswith(f"{other}.") or f"{other}.".startswith(f"{path}.")


def _violations(subject: CheckedSubject, problems: Sequence[Problem]) -> list[Violation]:
    imported = bool(subject.spec.imported.kind)
    located = as_written(in_order(problems), subject.layers)
    return [violation_of(problem, imported=imported) for problem in located]
