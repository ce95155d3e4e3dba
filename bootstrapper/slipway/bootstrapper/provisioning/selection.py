"""Chooses who renders: by the spec's pin, or the only one that is allowed and can.

A bundle carries the keys of a cluster. So only names on the operator's list get one, a spec's pin is never widened, and
where two could serve, nothing is guessed.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from slipway.bootstrapper.delivery.infrastructure import infrastructure
from slipway.bootstrapper.provisioning.selection_errors import (
    FORMAT_FIELD,
    NAME_FIELD,
    any_of,
    instead,
    no_allowed_version,
    none_ready,
    wanted_format,
)
from slipway.bootstrapper.provisioning.versions import VersionRules, version_order
from slipway.bootstrapper.provisioning.wish import Wish
from slipway.contract.errors import (
    AmbiguousProvisioner,
    ProvisionerNotAllowed,
    UnsupportedFormat,
    UnsupportedTarget,
    Violation,
)
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb

_ANY_VERSION = VersionRules()


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


def choose(
    instances: Sequence[registrypb.ProvisionerInstance],
    wish: Wish,
    *,
    allowed: Collection[str] | None,
    versions: VersionRules = _ANY_VERSION,
) -> Candidate:
    """Give the candidate for a wish. `allowed` None means that every name is.

    Raises:
        ProvisionerNotAllowed: the pinned name is not on the list, or the operator allows no version that could serve.
        ProvisionerNotFound: none of that name (and version) is known.
        NoReadyProvisioner: it is known, but not ready; worth a repeat.
        UnsupportedFormat: it does not serve the format.
        AmbiguousProvisioner: several could serve and the spec pins none.
    """
    if wish.name and allowed is not None and wish.name not in allowed:
        raise ProvisionerNotAllowed(
            f"provisioner {wish.name} is not on the operator's list",
            violations=[Violation(NAME_FIELD, "is not on the operator's list", remedy=instead(wish.name, allowed))],
            metadata={"provisioner": wish.name},
        )
    named = [instance for instance in instances if not wish.name or instance.info.name == wish.name]
    named = [instance for instance in named if allowed is None or instance.info.name in allowed]
    versioned = [
        instance for instance in named if not wish.version or instance.info.implementation_version == wish.version
    ]
    permitted = [instance for instance in versioned if not versions.refusal(instance.info)]
    if versioned and not permitted:
        raise no_allowed_version(wish, versioned, versions)
    ready = [instance for instance in permitted if instance.state == registrypb.INSTANCE_STATE_READY]
    if not ready:
        raise none_ready(wish, instances, versioned, allowed, versions)
    best = [_best(name, ready, wish) for name in sorted({instance.info.name for instance in ready})]
    candidates = [candidate for candidate in best if candidate is not None]
    if not candidates:
        _check_family(ready, wish, all_candidates(instances, allowed=allowed, versions=versions))
        served = sorted({info.format for instance in ready for info in instance.info.formats})
        message = f"no allowed provisioner serves {wanted_format(wish)}; served: {', '.join(served)}"
        why = f"is not served by {f'provisioner {wish.name}' if wish.name else 'any allowed provisioner'}"
        raise UnsupportedFormat(
            message,
            violations=[Violation(FORMAT_FIELD, why, remedy=instead(wish.format, served))] if wish.format else (),
            metadata={"served": ",".join(served)},
        )
    if len(candidates) > 1:
        names = ", ".join(candidate.name for candidate in candidates)
        raise AmbiguousProvisioner(
            f"several provisioners can serve this machine ({names}): set {NAME_FIELD} to one of them",
            metadata={"candidates": names.replace(" ", "")},
        )
    return candidates[0]


def all_candidates(
    instances: Sequence[registrypb.ProvisionerInstance],
    *,
    allowed: Collection[str] | None,
    versions: VersionRules = _ANY_VERSION,
) -> list[Candidate]:
    """Give every format of the newest allowed and ready version of every allowed name; sorted by name."""
    ready = [
        instance
        for instance in instances
        if instance.state == registrypb.INSTANCE_STATE_READY
        and (allowed is None or instance.info.name in allowed)
        and not versions.refusal(instance.info)
    ]
    candidates = []
    for name in sorted({instance.info.name for instance in ready}):
        group = _newest([instance for instance in ready if instance.info.name == name])
        candidates += [_candidate(info, group) for info in group[0].info.formats]
    return candidates


def reaches(info: provisionerpb.FormatInfo, target: clusterpb.Target) -> bool:
    """Return whether a machine of such a target can have a format at all."""
    if target.os_family and target.os_family not in info.os_families:
        return False
    if info.verbatim and not infrastructure(target).verbatim:
        return False
    return infrastructure(target).reads(info)


def _best(name: str, ready: Sequence[registrypb.ProvisionerInstance], wish: Wish) -> Candidate | None:
    group = _newest([instance for instance in ready if instance.info.name == name])
    suitable = [info for info in group[0].info.formats if _serves(info, wish)]
    if not suitable:
        return None
    if not wish.format:
        row = infrastructure(clusterpb.Target(infrastructure=wish.infrastructure))
        suitable.sort(key=lambda info: not row.reads(info))
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
    newest = max((instance.info.implementation_version for instance in group), key=version_order)
    return [instance for instance in group if instance.info.implementation_version == newest]


def _check_family(
    ready: Sequence[registrypb.ProvisionerInstance],
    wish: Wish,
    candidates: Sequence[Candidate],
) -> None:
    """Refuse a machine whose operating system is the only thing that no provisioner of the wished name serves.

    Raises:
        UnsupportedTarget: it is.
    """
    anywhere = replace(wish, os_family=clusterpb.OS_FAMILY_UNSPECIFIED)
    families = {
        family
        for instance in ready
        for info in instance.info.formats
        if _serves(info, anywhere)
        for family in info.os_families
    }
    if wish.os_family == clusterpb.OS_FAMILY_UNSPECIFIED or not families:
        return
    names = ", ".join(sorted(clusterpb.OsFamily.Name(family).removeprefix("OS_FAMILY_").lower() for family in families))
    whose = f"provisioner {wish.name}" if wish.name else "every allowed provisioner"
    others = {
        candidate.name
        for candidate in candidates
        if candidate.name != wish.name and wish.os_family in candidate.format.os_families
    }
    remedy = f"choose {any_of(others)} for this machine" if others else f"choose a {names} machine"
    raise UnsupportedTarget(
        f"{whose} is for {names} machines",
        violations=[Violation("target.osFamily", f"{whose} is for {names} machines", "target.os_family", remedy)],
        metadata={"supported": names.replace(" ", "")},
    )
