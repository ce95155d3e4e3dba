"""The table of all profiles, and the one way to look a machine's profile up."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

import yaml
from pydantic import ValidationError

from slipway.bootstrapper.os_profiles.profile import NtpClient, OsProfile
from slipway.bootstrapper.os_profiles.profile_file import FAMILIES, ProfileFile
from slipway.contract.errors import UnsupportedTarget, Violation
from slipway.contract.source_position import did_you_mean
from slipway.v1alpha1 import cluster_pb2 as clusterpb

DISTRIBUTION = "bootstrap.slipway.dev/distribution"
"""Annotation of a foreign config, which has no field for it: ID, with VERSION_ID behind a blank, of os-release."""

_MOST_NAMED = 16
_BY_NUMBER = {number: name for name, number in FAMILIES.items()}


@dataclass(frozen=True, slots=True)
class _Distribution:
    family: clusterpb.OsFamily.ValueType
    default_version: str
    rows: Mapping[str, OsProfile]


class ProfileTable:
    """Profiles by family, distribution and version."""

    def __init__(self, sources: Iterable[ProfileFile]) -> None:
        """Index the files' rows. A later file replaces a distribution of an earlier one as a whole.

        Raises:
            ValueError: a row is no profile.
        """
        self._distributions: dict[str, _Distribution] = {}
        for source in sources:
            rows = list(source.rows())
            for name, table in source.distributions.items():
                self._distributions[name] = _Distribution(
                    FAMILIES[source.os_family],
                    table.default_version,
                    {row.version: row for row in rows if row.distribution == name},
                )

    @classmethod
    def shipped(cls) -> Self:
        """Give the table that comes with Slipway."""
        return cls(_shipped_files())

    @classmethod
    def extended(cls, directory: Path) -> Self:
        """Give the shipped table, with an operator's own files (`*.yaml`, in order of name) on top.

        Raises:
            OSError: the directory or a file of it cannot be read.
            ValueError: a file is no YAML, or does not describe profiles; the message names the file.
        """
        own: list[ProfileFile] = []
        for path in sorted(directory.iterdir()):
            if path.suffix != ".yaml":
                continue
            try:
                own.append(_parsed(path.read_text(encoding="utf-8")))
                list(own[-1].rows())
            except ValidationError as error:
                wrong = "; ".join(
                    f"{'.'.join(map(str, mistake['loc']))}: {mistake['msg']}" for mistake in error.errors()
                )
                raise ValueError(f"{path.name}: {wrong}") from None
            except yaml.MarkedYAMLError as error:
                mark = error.problem_mark
                place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
                raise ValueError(f"{path.name}{place}: not YAML: {error.problem}") from None
            except (ValueError, yaml.YAMLError) as error:
                raise ValueError(f"{path.name}: {error}") from error
        return cls([*_shipped_files(), *own])

    def __iter__(self) -> Iterator[OsProfile]:
        for distribution in self._distributions.values():
            yield from distribution.rows.values()

    def __contains__(self, distribution: str) -> bool:
        """Whether there are rows of a distribution."""
        return distribution in self._distributions

    def family(self, distribution: str) -> clusterpb.OsFamily.ValueType:
        """Return the family of a distribution; unspecified where there are no rows of it."""
        known = self._distributions.get(distribution)
        return known.family if known is not None else clusterpb.OS_FAMILY_UNSPECIFIED

    def ntp_clients(self) -> dict[NtpClient, list[str]]:
        """Give every client of the family Linux, each with the distributions that have it, in order of preference.

        For a machine of an unknown distribution, which has to look at its own os-release.
        """
        clients: dict[NtpClient, list[str]] = {}
        for row in self:
            if self._distributions[row.distribution].family == clusterpb.OS_FAMILY_LINUX:
                for client in row.ntp:
                    names = clients.setdefault(client, [])
                    if row.distribution not in names:
                        names.append(row.distribution)
        return clients

    def find(self, target: clusterpb.Target) -> OsProfile:
        """Give the profile of a machine. An unset version means the distribution's default.

        Raises:
            UnsupportedTarget: there is no row; it names target.distribution or target.os_version.
        """
        if not target.distribution:
            raise self._unstated(target)
        distribution = self._distributions.get(target.distribution)
        if distribution is None or distribution.family != target.os_family:
            names = self._names(target)
            family = _BY_NUMBER.get(target.os_family, "this")
            raise UnsupportedTarget(
                f"target.distribution: there is no OS profile for it in the family {family}: "
                "set one that there is, or add a profile",
                violations=[
                    Violation(
                        "target.distribution",
                        "has no OS profile in its family of operating systems",
                        remedy=f"{_instead(target.distribution, names)}, or add an OS profile",
                    )
                ],
                metadata={"supported": ",".join(names)},
            )
        row = _by_version(distribution, target.os_version)
        if row is None:
            raise UnsupportedTarget(
                "target.os_version: there is no OS profile for this version of the distribution: "
                "set one that there is, or add a profile",
                violations=[
                    Violation(
                        "target.os_version",
                        "has no OS profile for the distribution",
                        remedy=f"choose {_some(sorted(distribution.rows))}, or add an OS profile",
                    )
                ],
                metadata={"supported": ",".join(sorted(distribution.rows))},
            )
        return row

    def _names(self, target: clusterpb.Target) -> list[str]:
        return sorted(
            name for name, distribution in self._distributions.items() if distribution.family == target.os_family
        )

    def _unstated(self, target: clusterpb.Target) -> UnsupportedTarget:
        # os-release has the words; the list of names would leave no place in a remedy for who else takes the thing.
        remedy = (
            'set distribution (such as ubuntu) and osVersion (such as "24.04") of the spec\'s target, or for an '
            f'imported config the annotation {DISTRIBUTION}, such as "ubuntu 24.04"'
        )
        return UnsupportedTarget(
            "target.distribution: is not stated, and is never guessed: set it",
            violations=[Violation("target.distribution", "is not stated", remedy=remedy)],
            metadata={"supported": ",".join(self._names(target))},
        )


def _instead(word: str, names: Sequence[str]) -> str:
    """Say what may stand for a name that has no profile: what was meant, or what there is."""
    name, _, version = word.rpartition("-")
    if name in names and version[:1].isdigit():
        return f'write {name}, and "{version}" as osVersion'
    meant = did_you_mean(word, names)
    return f"write {meant}, if that is meant" if meant else f"choose {_some(names)}"


def _some(names: Sequence[str]) -> str:
    """Name what there is, as far as a sentence can hold it."""
    shown = ", ".join(names[:_MOST_NAMED])
    return f"one of {shown} ..." if len(names) > _MOST_NAMED else f"one of {shown}"


def _by_version(distribution: _Distribution, version: str) -> OsProfile | None:
    if not version:
        return distribution.rows[distribution.default_version]
    parts = version.split(".")
    for length in range(len(parts), 0, -1):
        row = distribution.rows.get(".".join(parts[:length]))
        if row is not None:
            return row
    return distribution.rows.get("")


def _parsed(text: str) -> ProfileFile:
    tree: Any = yaml.safe_load(text)
    return ProfileFile.model_validate(tree)


@cache
def _shipped_files() -> tuple[ProfileFile, ...]:
    folder = files(__package__).joinpath("distributions")
    sources = sorted(
        (entry for entry in folder.iterdir() if entry.name.endswith(".yaml")), key=lambda entry: entry.name
    )
    return tuple(_parsed(entry.read_text(encoding="utf-8")) for entry in sources)
