"""Defects of what cloud-init and Ignition get: their own parsers, and the comparison of machines, see each of them."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import yaml

from tests.integration.test_same_machine_by_all import differences as of_integration
from tests.oracles import ours, sameness
from tests.oracles.filling import linux
from tests.oracles.mutants import defects
from tests.oracles.mutants.defects import Defect
from tests.oracles.test_generated import ROOT, boot_both
from tests.oracles.test_generated import differences as of_generated
from tools.oracles import cloud_init, finding, ignition
from tools.oracles.machine_state import MachineState
from tools.oracles.tree_diff import Allowed, Part

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

MOUNT_POINT = Allowed(Part.FILE, "/mnt/absent", "cloud-init makes the folder at once, systemd when it mounts")


_ONE_BOOT = pytest.mark.xdist_group("first-boot-defects")


@cache
def rendered(provisioner: str) -> bytes:
    """What a sound renderer gives."""
    return ours.render(linux(), provisioner).user_data


def cloud_config(changes: list[Defect]) -> bytes:
    """The cloud-config with defects."""
    tree = yaml.safe_load(rendered("cloud-init"))
    for one in changes:
        one.change(tree)
    return b"#cloud-config\n" + yaml.safe_dump(tree, allow_unicode=False).encode()


def ignition_config(changes: list[Defect]) -> bytes:
    """The Ignition config with defects."""
    tree: dict[str, Any] = json.loads(rendered("ignition"))
    for one in changes:
        one.change(tree)
    return json.dumps(tree).encode()


@cache
def machines() -> tuple[list[str], list[str]]:
    """What the comparison says of sound machines, and of those with all defects."""
    left, right = boot_both(rendered("cloud-init"), rendered("ignition"))
    bad_left, bad_right = boot_both(cloud_config(defects.CLOUD_CONFIG), ignition_config(defects.IGNITION))
    return compared(left, right), compared(bad_left, right) + compared(left, bad_right)


def compared(left: MachineState, right: MachineState) -> list[str]:
    """The same check as for machines that are to be the same."""
    return sameness.problems(left, right, allowed=[*of_integration(), *of_generated(), MOUNT_POINT])


@_ONE_BOOT
def test_a_sound_machine_has_no_defect(engine: Callable[..., None]) -> None:
    """Without it the others would prove nothing."""
    engine(f"root-{ROOT}", "ignition")
    assert machines()[0] == []


@_ONE_BOOT
@pytest.mark.parametrize("defect", [*defects.CLOUD_CONFIG, *defects.IGNITION], ids=str)
def test_a_machine_shows_a_defect(defect: Defect, engine: Callable[..., None]) -> None:
    """What the machine is like tells of it by name."""
    engine(f"root-{ROOT}", "ignition")
    assert [one for one in machines()[1] if defect.shown in one]


@pytest.mark.parametrize(("reason", "change"), defects.CLOUD_CONFIG_WHOLE)
def test_a_machine_that_is_not_set_up_is_seen(
    reason: str, change: Callable[[bytes], bytes], engine: Callable[..., None]
) -> None:
    """cloud-init ends well whatever it could not read; the machine does not look like it."""
    engine("root-trixie")
    state = cloud_init.run(change(rendered("cloud-init")))
    assert sameness.own_problems(state), reason


@pytest.mark.parametrize("defect", defects.CLOUD_CONFIG_SCHEMA, ids=str)
def test_the_schema_shows_a_defect(defect: Defect, engine: Callable[..., None]) -> None:
    """cloud-init's own schema has nothing to say of the document but for the defect."""
    engine("root-trixie")
    assert finding.errors(cloud_init.validate(cloud_config([defect])))


def test_the_schema_takes_a_sound_document(engine: Callable[..., None]) -> None:
    """Also as it is written here."""
    engine("root-trixie")
    assert cloud_init.validate(cloud_config([])) == []


@pytest.mark.parametrize("defect", defects.IGNITION_PARSER, ids=str)
def test_the_parser_shows_a_defect(defect: Defect, engine: Callable[..., None]) -> None:
    """Ignition's own parser has nothing to say of the config but for the defect."""
    engine("ignition-parsers")
    assert ignition.validate(ignition_config([])) == []
    assert finding.errors(ignition.validate(ignition_config([defect])))
