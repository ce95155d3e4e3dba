"""Talos understands what was meant, from the spec through the bootstrapper to the loader of the version in question.

What it understood is compared with a table that was written by hand, and with what its own generator makes of the same
cluster.
"""

import fnmatch
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.oracles import ours
from tests.oracles import talos_machines as machines
from tests.oracles.talos_machines import FORMATS, flat
from tools.oracles import finding, talos
from tools.oracles.talos import Mode

pytestmark = [pytest.mark.engine, pytest.mark.timeout(120)]

SPEC, PLAIN = "talos.yaml", "talos_plain.yaml"
NAMES = ("first", "second", "third")
# What is rendered in a format, and what Talos makes of it, is looked at by several tests.
FORMS = [pytest.param(form, marks=pytest.mark.xdist_group(form)) for form in FORMATS]
_HERE = Path(__file__).parent
LAYERS = yaml.safe_load((_HERE / "talos_expectations.yaml").read_text(encoding="utf-8"))
DIFFERENCES = tomllib.loads((_HERE / "talos_generator_differences.toml").read_text(encoding="utf-8"))["difference"]


@pytest.mark.parametrize("mode", [Mode.METAL, Mode.CLOUD])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", FORMS)
def test_talos_takes_every_version_strictly(form: str, name: str, mode: Mode, engine: Callable[..., None]) -> None:
    """No error and no warning, by the newest Talos for all formats, and by one of its time for the older ones."""
    engine("talos")
    for file in (SPEC, PLAIN):
        for version in {talos.NEWEST, machines.judge(form)}:
            assert talos.validate(machines.config(file, name, form), version=version, mode=mode) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", FORMS)
def test_talos_understands_what_was_meant(form: str, name: str, engine: Callable[..., None]) -> None:
    """Field by field in Talos' own dump: nothing is missing, nothing is there that nobody asked for."""
    engine("talos")
    expected = {
        (document, path): value
        for document, tree in expected_documents(name, form).items()
        for path, value in flat(_without_material(tree))
    }
    assert machines.understood(SPEC, name, form) == expected


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", FORMS)
def test_talos_own_generator_makes_the_same(form: str, name: str, engine: Callable[..., None]) -> None:
    """With the cluster's own facts and keys, but for a list in which every difference has its cause."""
    engine("talos")
    mine, theirs = machines.understood(PLAIN, name, form), machines.generated(name, form)
    found = {place for place in mine.keys() | theirs.keys() if mine.get(place, ...) != theirs.get(place, ...)}
    listed = [
        difference
        for difference in DIFFERENCES
        if name in difference["machines"] and int(form.rpartition(".")[2]) in difference["versions"]
    ]
    unexplained = {
        place: (mine.get(place, "not there"), theirs.get(place, "not there"))
        for place in found
        if not any(_matches(place, one) for one in listed)
    }
    assert unexplained == {}
    assert [one["path"] for one in listed if not any(_matches(place, one) for place in found)] == []


def test_the_list_of_differences_does_not_grow_unseen() -> None:
    """A new entry needs a second look here, and each says why."""
    assert all(difference["cause"] for difference in DIFFERENCES)
    assert len(DIFFERENCES) == 20


def test_a_misread_field_would_be_seen(engine: Callable[..., None]) -> None:
    """The comparison can fail: another value, valid as well, is another machine."""
    engine("talos")
    text = machines.config(SPEC, "third", FORMATS[-1]).replace(b"third.pier.example.com", b"other.pier.example.com")
    told = talos.load(text, patch=b"machine: {}")
    assert finding.errors(told.findings) == []
    mine, theirs = machines.leaves(told.config), machines.understood(SPEC, "third", FORMATS[-1])
    assert {place for place in mine if mine[place] != theirs[place]} == {("HostnameConfig", "/hostname")}


def expected_documents(name: str, form: str) -> dict[str, Any]:
    """All layers of the table for a machine, one over the other."""
    result: dict[str, Any] = {}
    for layer in LAYERS:
        if name in layer["machines"] and int(form.rpartition(".")[2]) in layer["versions"]:
            result = _laid_over(result, layer["documents"])
    return result


def _laid_over(below: Any, above: Any) -> Any:
    if isinstance(below, dict) and isinstance(above, dict):
        return {**below, **{key: _laid_over(below.get(key), value) for key, value in above.items()}}
    return above


def _without_material(tree: Any) -> Any:
    """The tree with the names of keys and certificates replaced by what they are."""
    if isinstance(tree, dict) and set(tree) == {"secret", "key"}:
        return machines.material(machines.secrets()[tree["secret"], tree["key"]].decode())
    if isinstance(tree, dict) and set(tree) == {"certificate"}:
        return machines.material(_certificate(tree["certificate"]))
    if isinstance(tree, dict):
        return {key: _without_material(value) for key, value in tree.items()}
    return [_without_material(value) for value in tree] if isinstance(tree, list) else tree


def _certificate(name: str) -> str:
    system = ours.machines(SPEC)["first"].subject.spec.os
    (found,) = [certificate for certificate in system.trusted_certificates if certificate.name == name]
    return found.certificate.segments[0].text if found.certificate.segments else found.certificate.text


def _matches(place: tuple[str, str], entry: dict[str, Any]) -> bool:
    return fnmatch.fnmatchcase(f"{place[0]}:{place[1]}", entry["path"])
