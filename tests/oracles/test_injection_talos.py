"""No value of a spec is more than a value for Talos: its own loader reads each of them back as it was written."""

from collections.abc import Callable
from functools import cache

import pytest
import yaml

from tests.oracles import hostile, ours
from tests.oracles.filling import render_what_is_accepted, talos
from tests.oracles.hostile import Place
from tests.oracles.readers import scalars
from tools.oracles import finding
from tools.oracles import talos as engine_of_talos
from tools.oracles.talos import Mode

pytestmark = [pytest.mark.engine, pytest.mark.timeout(120)]


@cache
def rendered(family: str, format_id: str) -> tuple[bytes, list[Place]]:
    """The machine configuration with a family's values, and where they are."""
    answer, accepted, _ = render_what_is_accepted(
        talos(), family, lambda question: ours.render(question, "talos", format_id, own_secrets=True)
    )
    return answer.user_data, accepted


@cache
def sections_without_values(format_id: str) -> list[tuple[str, str]]:
    """What the configuration has without any hostile value."""
    return documents(ours.render(talos(), "talos", format_id, own_secrets=True).user_data)


@pytest.mark.parametrize(
    ("format_id", "version"), [("talos/v1.13", engine_of_talos.NEWEST), ("talos/v1.11", engine_of_talos.OLDER)]
)
@pytest.mark.parametrize("family", hostile.FAMILIES)
def test_talos_reads_a_hostile_value_as_it_was(
    family: str, format_id: str, version: str, engine: Callable[..., None]
) -> None:
    """No error, every value in Talos' own dump, and the documents and keys of the dump are those without values."""
    engine("talos")
    config, accepted = rendered(family, format_id)
    loaded = engine_of_talos.load(config, version=version, mode=Mode.CLOUD, patch=b"machine: {}")
    assert finding.errors(loaded.findings) == []
    assert accepted
    found = list(scalars(list(yaml.safe_load_all(loaded.config))))
    assert [place.path for place in accepted if not any(place.value in text for text in found)] == []
    assert documents(config) == sections_without_values(format_id)


def documents(config: bytes) -> list[tuple[str, str]]:
    """Kind of every document of a configuration, and of which section it has anything."""
    return [(str(document.get("kind", "")), " ".join(document)) for document in yaml.safe_load_all(config)]
