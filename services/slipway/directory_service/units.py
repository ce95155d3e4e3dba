"""Where new computer objects go, by namespace and Cluster. An operator decides that, never a spec.

Who writes a spec chooses what a machine does; in which organisational unit it is decides which policies of the domain
it gets and who may change it, so that is the domain's business. The file is YAML::

    units:
      - {namespace: team-a, unit: "OU=Team A,OU=Nodes,DC=corp,DC=example,DC=com"}
      - {namespace: team-a, cluster: prod, unit: "OU=Prod,OU=Nodes,DC=corp,DC=example,DC=com"}
"""

from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from slipway.directory.failures import ConfigurationInvalid


class _Unit(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    namespace: str = Field(min_length=1)
    cluster: str = ""
    unit: str = Field(min_length=1)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    units: list[_Unit] = Field(min_length=1)


class Units:
    """Organisational units by namespace and Cluster."""

    def __init__(self, units: dict[tuple[str, str], str] | None = None) -> None:
        """Take the distinguished names by namespace and name of a Cluster, "" for all Clusters of the namespace."""
        self._units = dict(units or {})

    @classmethod
    def read(cls, path: Path | None) -> "Units":
        """Read a file; None is a file without units.

        Raises:
            ConfigurationInvalid: it cannot be read, is malformed, or names a place twice.
        """
        if path is None:
            return cls()
        try:
            entries = _File.model_validate(yaml.safe_load(path.read_text(encoding="utf-8"))).units
        except (OSError, UnicodeDecodeError, yaml.YAMLError):
            raise ConfigurationInvalid("units file: cannot be read as YAML") from None
        except ValidationError as error:
            place = ".".join(str(part) for part in error.errors()[0]["loc"])
            problem = error.errors(include_input=False)[0]["msg"]
            raise ConfigurationInvalid(f"units file: {place or 'document'}: {problem}") from None
        units: dict[tuple[str, str], str] = {}
        for index, entry in enumerate(entries):
            if (entry.namespace, entry.cluster) in units:
                raise ConfigurationInvalid(f"units file: units.{index}: namespace and cluster are there twice")
            units[entry.namespace, entry.cluster] = entry.unit
        return cls(units)

    def unit_of(self, namespace: str, cluster: str) -> str:
        """Return the unit of a Cluster, else that of its namespace, else "" for the service's default."""
        return self._units.get((namespace, cluster)) or self._units.get((namespace, "")) or ""
