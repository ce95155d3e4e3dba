"""What lowering knows of first-boot systems: a table, so that no pass knows one of them by name."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

import yaml
from pydantic import BaseModel, ConfigDict, Field

from slipway.v1alpha1 import content_pb2 as contentpb

_REST_OF_NAME = re.compile(r"[a-z-]*\.(service|target)")


class InstanceFacts(BaseModel):
    """The facts of its machine that a system can be asked for.

    Attributes:
        media_type: media type of the user data that the system reads.
        program: name of the program with the function `known`, in runners/programs.
        names: by kind of fact, in lower case, the system's own names for it: the first that has a value counts.
        language: id of the language of texts that the system itself renders on the machine.
        template: a fact in that language, with NAME for its name.
        not_on: infrastructures whose providers would take such a text for one of theirs.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    media_type: str
    program: str
    names: Mapping[str, str]
    language: str
    template: str
    not_on: tuple[str, ...] = ()

    def only_name(self, kind: contentpb.FactKind.ValueType) -> str:
        """Give the system's name for a fact; empty where there is none, or one of several counts."""
        names = self.names.get(contentpb.FactKind.Name(kind).removeprefix("FACT_KIND_").lower(), "")
        return "" if " " in names else names


class FirstBootSystem(BaseModel):
    """One row of the table.

    Attributes:
        source: where the facts are from.
        units: beginnings of the names of the units in which the system runs, and what it runs.
        time_client_program: name of the program, in linux/programs, whose function `own` has the system install a time
            client by the text of an imported config, on machines that it has set up.
        facts: what the system can be asked for.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str
    units: tuple[str, ...] = Field(min_length=1)
    time_client_program: str = ""
    facts: InstanceFacts | None = None


@cache
def first_boot_systems() -> Mapping[str, FirstBootSystem]:
    """Return the table, by name of the system."""
    text = (files(__package__) / "first_boot_systems.yaml").read_text(encoding="utf-8")
    return {name: FirstBootSystem.model_validate(row) for name, row in yaml.safe_load(text).items()}


def runs_first_boot(unit: str) -> bool:
    """Whether a unit is one of those in which a first-boot system runs."""
    names = (name for system in first_boot_systems().values() for name in system.units)
    return any(_REST_OF_NAME.fullmatch(unit.removeprefix(name)) for name in names if unit.startswith(name))


def time_client_programs() -> Iterator[str]:
    """Give the names of the programs by which systems install a time client."""
    return (system.time_client_program for system in first_boot_systems().values() if system.time_client_program)


def facts_of_reader(media_type: str) -> InstanceFacts | None:
    """Return what can be asked of the system that reads user data of a media type, if anything."""
    facts = (system.facts for system in first_boot_systems().values() if system.facts is not None)
    return next((entry for entry in facts if entry.media_type == media_type), None)
