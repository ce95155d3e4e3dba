"""Tests of the table of profiles: what is found, what is refused, and how an operator adds to it."""

from pathlib import Path

import pytest
import yaml

from slipway.bootstrapper.os_profiles import ProfileTable
from slipway.contract.errors import UnsupportedTarget
from slipway.v1alpha1 import cluster_pb2 as clusterpb

LINUX, WINDOWS = clusterpb.OS_FAMILY_LINUX, clusterpb.OS_FAMILY_WINDOWS

FOUND = [
    (LINUX, "debian", "", "12", "no version means the default"),
    (LINUX, "debian", "13", "13", "a whole version"),
    (LINUX, "ubuntu", "24.04", "24.04", "a version with a dot"),
    (LINUX, "rhel", "9.4", "9", "a minor release is its major one"),
    (LINUX, "photon", "5.0", "5", "so is this"),
    (LINUX, "flatcar", "4081.2.0", "", "one row for all releases"),
    (LINUX, "fedora-coreos", "", "", "and here"),
    (LINUX, "rhcos", "4.18", "4", "by the version of OpenShift"),
    (LINUX, "opensuse-microos", "20260801", "", "a date"),
    (LINUX, "sle-micro", "5.5", "5.5", "its name up to 5"),
    (LINUX, "sl-micro", "6.1", "6.1", "and from 6 on"),
    (LINUX, "alpine", "3.22.1", "3.22", "a patch release"),
    (WINDOWS, "windows", "2025", "2025", "another family"),
]


@pytest.mark.parametrize(("family", "distribution", "version", "row", "reason"), FOUND)
def test_found(family: int, distribution: str, version: str, row: str, reason: str) -> None:
    """A target has the row of its distribution and version."""
    target = clusterpb.Target(os_family=family, distribution=distribution, os_version=version)
    found = ProfileTable.shipped().find(target)
    assert (found.distribution, found.version) == (distribution, row), reason


LACKING = [
    ("alpine", {"systemd_directory", "accounts", "ntp", "containerd", "kubelet"}, "no systemd, and tools of busybox"),
    ("rhcos", {"containerd", "packages"}, "CRI-O, and an image"),
    ("opensuse-microos", {"packages"}, "they come with a snapshot and a reboot"),
]


@pytest.mark.parametrize(("distribution", "parts", "reason"), LACKING)
def test_what_a_distribution_does_not_have_has_no_entry(distribution: str, parts: set[str], reason: str) -> None:
    """What needs it is refused there."""
    found = ProfileTable.shipped().find(clusterpb.Target(os_family=LINUX, distribution=distribution))
    every = ("systemd_directory", "accounts", "ntp", "containerd", "kubelet", "packages")
    assert {part for part in every if not getattr(found, part)} == parts, reason


REFUSED = [
    (LINUX, "plan9", "", "target.distribution", "unknown"),
    (LINUX, "", "", "target.distribution", "nobody said"),
    (LINUX, "windows", "", "target.distribution", "of another family"),
    (WINDOWS, "debian", "", "target.distribution", "of another family"),
    (LINUX, "debian", "99", "target.os_version", "nobody has looked at it"),
    (LINUX, "ubuntu", "24.10", "target.os_version", "24.04 is another version"),
    (LINUX, "debian", "120", "target.os_version", "12 is no prefix of it"),
]


@pytest.mark.parametrize(("family", "distribution", "version", "path", "reason"), REFUSED)
def test_refused(family: int, distribution: str, version: str, path: str, reason: str) -> None:
    """A machine without a row is refused by the field that has none, with what there is."""
    target = clusterpb.Target(os_family=family, distribution=distribution, os_version=version)
    with pytest.raises(UnsupportedTarget) as refused:
        ProfileTable.shipped().find(target)
    assert [violation.path for violation in refused.value.violations] == [path], reason
    assert refused.value.metadata["supported"], reason


