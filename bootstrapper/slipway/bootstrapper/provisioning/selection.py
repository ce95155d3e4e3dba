"""Chooses who renders: by the spec's pin, or the only one that is allowed and can.

A bundle carries the keys of a cluster. So only names on the operator's list get one, a spec's pin is never widened, and
where two could serve nobody guesses.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from slipway.bootstrapper.delivery.infrastructure import infrastructure
from slipway.contract.errors import (
    AmbiguousProvisioner,
    NoReadyProvisioner,
    ProvisionerNotAllowed,
    ProvisionerNotFound,
    SlipwayError,
    UnsupportedFormat,
    UnsupportedTarget,
    Violation,
)
from slipway.contract.source_position import did_you_mean
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1 import spec_pb2 as specpb

DOCKER = "docker"
IGNITION = "ignition"
_NAME, _VERSION, _FORMAT = (f"spec.provisioner.{field}" for field in ("name", "version", "format"))
_MOST_NAMED = 12
LEGACY_IGNITION = "ignition/2.3.0"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One format of one version of a provisioner, and the instances that serve it."""

    name: str
    version: str
    format: provisionerpb.FormatInfo
    instances: tuple[registrypb.ProvisionerInstance, ...]

    @property
    def takes_plan(self) -> bool:
        """Whether it takes a plan; else it takes the intent."""
        return self.format.kubernetes_input == provisionerpb.KUBERNETES_INPUT_PLAN


@dataclass(frozen=True, slots=True)
class Wish:
    """What the spec, the import and the target say about the choice."""

    name: str = ""
    version: str = ""
    format: str = ""
    secret_format: str = ""
    os_family: clusterpb.OsFamily.ValueType = clusterpb.OS_FAMILY_UNSPECIFIED
    infrastructure: str = ""
    plan: bool = False

    @classmethod
    def of(cls, spec: specpb.MachineBootstrapSpec, target: clusterpb.Target, *, plan: bool = False) -> "Wish":
        """Read the wish of a spec: the pin; for an imported spec without one, the format that it was written for.

        With `plan` the caller brings one, so that no format that takes intents is chosen unless it is pinned.
        """
        choice = spec.provisioner
        pinned = bool(choice.name or choice.format)
        imported = "" if pinned else spec.imported.format
        family = target.os_family
        if imported and not family:
            # A KubeadmConfig that says nothing of Windows is for Linux, as it always was.
            family = clusterpb.OS_FAMILY_LINUX
        return cls(
            choice.name, choice.version, choice.format, imported, family, target.infrastructure, plan and not pinned
        )


def choose(
    instances: Sequence[registrypb.ProvisionerInstance], wish: Wish, *, allowed: Collection[str] | None
) -> Candidate:
    """Give the candidate for a wish. `allowed` None means that every name is.

    Raises:
        ProvisionerNotAllowed: the pinned name is not on the list.
        ProvisionerNotFound: nobody of that name (and version) is known.
        NoReadyProvisioner: it is known, but not ready; worth a repeat.
        UnsupportedFormat: it does not serve the format.
        AmbiguousProvisioner: several could serve and the spec pins none.
    """
    if wish.name and allowed is not None and wish.name not in allowed:
        raise ProvisionerNotAllowed(
            f"provisioner {wish.name} is not on the operator's list",
            violations=[Violation(_NAME, "is not on the operator's list", remedy=_instead(wish.name, allowed))],
            metadata={"provisioner": wish.name},
        )
    named = [one for one in instances if not wish.name or one.info.name == wish.name]
    named = [one for one in named if allowed is None or one.info.name in allowed]
    versioned = [one for one in named if not wish.version or one.info.implementation_version == wish.version]
    ready = [one for one in versioned if one.state == registrypb.INSTANCE_STATE_READY]
    if not ready:
        raise _nobody(wish, instances, versioned, allowed)
    found = {name: _best(name, ready, wish) for name in sorted({one.info.name for one in ready})}
    candidates = [candidate for candidate in found.values() if candidate is not None]
    if not candidates:
        _check_family(ready, wish, instances, allowed)
        served = sorted({info.format for one in ready for info in one.info.formats})
        message = f"no allowed provisioner serves {_wanted(wish)}; served: {', '.join(served)}"
        why = f"is not served by {f'provisioner {wish.name}' if wish.name else 'any allowed provisioner'}"
        raise UnsupportedFormat(
            message,
            violations=[Violation(_FORMAT, why, remedy=_instead(wish.format, served))] if wish.format else (),
            metadata={"served": ",".join(served)},
        )
    if len(candidates) > 1:
        names = ", ".join(candidate.name for candidate in candidates)
        raise AmbiguousProvisioner(
            f"several provisioners can serve this machine ({names}): pin one in spec.provisioner.name",
            metadata={"candidates": names.replace(" ", "")},
        )
    return candidates[0]


