"""Which controls a machine has to meet: those of its profiles and its role, without the ones that are waived."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from slipway.bootstrapper.compliance.profile import Control
from slipway.bootstrapper.compliance.profile_table import profile_ids, profiles
from slipway.contract.errors import SpecInvalid, Violation
from slipway.contract.source_position import did_you_mean
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb


@dataclass(frozen=True, slots=True)
class Selection:
    """The controls of a machine by name, "PROFILE/ID".

    Attributes:
        met: those that it has to meet.
        waived: those that it need not meet.
    """

    met: Mapping[str, Control]
    waived: Mapping[str, Control]


def select(compliance: specpb.Compliance, role: clusterpb.Role.ValueType) -> Selection:
    """Select the controls of a machine; what is not known is left out, see violations()."""
    name = "worker" if role == clusterpb.ROLE_WORKER else "control-plane"
    chosen = {key: control for key, control in _controls(compliance).items() if name in control.roles}
    waivers = {waiver.control for waiver in compliance.waivers}
    return Selection(
        {key: control for key, control in chosen.items() if key not in waivers},
        {key: control for key, control in chosen.items() if key in waivers},
    )


def violations(compliance: specpb.Compliance) -> Iterator[Violation]:
    """Give the profiles and waived controls that are not known, by field path."""
    for index, profile in enumerate(compliance.profiles):
        if profile not in profile_ids():
            meant = did_you_mean(profile, profile_ids())
            hint = f"did you mean {meant}?" if meant else f"there are {', '.join(profile_ids())}"
            yield Violation(f"compliance.profiles[{index}]", "is not a known profile", remedy=hint)
    known = _controls(compliance)
    for index, waiver in enumerate(compliance.waivers):
        if waiver.control not in known:
            where = f"compliance.waivers[{index}].control"
            remedy = "name a control as PROFILE/ID, or leave the waiver out"
            yield Violation(where, "is not a control of the profiles of this spec", remedy=remedy)


def check_waivers(compliance: specpb.Compliance, now: datetime) -> None:
    """Refuse a waiver that has ended.

    Raises:
        SpecInvalid: naming the controls; the spec must meet them, or say anew why not.
    """
    path = compliance.origin.path or "spec.compliance"
    ended = [
        Violation(
            f"{path}.waivers[{index}].expireTime",
            f"has passed: the waiver of {waiver.control} has ended",
            remedy="remove the waiver and meet the control, or renew it",
        )
        for index, waiver in enumerate(compliance.waivers)
        if waiver.HasField("expire_time") and waiver.expire_time.ToDatetime(tzinfo=UTC) <= now
    ]
    if ended:
        raise SpecInvalid("a waiver of the spec has ended", violations=ended)


def _controls(compliance: specpb.Compliance) -> dict[str, Control]:
    chosen: dict[str, Control] = {}
    for profile_id in compliance.profiles:
        if profile_id in profile_ids():
            profile, _, level = profile_id.partition("/")
            chosen |= {f"{profile}/{control.id}": control for control in profiles()[profile].of_level(level)}
    return chosen
