"""Values that no machine can use: refused by field in a native spec, a warning in an imported one."""

import pytest

from slipway.bootstrapper.assembly.subject import check
from slipway.bootstrapper.assembly.unworkable import unworkable
from slipway.contract.errors import SpecInvalid
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb


def system(*, zone: str = "", unit: str = "", drop_in: str = "", sudo: str = "") -> ospb.OperatingSystem:
    """Make an operating system with one value."""
    os = ospb.OperatingSystem()
    if zone:
        os.time_zone.name = zone
    if unit or drop_in:
        item = os.systemd_units.add(name="a.service", contents=unit)
        if drop_in:
            item.drop_ins.add(name="10-a.conf", contents=drop_in)
    if sudo:
        os.users.add(name="ann", sudo=["ALL=ALL", sudo])
    return os


WRONG = [
    (system(zone="Europe/Berlinn"), "os.time_zone.name", "is no zone of the tz database; did you mean Europe/Berlin?"),
    (system(zone="Mars"), "os.time_zone.name", "is no zone of the tz database"),
    (system(unit="ExecStart=/bin/a\n[Service]\n"), "os.systemd_units[0].contents", "does not begin with a section"),
    (system(unit="x"), "os.systemd_units[0].contents", "does not begin with a section"),
    (system(drop_in="# a\nA=b"), "os.systemd_units[0].drop_ins[0].contents", "does not begin with a section"),
    *(
        (system(sudo=rule), "os.users[0].sudo[1]", "is no rule of sudoers")
        for rule in ("a", "ALL", "NOPASSWD", "ALL=", "ALL=(ALL", "ALL=(ALL) nopasswd:ALL", "=ALL", "ann ALL=(ALL) ALL")
    ),
    *(
        (ospb.OperatingSystem(**{kind: [{"path": path}]}), f"os.{kind}[0].path", "is no file of a disk")
        for kind in ("files", "swaps")
        for path in ("/dev/sdb", "//dev/./sdb", "/proc/sys/vm/swappiness", "/sys/block/sda/x", "/run/../dev/null")
    ),
]
RIGHT = [
    ospb.OperatingSystem(files=[{"path": "/devices"}, {"path": "/proc/1/root/opt/a"}], swaps=[{"path": "/sys.img"}]),
    ospb.OperatingSystem(directories=[{"path": "/dev/hugepages"}], links=[{"path": "/dev/a", "target": "/opt"}]),
    system(zone="Europe/Berlin"),
    system(zone="US/Pacific"),
    system(zone="Etc/GMT+1"),
    system(unit="\n# a\n; b\n [Unit]\nDescription=x\n"),
    system(unit="# nothing\n", drop_in="[Service]\nA=b"),
    *(
        system(sudo=rule)
        for rule in (
            "ALL=(ALL) NOPASSWD:ALL", "ALL=(ALL:ALL) ALL", "ALL = NOPASSWD: /bin/ls, /bin/cat", "ALL=(ALL)ALL",
            "ALL=/bin/ls",
            "one, two=(www) SETENV: NOPASSWD: /bin/a", "ALL=(ALL) !/bin/su, ALL", "+net=SHELLS", "ALL=sudoedit /etc/a",
            "ALL=(ALL) TIMEOUT=5m NOPASSWD: ALL",
            "ALL=(root) NOPASSWD: sha256:aGk= /bin/ls",
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("os", "path", "why"), WRONG, ids=[f"{row[1]}-{index}" for index, row in enumerate(WRONG)])
def test_what_no_program_takes_is_known(os: ospb.OperatingSystem, path: str, why: str) -> None:
    """By its field, and with what to write; the text of a unit or a rule is not repeated."""
    (violation,) = unworkable(os)
    assert (violation.path, violation.description.startswith(why), bool(violation.remedy)) == (path, True, True)


@pytest.mark.parametrize("os", RIGHT)
def test_what_works_is_left_alone(os: ospb.OperatingSystem) -> None:
    """Names of zones of former times, units with comments first, and whatever sudoers has."""
    assert list(unworkable(os)) == []


def subject(*, imported: bool) -> bootstrappb.Subject:
    """Give a machine with an invalid rule, and an invalid zone for a role."""
    spec = specpb.MachineBootstrapSpec(os=system(sudo="a"))
    spec.join.os.CopyFrom(system(zone="Mars"))
    if imported:
        spec.imported.kind = "KubeadmConfig"
    cluster = clusterpb.Cluster(
        name="c", kubernetes_version="v1.34.2", endpoint=clusterpb.Endpoint(host="api.example.com")
    )
    machine = clusterpb.Machine(name="m", role=clusterpb.ROLE_WORKER)
    return bootstrappb.Subject(spec=spec, cluster=cluster, machine=machine)


def test_a_native_spec_is_refused() -> None:
    """By the fields as they were written, also those of a role."""
    with pytest.raises(SpecInvalid) as caught:
        check(subject(imported=False))
    paths = ["spec.join.os.timeZone.name", "spec.os.users[0].sudo[1]"]
    assert sorted(violation.path for violation in caught.value.violations) == paths


def test_an_imported_spec_keeps_it_with_a_warning() -> None:
    """The machine gets what it gets today."""
    diagnostics = check(subject(imported=True)).diagnostics
    assert [(each.code, each.field_path) for each in diagnostics] == [
        ("CANNOT_WORK", "os.time_zone.name"),
        ("CANNOT_WORK", "os.users[0].sudo[1]"),
    ]
