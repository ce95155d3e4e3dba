"""Errors of a selection: for every instance, why it was not chosen, and what a spec may ask for in its place."""

from collections.abc import Collection, Sequence

from slipway.bootstrapper.provisioning.versions import VersionRules
from slipway.bootstrapper.provisioning.wish import Wish
from slipway.contract.errors import (
    NoReadyProvisioner,
    ProvisionerNotAllowed,
    ProvisionerNotFound,
    SlipwayError,
    Violation,
)
from slipway.contract.source_position import did_you_mean
from slipway.contract.yaml_names import enum_word
from slipway.v1alpha1 import registry_service_pb2 as registrypb

NAME_FIELD, VERSION_FIELD, FORMAT_FIELD = (f"spec.provisioner.{field}" for field in ("name", "version", "format"))
_MOST_NAMED = 12


def wanted_format(wish: Wish) -> str:
    """Name the format that a selection is for, as precisely as the request does."""
    if wish.format:
        return f"format {wish.format}"
    if wish.secret_format:
        return f"a format that infrastructures know as {wish.secret_format}, for this operating system"
    return "this operating system"


def none_ready(
    wish: Wish,
    instances: Sequence[registrypb.ProvisionerInstance],
    versioned: Sequence[registrypb.ProvisionerInstance],
    allowed: Collection[str] | None,
    versions: VersionRules,
) -> SlipwayError:
    """Say why no instance was chosen, of each version once: where they listen is not the caller's business."""
    reasons: dict[str, None] = {}
    for instance in instances:
        name, version = instance.info.name, instance.info.implementation_version
        if wish.name and name != wish.name:
            continue
        if allowed is not None and name not in allowed:
            why = "is not on the operator's list"
        elif wish.version and version != wish.version:
            why = "has another version"
        elif refusal := versions.refusal(instance.info):
            why = refusal
        else:
            why = enum_word(registrypb.InstanceState.DESCRIPTOR, instance.state)
        reasons[f"{name} {version}: {why}"] = None
    names = list(dict.fromkeys(f"{entry.info.name} {entry.info.implementation_version}" for entry in instances))
    registered = f"registered: {', '.join(names[:_MOST_NAMED])}" if names else "no provisioner is registered"
    detail = "; ".join(list(reasons)[:_MOST_NAMED]) or registered
    wanted = f"provisioner {wish.name}" if wish.name else "a provisioner"
    if versioned or not instances:
        return NoReadyProvisioner(f"{wanted} is not ready ({detail})", retry_after=2.0)
    return ProvisionerNotFound(
        f"{wanted} is not known ({detail})",
        violations=_unknown(wish, instances, allowed),
        metadata={
            "provisioner": wish.name,
            "registered": ",".join(sorted({instance.info.name for instance in instances})),
        },
    )


def no_allowed_version(
    wish: Wish, versioned: Sequence[registrypb.ProvisionerInstance], versions: VersionRules
) -> SlipwayError:
    """Refuse a wish for which there are provisioners, but none in a version that the operator allows."""
    refused = {
        (instance.info.name, instance.info.implementation_version): versions.refusal(instance.info)
        for instance in versioned
    }
    detail = "; ".join(f"{name} {version}: {why}" for (name, version), why in sorted(refused.items())[:_MOST_NAMED])
    path, remedy = NAME_FIELD, "ask the operator to change --provisioner-versions, or start an allowed version"
    if wish.version and wish.name:
        path, remedy = VERSION_FIELD, versions.remedy(wish.name)
    return ProvisionerNotAllowed(
        f"no version that the operator allows is registered ({detail})",
        violations=[Violation(path, f"has no version that the operator allows ({detail})", remedy=remedy)],
        metadata={"provisioner": wish.name} if wish.name else {},
    )


def _unknown(
    wish: Wish, instances: Sequence[registrypb.ProvisionerInstance], allowed: Collection[str] | None
) -> list[Violation]:
    """Name the part of the spec's pin that no provisioner has, and what there is in its place."""
    usable = [instance for instance in instances if allowed is None or instance.info.name in allowed]
    registered = {instance.info.implementation_version for instance in usable if instance.info.name == wish.name}
    if wish.name and not registered:
        names = {instance.info.name for instance in usable}
        return [
            Violation(NAME_FIELD, "is the name of no provisioner that is registered", remedy=instead(wish.name, names))
        ]
    if wish.version:
        known = registered or {instance.info.implementation_version for instance in usable}
        remedy = f"{instead(wish.version, known)}, or leave it out for the newest"
        return [Violation(VERSION_FIELD, "is not a registered version", remedy=remedy)]
    return []


def instead(word: str, known: Collection[str]) -> str:
    """Return what may replace an unknown word: what was meant, or what there is."""
    meant = did_you_mean(word, known)
    if meant:
        return f"did you mean {meant}?"
    return f"choose {any_of(known)}" if known else "start a provisioner of that name"


def any_of(names: Collection[str]) -> str:
    """Name what there is, as far as a sentence can hold it."""
    *first, last = sorted(names)[:_MOST_NAMED]
    return f"{', '.join(first)} or {last}" if first else last