def test_the_remedy_of_a_distribution_works_as_it_is_written() -> None:
    """It says which words go where, for one that is not stated and for one with its version behind a dash."""
    table = ProfileTable.shipped()
    with pytest.raises(UnsupportedTarget) as unstated:
        table.find(clusterpb.Target(os_family=LINUX))
    assert 'distribution (such as ubuntu) and osVersion (such as "24.04")' in unstated.value.violations[0].remedy
    assert table.find(clusterpb.Target(os_family=LINUX, distribution="ubuntu", os_version="24.04")).version == "24.04"
    with pytest.raises(UnsupportedTarget) as joined:
        table.find(clusterpb.Target(os_family=LINUX, distribution="ubuntu-24.04"))
    assert joined.value.violations[0].remedy.startswith('write ubuntu, and "24.04" as osVersion')


def own(**changes: object) -> dict[str, object]:
    """Give a file of an operator's."""
    return {
        "os_family": "Linux",
        "profile": {"packages": "apt", "containerd": {"service": "a", "configuration": "b", "registries": "c"}},
        "distributions": {
            "house": {
                "default_version": "1",
                "versions": {"1": {}, "2": {"containerd": {"configuration_version": 3}}},
            }
        },
        **changes,
    }


def test_an_operator_adds_distributions(tmp_path: Path) -> None:
    """A version's differences are merged into the family's profile; shipped rows stay."""
    (tmp_path / "house.yaml").write_text(yaml.safe_dump(own()))
    (tmp_path / "notes.txt").write_text("no profile")
    table = ProfileTable.extended(tmp_path)
    found = table.find(clusterpb.Target(os_family=LINUX, distribution="house", os_version="2"))
    assert found.containerd is not None
    assert (found.containerd.configuration, found.containerd.configuration_version) == ("b", 3)
    assert table.find(clusterpb.Target(os_family=LINUX, distribution="debian")).version == "12"


def test_an_operator_replaces_a_distribution(tmp_path: Path) -> None:
    """The operator's word counts, and no version of ours is left beside it."""
    mine = {"debian": {"default_version": "12", "versions": {"12": {"image_based": True}}}}
    (tmp_path / "debian.yaml").write_text(yaml.safe_dump(own(distributions=mine)))
    table = ProfileTable.extended(tmp_path)
    assert table.find(clusterpb.Target(os_family=LINUX, distribution="debian")).image_based
    with pytest.raises(UnsupportedTarget):
        table.find(clusterpb.Target(os_family=LINUX, distribution="debian", os_version="11"))


BROKEN = [
    (own(os_family="BeOS"), "no family"),
    (own(profile={"pakages": "apt"}), "a misspelt key"),
    (own(profile={"packages": "pip"}), "no package manager"),
    (own(distributions={}), "no distribution"),
    (own(distributions={"a": {"default_version": "2", "versions": {"1": {}}}}), "a default without a row"),
    ([1], "no mapping"),
]


def test_what_is_wrong_with_a_file_repeats_nothing_of_it(tmp_path: Path) -> None:
    """Place and rule in one line, and none of the file's own words: a wrong file may be one with secrets."""
    file = tmp_path / "mine.yaml"
    for text in ("canary: 1\n---\ncanary: 2\n", "a: [canary\n", yaml.safe_dump(own(profile={"packages": "canary"}))):
        file.write_text(text)
        with pytest.raises(ValueError, match=r"^mine\.yaml") as caught:
            ProfileTable.extended(tmp_path)
        assert "canary" not in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("tree", "reason"), BROKEN)
def test_a_broken_file_is_named(tmp_path: Path, tree: object, reason: str) -> None:
    """An operator learns which file is wrong when the service starts, not when a machine is made."""
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(tree))
    with pytest.raises(ValueError, match=r"^mine\.yaml: "):
        ProfileTable.extended(tmp_path)
    assert reason


def test_shipped_rows_are_complete() -> None:
    """All but those above can be asked for all that passes ask for; only images have no package manager."""
    for row in ProfileTable.shipped():
        assert (row.packages is None) == row.image_based, row.distribution
        if row.distribution in {distribution for distribution, parts, _ in LACKING if parts != {"packages"}}:
            continue
        parts = [row.accounts, row.certificates, row.ntp, row.containerd, row.kubelet, row.time_zones]
        assert all(parts), row.distribution
        if row.distribution != "windows":
            assert row.systemd_directory == "/etc/systemd/system"
