"""What depends on something that is lowered is lowered with it, and nothing else is."""

from typing import Any

import pytest

from slipway.bootstrapper.lowering.order import Rank
from tests.bootstrapper.lowering.legalising import EVERYTHING_BUT, ROOTS, Format, text, work


@pytest.mark.parametrize(
    ("reason", "unsupported_feature", "system", "goes", "stays"),
    [
        (
            "a user's files wait for the user, and other files do not",
            "os.users",
            f'users {{ name: "ann" }} files {{ path: "/a" owner: "ann" }} files {{ path: "/b" {ROOTS} }}',
            {"/a"},
            {"/b"},
        ),
        (
            "a file may belong to the group that is a lowered user's own",
            "os.users",
            'users { name: "ann" } directories { path: "/a" owner: "root" group: "ann" }',
            {"/a"},
            set(),
        ),
        (
            "a group's files and links wait for the group",
            "os.groups",
            (
                'groups { name: "team" } files { path: "/a" owner: "root" group: "team" }'
                f'links {{ path: "/l" target: "x" group: "team" }} links {{ path: "/m" target: "x" {ROOTS} }}'
            ),
            {"/a", "/l"},
            {"/m"},
        ),
        (
            "what lies in the home of a lowered user would make the home root's",
            "os.users",
            (
                'users { name: "ann" } users { name: "bob" home: "/srv/bob" }'
                f'files {{ path: "/home/ann/f" {ROOTS} }}'
                f'files {{ path: "/srv/bob/f" {ROOTS} }} files {{ path: "/srv/bobby" {ROOTS} }}'
            ),
            {"/home/ann/f", "/srv/bob/f"},
            {"/srv/bobby"},
        ),
        (
            "root is there whether it is lowered or not",
            "os.users",
            f'users {{ name: "root" }} files {{ path: "/root/f" {ROOTS} }}',
            set(),
            {"/root/f"},
        ),
        (
            "what lies on a lowered mount would be hidden by it",
            "os.storage.mounts",
            (
                f'mounts {{ source: "tmpfs" path: "/mnt/a" }} files {{ path: "/mnt/a/f" {ROOTS} }}'
                f'directories {{ path: "/mnt/a" {ROOTS} }} swaps {{ path: "/mnt/a/swap" size_mib: 1 }}'
                f'files {{ path: "/mnt/ab" {ROOTS} }}'
            ),
            {"/mnt/a", "/mnt/a/f"},
            {"/mnt/ab"},
        ),
        (
            "a later entry for the same path comes after an earlier one",
            "os.files.append",
            f'files {{ path: "/a" {ROOTS} }} files {{ path: "/a" append: true }} files {{ path: "/b" {ROOTS} }}',
            {"/a"},
            {"/b"},
        ),
        (
            "a hard link needs the file that it links to; a symbolic link needs nothing",
            "os.files.append",
            (
                f'files {{ path: "/a" append: true {ROOTS} }} links {{ path: "/h" target: "/a" hard: true {ROOTS} }}'
                f'links {{ path: "/s" target: "/a" {ROOTS} }}'
            ),
            {"/a", "/h"},
            {"/s"},
        ),
        (
            "a folder that is a link cannot be made by a file that lies in it",
            "os.links",
            f'links {{ path: "/data" target: "/mnt/data" {ROOTS} }} files {{ path: "/data/f" {ROOTS} }}',
            {"/data", "/data/f"},
            set(),
        ),
        (
            "a lowered directory does not take its files along: the runner gives it owner and mode afterwards",
            "os.directories",
            f'directories {{ path: "/d" {ROOTS} }} files {{ path: "/d/f" {ROOTS} }}',
            {"/d"},
            {"/d/f"},
        ),
    ],
    ids=lambda value: value.replace(" ", "-")[:40] if isinstance(value, str) and " " in value else None,
)
def test_items_are_lowered_with_what_they_depend_on(
    reason: str, unsupported_feature: str, system: str, goes: set[str], stays: set[str]
) -> None:
    """Native work comes before all lowered work, so what needs something lowered is staged, and nothing else is."""
    draft, result = work(text(system), EVERYTHING_BUT - {unsupported_feature})
    assert result.refusals == [], reason
    assert {wave.entry.path for wave in draft.staged} == goes, reason
    left: list[Any] = [*draft.bundle.os.files, *draft.bundle.os.directories, *draft.bundle.os.links]
    assert {entry.path for entry in left if not entry.origin.made_by} == stays, reason
    assert all(wave.entry.origin.document == "SlipwayConfig/test" for wave in draft.staged)


def test_a_download_waits_for_the_authorities_that_vouch_for_it() -> None:
    """They are trusted when the runner has installed them: what is downloaded before could not be verified."""
    remote = f'files {{ path: "/a" remote {{ urls: "https://a" }} {ROOTS} }} files {{ path: "/b" {ROOTS} }}'
    trust = 'trusted_certificates { name: "corp" certificate { secret_ref { name: "s" key: "k" } } }'
    declared = EVERYTHING_BUT | {"os.files.remote"}
    assert [one.entry.path for one in work(text(remote), declared)[0].staged] == []
    draft, _ = work(text(f"{remote} {trust}"), declared)
    assert [wave.entry.path for wave in draft.staged] == ["/a"]
    assert draft.staged[0].rank > Rank.TRUSTED_CERTIFICATES


