"""A machine whose distribution nobody has stated: it is asked on the machine, and never guessed."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from slipway.bootstrapper.lowering.draft import Draft
from slipway.bootstrapper.lowering.finish import prepared_items
from slipway.bootstrapper.lowering.legalise import legalise
from slipway.bootstrapper.lowering.table import all_passes
from slipway.bootstrapper.os_profiles import ProfileTable
from slipway.contract.content import SecretIndex, content_bytes
from slipway.contract.errors import UnsupportedTarget
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tests.bootstrapper.lowering.lowered_systems import SUPPORTS

CHRONY, TIMESYNCD = "/usr/sbin/chronyd", "/lib/systemd/systemd-timesyncd"
TARGET = clusterpb.Target(os_family=clusterpb.OS_FAMILY_LINUX)


def lowered(
    system: ospb.OperatingSystem, *, imported: bool = False, target: clusterpb.Target = TARGET
) -> tuple[Draft, list[tuple[str, str]]]:
    """Lower a system for a machine of which no profile is known; give the draft, and refusals with remedies."""
    table = ProfileTable.shipped()
    bundle = bundlepb.BootstrapBundle(id="bundle-1", os=system)
    bundle.plan.entrypoint.unit_name = "slipway-bootstrap.service"
    if imported:
        bundle.execution.literal_commands = True
    with pytest.raises(UnsupportedTarget) as unknown:
        table.find(target)
    draft = Draft(bundle, unknown.value, target, ntp_clients=table.ntp_clients())
    supports: Sequence[provisionerpb.FeatureSupport] = SUPPORTS
    result = legalise(draft, supports, table=all_passes())
    return draft, [(refusal.feature, refusal.remedy) for refusal in result.refusals]


def ntp_script(*, imported: bool = False) -> str:
    """Give the step that turns time synchronisation on."""
    ntp = ospb.Ntp(servers=["ntp.example.com"])
    (step,) = prepared_items(lowered(ospb.OperatingSystem(ntp=ntp), imported=imported)[0])
    assert isinstance(step, planpb.Step)
    return content_bytes(step.command.script, SecretIndex([])).decode()


def test_each_client_is_for_the_distributions_that_have_it() -> None:
    """The services differ in name, so that a guess would keep a machine from becoming a node."""
    calls = [line for line in ntp_script().splitlines() if line.startswith("on '")]
    services = {
        name: [line.split(" client ")[1].split()[1] for line in calls if name in line.split("'")[1].split()]
        for name in ("ubuntu", "rhel", "flatcar")
    }
    assert services == {
        "ubuntu": ["chrony.service", "systemd-timesyncd.service"],
        "rhel": ["chronyd.service"],
        "flatcar": ["systemd-timesyncd.service"],
    }


RELEASES = [
    ("ID=ubuntu\nID_LIKE=debian\n", False, 0, "chrony.service", "by name"),
    ('ID="eurolinux"\nID_LIKE="rhel fedora"\n', False, 0, "chronyd.service", "by what it is like"),
    ("ID=plan9\n", False, 1, "", "nobody knows it: a spec of Slipway's own gets what it asks for, or no node"),
    ("ID=plan9\n", True, 0, "", "an imported config does without, as today"),
    (None, True, 0, "", "a machine that does not say what it is"),
]


@pytest.mark.parametrize("row", RELEASES, ids=[row[-1] for row in RELEASES])
def test_the_machine_is_asked(tmp_path: Path, row: tuple[str | None, bool, int, str, str]) -> None:
    """With every client installed, the one of its own distribution is started, and no other."""
    release, imported, status, service, reason = row
    (tmp_path / "systemctl").write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/calls\n')
    (tmp_path / "systemctl").chmod(0o755)
    if release is not None:
        (tmp_path / "os-release").write_text(release)
    script = ntp_script(imported=imported)
    places = {f"/usr{TIMESYNCD}": "systemctl", TIMESYNCD: "systemctl", CHRONY: "systemctl", "/etc/chrony": "conf"}
    for path, name in {**places, "/usr/lib/os-release": "none", "/etc/os-release": "os-release"}.items():
        script = script.replace(path, str(tmp_path / name))
    script = script.replace("/etc/systemd/", f"{tmp_path}/units/")
    done = subprocess.run(["sh", "-c", script], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False)
    calls = (tmp_path / "calls").read_text().splitlines() if (tmp_path / "calls").exists() else []
    assert (done.returncode, calls) == (status, [f"enable {service}", f"restart {service}"] if service else []), reason


def test_what_needs_to_know_it_is_refused_with_the_way_to_state_it() -> None:
    """Both ways, by the spec and by the annotation of a foreign config."""
    (refusal,) = lowered(ospb.OperatingSystem(time_zone=ospb.TimeZone(name="Etc/UTC")))[1]
    assert refusal[0] == "os.time_zone"
    assert "the annotation bootstrap.slipway.dev/distribution" in refusal[1]


def test_disks_need_no_distribution() -> None:
    """The step stops where the program is not there; Ignition sets up such a machine today."""
    filesystem = ospb.Filesystem(device="/dev/sdb1", format="ext4", label="etcd")
    draft, refusals = lowered(ospb.OperatingSystem(filesystems=[filesystem]))
    assert not refusals
    (step,) = prepared_items(draft)
    assert isinstance(step, planpb.Step)
    assert b"mkfs.ext4" in content_bytes(step.command.script, SecretIndex([]))


NO_PROFILE = [
    TARGET,
    clusterpb.Target(os_family=clusterpb.OS_FAMILY_LINUX, distribution="acme", os_version="7"),
    clusterpb.Target(os_family=clusterpb.OS_FAMILY_LINUX, distribution="ubuntu", os_version="99.04"),
]
ASKED = [
    ospb.OperatingSystem(ntp=ospb.Ntp(servers=["ntp.example.com"])),
    ospb.OperatingSystem(filesystems=[ospb.Filesystem(device="/dev/sdb1", format="ext4", label="etcd")]),
    ospb.OperatingSystem(files=[ospb.File(path="/usr/local/a", append=True, mode=0o644, owner="root", group="root")]),
    ospb.OperatingSystem(mounts=[ospb.Mount(source="LABEL=a", path="/usr/local/a")]),
]


@pytest.mark.parametrize("target", NO_PROFILE, ids=["not stated", "without a profile", "of a newer version"])
@pytest.mark.parametrize("system", ASKED, ids=["ntp", "filesystems", "files", "mounts"])
def test_an_imported_config_is_not_asked_for_the_distribution(
    system: ospb.OperatingSystem, target: clusterpb.Target
) -> None:
    """Today's renderer takes it on every distribution: what is not there stops the step, as it does today."""
    draft, refusals = lowered(system, imported=True, target=target)
    assert not refusals
    assert draft.lowered
