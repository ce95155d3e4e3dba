"""OS profiles that provisioners declare: for machines that they render, and for nothing else."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from google.protobuf.json_format import MessageToDict
from pydantic import ValidationError

from slipway.bootstrapper.os_profiles.profile import OsProfile
from slipway.bootstrapper.os_profiles.profile_file import FAMILIES, ProfileFile
from slipway.bootstrapper.os_profiles.profile_table import ProfileTable
from slipway.contract.validation import violations
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_profile_pb2 as profilepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

_BY_FAMILY = {number: name for name, number in FAMILIES.items()}
_MOST_TABLES = 64
"""Tables that are kept: a format has one, and few formats declare any."""


def find_profile(
    table: ProfileTable, target: clusterpb.Target, info: provisionerpb.FormatInfo | None = None
) -> OsProfile:
    """Return the profile of a machine: of the table if it has the distribution, else of those that a format declares.

    Raises:
        UnsupportedTarget: neither has a row for the machine.
    """
    if info is None or not info.os_profiles or target.distribution in table:
        return table.find(target)
    if target.distribution not in {profile.distribution for profile in info.os_profiles}:
        return table.find(target)
    return declared_table(info.os_profiles).find(target)


def declared_table(profiles: Sequence[profilepb.OsProfile]) -> ProfileTable:
    """Return the table of the profiles that a format declares; one that breaks a rule is left out.

    The registry refuses a provisioner with such a profile; one that is listed without a registry has no machine of it.
    """
    return _table(tuple(profile.SerializeToString(deterministic=True) for profile in profiles))


@lru_cache(maxsize=_MOST_TABLES)
def _table(serialised: tuple[bytes, ...]) -> ProfileTable:
    sources = []
    for data in serialised:
        profile = profilepb.OsProfile.FromString(data)
        if not list(violations(profile)) and (source := _source(profile)) is not None:
            sources.append(source)
    return ProfileTable(sources)


def _source(profile: profilepb.OsProfile) -> ProfileFile | None:
    rows: dict[str, Any] = {}
    for version in profile.versions:
        row = MessageToDict(version, preserving_proto_field_name=True)
        name = str(row.pop("version", ""))
        environment = row.get("containerd", {}).pop("environment", [])
        if environment:
            row["containerd"]["environment"] = {entry["name"]: entry.get("value", "") for entry in environment}
        rows[name] = row
    tree = {
        "os_family": _BY_FAMILY.get(profile.os_family, ""),
        "profile": {},
        "distributions": {profile.distribution: {"default_version": profile.default_version, "versions": rows}},
    }
    try:
        source = ProfileFile.model_validate(tree)
        list(source.rows())
    except (ValidationError, ValueError):
        return None
    return source