def test_packages_wait_for_the_authorities_that_vouch_for_their_servers() -> None:
    """A mirror of one's own is often certified by an authority of one's own."""
    packages = 'packages { install { name: "x" } }'
    trust = 'trusted_certificates { name: "corp" certificate { secret_ref { name: "s" key: "k" } } }'
    declared = EVERYTHING_BUT | {"os.packages", "os.packages.install"}
    assert work(text(packages), declared)[0].prepared == []
    draft, _ = work(text(f"{packages} {trust}"), declared)
    assert sorted(step.rank for step in draft.prepared) == [
        Rank.TRUSTED_CERTIFICATES,
        Rank.PACKAGES,
    ]


def test_what_is_lowered_together_keeps_its_order() -> None:
    """An append that brings along the file that it is put behind, and its own successor, stays between them."""
    more = "".join(f'files {{ path: "/a" append: true mode: {mode} }}' for mode in (1, 2))
    entries = f'files {{ path: "/a" {ROOTS} }} {more}'
    draft, _ = work(text(entries), EVERYTHING_BUT - {"os.files.append"})
    assert [(wave.entry.append, wave.entry.mode) for wave in draft.staged] == [(False, 0), (True, 1), (True, 2)]


@pytest.mark.parametrize(
    ("reason", "unsupported_feature", "system", "lowered"),
    [
        (
            "a user of a lowered group",
            "os.groups",
            'groups {name: "g"} users {name: "a" primary_group: "g"} users {name: "b" groups: "g"} users {name: "c"}',
            ["os.users[0]", "os.users[1]", "os.groups[0]"],
        ),
        (
            "a user whose home is on a lowered mount",
            "os.storage.mounts",
            'mounts { source: "tmpfs" path: "/home" } users { name: "a" } users { name: "b" home: "/srv/b" }',
            ["os.users[0]", "os.mounts[0]"],
        ),
        (
            "a mount below a lowered mount",
            "os.storage.mounts.check",
            (
                'mounts { source: "/dev/a" path: "/m" check: true } mounts { source: "/dev/b" path: "/m/n" }'
                'mounts { source: "/dev/c" path: "/o" }'
            ),
            ["os.mounts[0]", "os.mounts[1]"],
        ),
    ],
)
def test_dependence_goes_on(reason: str, unsupported_feature: str, system: str, lowered: list[str]) -> None:
    """Items that depend on lowered ones are lowered themselves, and then what depends on them."""
    draft, result = work(text(system), EVERYTHING_BUT - {unsupported_feature})
    assert result.refusals == [], reason
    assert sorted(lowered_feature.field_path for lowered_feature in draft.lowered) == sorted(lowered), reason


def test_ranks_put_homes_on_their_mounts() -> None:
    """Lowered mounts come before lowered users, as a first-boot system has it, and users before their files."""
    order = [Rank.PACKAGES, Rank.MOUNTS, Rank.GROUPS, Rank.USERS, Rank.DIRECTORIES, Rank.FILES, Rank.SYSTEMD_UNITS]
    assert order == sorted(order)


def test_what_lies_on_a_lowered_disk_is_lowered_too() -> None:
    """Its filesystem, the mounts of it by device and by label, and no mount that has nothing to do with it."""
    system = (
        'disks { device: "/dev/b" } filesystems { device: "/dev/b1" format: "ext4" label: "x" }'
        'mounts { source: "/dev/b1" path: "/m" } mounts { source: "LABEL=x" path: "/n" }'
        'mounts { source: "/dev/c" path: "/o" }'
    )
    declared = (EVERYTHING_BUT | {"os.storage.filesystems.label"}) - {"os.storage.disks"}
    draft, result = work(text(system), declared)
    assert result.refusals == []
    assert {lowered_feature.field_path for lowered_feature in draft.lowered} == {
        "os.disks[0]",
        "os.filesystems[0]",
        "os.mounts[0]",
        "os.mounts[1]",
    }
    assert [one.rank for one in sorted(draft.prepared, key=lambda one: one.rank)] == [
        Rank.DISKS,
        Rank.FILESYSTEMS,
        Rank.MOUNTS,
    ]


def test_a_chain_of_refusals_follows_the_disk() -> None:
    """A filesystem on a disk that nobody takes is refused, too; each names its own place and remedy."""
    system = 'disks { device: "/dev/b" } filesystems { device: "/dev/b1" format: "ext4" }'
    _, result = work(text(system), Format(EVERYTHING_BUT - {"os.storage.disks"}, "windows"))
    assert [refusal.path for refusal in result.refusals] == ["os.disks[0]", "os.filesystems[0]"]
    assert [refusal.origin.path for refusal in result.refusals] == ["spec.os.disks[0]", "spec.os.filesystems[0]"]
    assert all(refusal.remedy for refusal in result.refusals)
    assert "os.storage.disks is not supported" in result.refusals[0].reason
    assert "depends on" in result.refusals[1].reason
