"""A file of the profile table: one distribution family, what its versions share, and how they differ."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from slipway.bootstrapper.os_profiles.profile import OsProfile
from slipway.v1alpha1 import cluster_pb2 as clusterpb

FAMILIES: dict[str, clusterpb.OsFamily.ValueType] = {
    "Linux": clusterpb.OS_FAMILY_LINUX,
    "Windows": clusterpb.OS_FAMILY_WINDOWS,
}


class DistributionRows(BaseModel):
    """The versions of one distribution.

    Attributes:
        default_version: the version that a target means when it names none.
        versions: version -> what differs from the family's profile. A version is a whole VERSION_ID or its first
            parts ("9" stands for 9.4 too). An empty version stands for every version.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    default_version: str
    versions: dict[str, dict[str, Any]] = Field(min_length=1)


class ProfileFile(BaseModel):
    """What one YAML file holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    os_family: str
    profile: dict[str, Any]
    distributions: dict[str, DistributionRows] = Field(min_length=1)

    def rows(self) -> Iterator[OsProfile]:
        """Give every row, the family's profile merged with what its version differs in.

        Raises:
            pydantic.ValidationError: a row is no profile.
            ValueError: the family is invalid, or a default version has no row.
        """
        if self.os_family not in FAMILIES:
            raise ValueError(f"os_family must be one of {', '.join(sorted(FAMILIES))}")
        for distribution, table in self.distributions.items():
            if table.default_version not in table.versions:
                raise ValueError(f"distributions.{distribution}.default_version has no row")
            for version, differences in table.versions.items():
                merged = _merged(self.profile, differences)
                yield OsProfile.model_validate({**merged, "distribution": distribution, "version": version})


def _merged(base: Mapping[str, Any], differences: Mapping[str, Any]) -> dict[str, Any]:
    """Give `base` with `differences` on top: mappings are merged, anything else is replaced."""
    result = dict(base)
    for key, value in differences.items():
        below = result.get(key)
        result[key] = _merged(below, value) if isinstance(value, Mapping) and isinstance(below, Mapping) else value
    return result
