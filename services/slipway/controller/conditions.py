"""The conditions of a SlipwayConfig: their types, and what each is in a state of the config."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from slipway.controller.reasons import Reason
from slipway.kubernetes_api.resources import Json

LONGEST_MESSAGE = 4096


class Type(StrEnum):
    """Types of conditions."""

    READY = "Ready"
    DATA_SECRET = "DataSecretAvailable"  # noqa: S105  # a condition's name
    CERTIFICATES = "CertificatesAvailable"
    PROVISIONER = "ProvisionerAvailable"
    DIRECTORY_ACCOUNT = "DirectoryAccountReady"
    PAUSED = "Paused"
    BOOTSTRAP = "BootstrapSucceeded"
    REPORT_ADDRESS = "ReportAddressIncluded"


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition, without its times."""

    type: Type
    status: str
    reason: str
    message: str = ""


def ready(*, paused_known: bool = True) -> list[Condition]:
    """Give the conditions of a config whose user data is stored."""
    found = [
        Condition(type_, "True", Reason.AVAILABLE)
        for type_ in (Type.READY, Type.DATA_SECRET, Type.CERTIFICATES, Type.PROVISIONER)
    ]
    return [*found, Condition(Type.PAUSED, "False", Reason.NOT_PAUSED)] if paused_known else found


def halted(reason: str, message: str, *, type_: Type, known: Iterable[Type] = ()) -> list[Condition]:
    """Give the conditions of a config that cannot go on.

    Args:
        reason: the reason, ours or the contract's.
        message: why.
        type_: the condition that it is about, besides Ready.
        known: conditions that are known to hold.
    """
    message = message if len(message) <= LONGEST_MESSAGE else message[: LONGEST_MESSAGE - 3] + "..."
    found = [Condition(Type.READY, "False", reason, message)]
    holding = set(known)
    for each in (Type.DATA_SECRET, Type.CERTIFICATES, Type.PROVISIONER):
        if each is type_ or each is Type.DATA_SECRET:
            found.append(Condition(each, "False", reason, message))
        elif each in holding:
            found.append(Condition(each, "True", Reason.AVAILABLE))
        else:
            found.append(Condition(each, "Unknown", Reason.NOT_KNOWN))
    return [*found, Condition(Type.PAUSED, "False", Reason.NOT_PAUSED)]


def paused(message: str, before: Sequence[Json]) -> list[Condition]:
    """Give the conditions of a paused config: what was said before stays."""
    kept = [
        Condition(Type(one["type"]), one["status"], one["reason"], one.get("message", ""))
        for one in before
        if one["type"] in {type_.value for type_ in Type} and one["type"] != Type.PAUSED
    ]
    return [*kept, Condition(Type.PAUSED, "True", Reason.PAUSED, message)]


def written(conditions: Iterable[Condition], before: Sequence[Json], *, generation: int, now: str) -> list[Json]:
    """Give conditions as objects have them; the time of one that did not change its status stays."""
    earlier = {one["type"]: one for one in before}
    found = []
    for one in conditions:
        old = earlier.get(one.type)
        unchanged = old is not None and old["status"] == one.status
        found.append(
            {
                "type": one.type.value,
                "status": one.status,
                "reason": str(one.reason),
                "message": one.message,
                "observedGeneration": generation,
                "lastTransitionTime": old["lastTransitionTime"] if old is not None and unchanged else now,
            }
        )
    return found