def all_candidates(
    instances: Sequence[registrypb.ProvisionerInstance], *, allowed: Collection[str] | None
) -> list[Candidate]:
    """Give every format of the newest ready version of every allowed name, for explain; sorted by name."""
    ready = [
        one
        for one in instances
        if one.state == registrypb.INSTANCE_STATE_READY and (allowed is None or one.info.name in allowed)
    ]
    found = []
    for name in sorted({one.info.name for one in ready}):
        group = _newest([one for one in ready if one.info.name == name])
        found += [_candidate(info, group) for info in group[0].info.formats]
    return found


def reaches(info: provisionerpb.FormatInfo, said: clusterpb.Target) -> bool:
    """Tell whether a machine of such a target can have a format at all."""
    if said.os_family and said.os_family not in info.os_families:
        return False
    if info.verbatim and not infrastructure(said).verbatim:
        return False
    return said.infrastructure != DOCKER or info.secret_format != IGNITION or info.format == LEGACY_IGNITION


def _best(name: str, ready: Sequence[registrypb.ProvisionerInstance], wish: Wish) -> Candidate | None:
    group = _newest([one for one in ready if one.info.name == name])
    suitable = [info for info in group[0].info.formats if _serves(info, wish)]
    if not suitable:
        return None
    if wish.infrastructure == DOCKER and not wish.format:
        # Cluster API's docker machines parse Ignition themselves, and know the old specification only.
        suitable.sort(key=lambda info: info.format != LEGACY_IGNITION)
    return _candidate(suitable[0], group)


def _serves(info: provisionerpb.FormatInfo, wish: Wish) -> bool:
    if wish.format and info.format != wish.format:
        return False
    if wish.secret_format and info.secret_format != wish.secret_format:
        return False
    if wish.plan and info.kubernetes_input != provisionerpb.KUBERNETES_INPUT_PLAN:
        return False
    return wish.os_family == clusterpb.OS_FAMILY_UNSPECIFIED or wish.os_family in info.os_families


def _candidate(info: provisionerpb.FormatInfo, group: Sequence[registrypb.ProvisionerInstance]) -> Candidate:
    return Candidate(group[0].info.name, group[0].info.implementation_version, info, tuple(group))


def _newest(group: Sequence[registrypb.ProvisionerInstance]) -> list[registrypb.ProvisionerInstance]:
    newest = max((one.info.implementation_version for one in group), key=version_order)
    return [one for one in group if one.info.implementation_version == newest]


def version_order(version: str) -> tuple[list[int], bool, str]:
    """Give a key that orders semantic versions; a pre-release comes before its release."""
    core, _, pre = version.lstrip("v").partition("+")[0].partition("-")
    numbers = [int(part) if part.isdecimal() else 0 for part in core.split(".")]
    return numbers, not pre, pre


