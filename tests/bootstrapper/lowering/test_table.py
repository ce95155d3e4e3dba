"""Tests of the table of passes: it ends, it forgets nothing, and what it gives the least provisioner can take."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from slipway.bootstrapper.lowering.finish import finish
from slipway.bootstrapper.lowering.table import all_passes
from slipway.contract.features import unsupported
from slipway.contract.field_plans import plan
from slipway.contract.items import items
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb
from tests.bootstrapper.lowering.lowered_systems import SUPPORTS, LowerSystem
from tests.bootstrapper.lowering.specs import systems

pytestmark = pytest.mark.long

FAMILIES = (clusterpb.OS_FAMILY_LINUX, clusterpb.OS_FAMILY_WINDOWS)

RANKS = [
    "os.commands.boot",
    "os.directory",
    "os.containerd",
    "os.proxy",
    "os.systemd.units",
    "os.ntp",
    "os.time_zone",
    "os.sysctls",
    "os.kernel.modules",
    "os.storage.swap",
    "os.storage.disks",
    "os.storage.filesystems",
    "os.storage.mounts",
    "os.users",
    "os.groups",
    "os.packages",
    "os.trusted_certificates",
    "os.hostname",
    "os.links",
    "os.directories",
    "os.files",
]
"""Features, highest first. A pass may emit only what stands further down."""

_NO_PASS = {"os.default_user"}


def os_features() -> list[str]:
    """Give the features of items of an operating system, and of the commands that no phase has."""
    own = [field.own_id("") for field in plan(ospb.OperatingSystem.DESCRIPTOR).values()]
    return [*(id_ for id_ in own if id_ and id_ not in _NO_PASS), "os.commands.boot"]


def test_every_pass_emits_only_what_stands_below_it() -> None:
    """The table is a DAG, so lowering ends whatever the bundle."""
    for one in all_passes():
        below = RANKS[RANKS.index(one.feature) + 1 :]
        assert one.emits <= set(below), one.id


@pytest.mark.parametrize("family", FAMILIES)
def test_every_item_has_a_pass_or_a_remedy(family: Any) -> None:
    """A refusal without a word on what to do would leave its reader alone."""
    table = all_passes()
    for feature in os_features():
        assert table.find(feature, family) or table.remedy(feature, family), feature


def test_ids_are_unique_and_say_the_family() -> None:
    """Provenance names passes by these ids."""
    names = [one.id for one in all_passes()]
    assert len(set(names)) == len(names)
    words = {clusterpb.OS_FAMILY_LINUX: "linux.", clusterpb.OS_FAMILY_WINDOWS: "windows."}
    assert all(one.id.startswith(words[one.family]) for one in all_passes())


DISTRIBUTIONS = ["debian", "rhel", "flatcar", "fedora-coreos", "photon", "windows"]


@given(system=systems())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_a_spec_says_becomes_files_or_a_refusal(lower: LowerSystem, system: ospb.OperatingSystem) -> None:
    """Every item is lowered or refused, nothing is lost, and what is left is all declared; twice gives the same."""
    for distribution in DISTRIBUTIONS:  # To make up a system is dearer than to lower it for all of them.
        _settled(lower, distribution, system)


def _settled(lower: LowerSystem, distribution: str, system: ospb.OperatingSystem) -> None:
    before = bundlepb.BootstrapBundle(os=system)
    wanted = [item.feature for item in items(before) if item.feature != "os.files"]
    done = lower(system, distribution=distribution)
    assert not list(unsupported(done.draft.bundle, SUPPORTS)), distribution
    settled = [one.feature for one in done.draft.lowered] + [refusal.feature for refusal in done.result.refusals]
    for feature in set(wanted):
        assert settled.count(feature) >= wanted.count(feature), (distribution, feature)
    for made in [*done.draft.bundle.os.files, *(one.entry for one in done.draft.staged)]:
        assert made.origin.document == "SlipwayConfig/test"
        assert made.origin.path.startswith("spec.os.")
    paths = [file.path for file in done.draft.bundle.os.files if file.origin.made_by]
    assert len(paths) == len(set(paths)), distribution
    emits = {one.feature: one.emits for one in all_passes() if one.id.startswith(_family(distribution))}
    for one in done.draft.lowered:
        assert set(one.into) <= emits[one.feature] | {"os.files", "plan.steps"}, distribution
    again = lower(system, distribution=distribution)
    assert again.draft.bundle.SerializeToString(deterministic=True) == done.draft.bundle.SerializeToString(
        deterministic=True
    ), distribution
    assert again.scripts == done.scripts, distribution
    finish(done.draft, SUPPORTS)
    assert not list(unsupported(done.draft.bundle, SUPPORTS)), distribution


def _family(distribution: str) -> str:
    return "windows." if distribution == "windows" else "linux."
