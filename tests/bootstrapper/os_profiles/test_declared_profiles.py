"""A provisioner brings the profile of its operating system; it counts for the machines that it renders."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from google.protobuf.json_format import ParseDict

from slipway.bootstrapper.os_profiles import ProfileTable
from slipway.bootstrapper.os_profiles.declared import declared_table, find_profile
from slipway.contract.content import SecretIndex, content_bytes
from slipway.contract.errors import UnsupportedTarget
from slipway.embedded.bootstrapper import compiler
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_profile_pb2 as profilepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

LINUX = clusterpb.OS_FAMILY_LINUX
EVERYTHING = {
    "version": "20",
    "read_only_usr": True,
    "image_based": True,
    "systemd_directory": "/etc/systemd/system",
    "writable": ["/usr/local"],
    "accounts": {
        "programs": ["useradd", "groupadd"],
        "sudo_directory": "/etc/sudoers.d",
        "administrators": "wheel",
        "further_key_files": ["authorized_keys2"],
    },
    "certificates": {"directory": "/etc/pki/anchors", "suffix": ".pem", "update": ["update-ca-trust", "extract"]},
    "packages": "zypper",
    "ntp": [
        {
            "program": "chrony",
            "executable": "/usr/sbin/chronyd",
            "service": "chronyd.service",
            "configuration": "/etc/c",
        }
    ],
    "containerd": {
        "service": "containerd.service",
        "configuration": "/etc/containerd/config.toml",
        "configuration_version": 3,
        "registries": "/etc/containerd/certs.d",
        "environment": [{"name": "CONTAINERD_CONFIG", "value": "/etc/containerd/config.toml"}],
    },
    "kubelet": {"service": "kubelet.service", "drop_in_directory": "/etc/systemd/system/kubelet.service.d"},
    "time_zones": {"database": "/usr/share/zoneinfo", "name_file": "/etc/timezone"},
    "filesystems": ["ext4", "swap"],
}


def profile(*versions: dict[str, Any], distribution: str = "harbouros", default: str = "20") -> profilepb.OsProfile:
    """Give a profile as a provisioner declares it."""
    tree = {"distribution": distribution, "os_family": "OS_FAMILY_LINUX", "default_version": default}
    return ParseDict({**tree, "versions": list(versions or (EVERYTHING,))}, profilepb.OsProfile())


def info(*profiles: profilepb.OsProfile) -> provisionerpb.FormatInfo:
    """Give a format that declares profiles."""
    return provisionerpb.FormatInfo(format="harbour", os_families=[LINUX], os_profiles=profiles)


def target(distribution: str = "harbouros", version: str = "") -> clusterpb.Target:
    """Give the target of a machine."""
    return clusterpb.Target(os_family=LINUX, distribution=distribution, os_version=version or None)


def test_every_key_arrives() -> None:
    """What the message has a field for is in the row; a field that nothing reads would be missed here."""
    row = find_profile(ProfileTable.shipped(), target(), info(profile()))
    dumped = row.model_dump(mode="json")
    assert dumped.pop("distribution") == "harbouros"
    assert dumped.pop("directory") is None  # A provisioner's profile has no field for it: the operator's own has.
    wanted = {**EVERYTHING, "containerd": {**EVERYTHING["containerd"]}}  # type: ignore[dict-item]
    wanted["containerd"]["environment"] = {"CONTAINERD_CONFIG": "/etc/containerd/config.toml"}  # type: ignore[index]
    assert yaml.safe_dump(dumped) == yaml.safe_dump(wanted)
    names = {field.name for field in profilepb.OsVersion.DESCRIPTOR.fields}
    assert names == EVERYTHING.keys()


@pytest.mark.parametrize(
    ("version", "row", "reason"),
    [
        ("", "20", "the default"),
        ("20.3", "20", "a later part"),
        ("19", "19", "another one"),
        ("20251120", "", "rolling"),
    ],
)
def test_versions_are_found_as_in_a_file(version: str, row: str, reason: str) -> None:
    """By their first parts; an empty version stands for all others."""
    rows = [EVERYTHING, {"version": "19"}, {"version": ""}]
    assert find_profile(ProfileTable.shipped(), target(version=version), info(profile(*rows))).version == row, reason


def test_it_replaces_nothing(tmp_path: Path) -> None:
    """Slipway's own and the operator's profiles come first, whatever a provisioner says of their distributions."""
    declared = info(profile(distribution="debian"), profile(distribution="house"))
    own = {
        "os_family": "Linux",
        "profile": {},
        "distributions": {"house": {"default_version": "1", "versions": {"1": {}}}},
    }
    (tmp_path / "house.yaml").write_text(yaml.safe_dump(own), encoding="utf-8")
    table = ProfileTable.extended(tmp_path)
    assert find_profile(table, target("debian"), declared).version == "12"
    assert find_profile(table, target("house"), declared).version == "1"
    with pytest.raises(UnsupportedTarget):
        find_profile(table, target("house", "20"), declared)


def test_it_is_of_one_format() -> None:
    """Another provisioner's machines have no such profile, and an operator can refuse all of them."""
    table = ProfileTable.shipped()
    for other in (info(), info(profile(distribution="quayos")), None):
        with pytest.raises(UnsupportedTarget):
            find_profile(table, target(), other)


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ({"version": "20", "systemd_directory": "etc/systemd"}, "a relative path"),
        ({"version": "20", "packages": "portage"}, "a package manager that no pass knows"),
        ({"version": "20", "accounts": {"administrators": "wheel"}}, "no programs"),
        ({"version": "21"}, "the default version is missing"),
    ],
)
def test_a_wrong_one_is_none(version: dict[str, Any], reason: str) -> None:
    """It is left out as a whole; nothing of it is guessed."""
    assert "harbouros" not in declared_table([profile(version)]), reason


@pytest.mark.parametrize("allowed", [True, False])
def test_a_machine_is_lowered_by_it(*, allowed: bool) -> None:
    """What the format does not take becomes steps by the declared paths, unless the operator refuses such profiles."""
    neutral = bundlepb.BootstrapBundle(id="b")
    neutral.machine.target.CopyFrom(target())
    neutral.plan.SetInParent()
    neutral.os.time_zone.name = "Europe/Berlin"
    served = info(profile())
    served.kubernetes_input = provisionerpb.KUBERNETES_INPUT_PLAN
    for feature in ("os.files", "plan.entrypoint"):
        served.features.add(id=feature)
    compiled = replace(compiler(), takes_declared_profiles=allowed).compile(neutral, served)
    if not allowed:
        assert [refusal.feature for refusal in compiled.refusals] == ["os.time_zone"]
        return
    assert compiled.refusals == []
    scripts = b"".join(content_bytes(file.content, SecretIndex([])) for file in compiled.bundle.os.files)
    assert b"/etc/timezone" in scripts