def _check_family(
    ready: Sequence[registrypb.ProvisionerInstance],
    wish: Wish,
    instances: Sequence[registrypb.ProvisionerInstance],
    allowed: Collection[str] | None,
) -> None:
    """Refuse a machine whose operating system is the only thing that nobody of the wished name serves.

    Raises:
        UnsupportedTarget: it is.
    """
    anywhere = replace(wish, os_family=clusterpb.OS_FAMILY_UNSPECIFIED)
    families = {
        family for one in ready for info in one.info.formats if _serves(info, anywhere) for family in info.os_families
    }
    if wish.os_family == clusterpb.OS_FAMILY_UNSPECIFIED or not families:
        return
    names = ", ".join(sorted(clusterpb.OsFamily.Name(one).removeprefix("OS_FAMILY_").lower() for one in families))
    whose = f"provisioner {wish.name}" if wish.name else "every allowed provisioner"
    others = {
        one.name
        for one in all_candidates(instances, allowed=allowed)
        if one.name != wish.name and wish.os_family in one.format.os_families
    }
    remedy = f"choose {_or(others)} for this machine" if others else f"choose a {names} machine"
    raise UnsupportedTarget(
        f"{whose} is for {names} machines",
        violations=[Violation("target.osFamily", f"{whose} is for {names} machines", "target.os_family", remedy)],
        metadata={"supported": names.replace(" ", "")},
    )


def _wanted(wish: Wish) -> str:
    if wish.format:
        return f"format {wish.format}"
    if wish.secret_format:
        return f"a format that infrastructures know as {wish.secret_format}, for this operating system"
    return "this operating system"


def _nobody(
    wish: Wish,
    instances: Sequence[registrypb.ProvisionerInstance],
    versioned: Sequence[registrypb.ProvisionerInstance],
    allowed: Collection[str] | None,
) -> SlipwayError:
    """Say for each instance why it was not chosen."""
    reasons = []
    for one in instances:
        name, version = one.info.name, one.info.implementation_version
        if wish.name and name != wish.name:
            why = "has another name"
        elif allowed is not None and name not in allowed:
            why = "is not on the operator's list"
        elif wish.version and version != wish.version:
            why = "has another version"
        else:
            why = registrypb.InstanceState.Name(one.state).removeprefix("INSTANCE_STATE_").lower()
        reasons.append(f"{name} {version} at {one.endpoint}: {why}")
    detail = "; ".join(reasons[:10]) or "no provisioner is registered"
    wanted = f"provisioner {wish.name}" if wish.name else "a provisioner"
    if versioned or not instances:
        return NoReadyProvisioner(f"{wanted} is not ready ({detail})", retry_after=2.0)
    return ProvisionerNotFound(
        f"{wanted} is not known ({detail})",
        violations=_unknown(wish, instances, allowed),
        metadata={"provisioner": wish.name, "registered": ",".join(sorted({one.info.name for one in instances}))},
    )


def _unknown(
    wish: Wish, instances: Sequence[registrypb.ProvisionerInstance], allowed: Collection[str] | None
) -> list[Violation]:
    """Name what of the spec's pin nobody has, and what there is in its place."""
    usable = [one for one in instances if allowed is None or one.info.name in allowed]
    versions = {one.info.implementation_version for one in usable if one.info.name == wish.name}
    if wish.name and not versions:
        names = {one.info.name for one in usable}
        return [Violation(_NAME, "is the name of no provisioner that is registered", remedy=_instead(wish.name, names))]
    if wish.version:
        known = versions or {one.info.implementation_version for one in usable}
        remedy = f"{_instead(wish.version, known)}, or leave it out for the newest"
        return [Violation(_VERSION, "is not a registered version", remedy=remedy)]
    return []


def _instead(word: str, known: Collection[str]) -> str:
    """Say what may stand for a word that nobody knows: what was meant, or what there is."""
    meant = did_you_mean(word, known)
    if meant:
        return f"did you mean {meant}?"
    return f"choose {_or(known)}" if known else "start a provisioner of that name"


def _or(names: Collection[str]) -> str:
    """Name what there is, as far as a sentence can hold it."""
    *first, last = sorted(names)[:_MOST_NAMED]
    return f"{', '.join(first)} or {last}" if first else last
