"""A new operating system takes a control plane's template for AWS: its provisioner brings no more than a profile."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slipway.contract.content import SecretIndex, content_bytes
from slipway.contract.errors import SlipwayError
from slipway.embedded.provisioners import EmbeddedProvisioners
from slipway.sdk import Provisioner, RenderContext, UserData
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tests.bootstrapper.asking import asked, bootstrapper, found
from tests.bootstrapper.os_profiles.test_declared_profiles import EVERYTHING, profile, target

TEMPLATE = Path("examples/cluster-aws.yaml")
_FEATURES = (
    "bundle.lowered", "kubernetes.plan", "os.files", "os.files.owner", "os.systemd.units", "plan.entrypoint",
    "plan.entrypoint.after_units",
)  # fmt: skip


_PROGRAMS = ["useradd", "groupadd", "usermod", "passwd", "chpasswd", "gpasswd"]


def accounts(*lacking: str) -> dict[str, Any]:
    """Give how users are made there, without some of the programs for that."""
    programs = [program for program in _PROGRAMS if program not in lacking]
    return {"programs": programs, "sudo_directory": "/etc/sudoers.d", "administrators": "wheel"}


class Harbour(Provisioner):
    """Writes files and starts the entry point, and takes nothing else."""

    name, version, documentation_url = "harbour", "1.0.0", ""

    def __init__(self, **version: Any) -> None:
        self._version = EVERYTHING | {"accounts": accounts()} | version

    def formats(self) -> Sequence[provisionerpb.FormatInfo]:
        format_ = provisionerpb.FormatInfo(
            format="harbour",
            media_type="application/json",
            kubernetes_input=provisionerpb.KUBERNETES_INPUT_PLAN,
            os_families=[clusterpb.OS_FAMILY_LINUX],
            default_target=target(),
            os_profiles=[profile(self._version)],
        )
        for feature in _FEATURES:
            format_.features.add(id=feature)
        return [format_]

    def render(self, bundle: bundlepb.BootstrapBundle, _target: clusterpb.Target, _ctx: RenderContext) -> UserData:
        secrets = SecretIndex(bundle.secrets.secrets)
        files = {file.path: content_bytes(file.content, secrets).decode() for file in bundle.os.files}
        return UserData(json.dumps(files).encode())


async def control_plane(provisioner: Harbour) -> dict[str, str]:
    """Render the template's first control plane for the new system; give the files of the machine by path."""
    question = next(machine for machine in found(TEMPLATE) if machine.subject.machine.role == clusterpb.ROLE_INIT)
    question.subject.spec.target.distribution = "harbouros"
    question.subject.spec.target.ClearField("os_version")
    whole = replace(bootstrapper(), provisioners=EmbeddedProvisioners([provisioner]))
    answer = await whole.user_data(asked(question, "harbour"))
    files: dict[str, str] = json.loads(answer.user_data)
    return files


async def test_the_control_plane_of_a_template() -> None:
    """Its disk, filesystem and mount, its users and time servers are steps made of the declared tools."""
    whole = "\n".join((await control_plane(Harbour())).values())
    for program in ("sfdisk", "mkfs.ext4", "useradd", "/usr/sbin/chronyd", "kubeadm"):
        assert program in whole
    assert "LABEL=etcd_disk" in whole


@pytest.mark.parametrize(
    ("lacking", "feature", "path"),
    [
        ({"filesystems": ["xfs"]}, "os.storage.filesystems", "spec.kubeadmConfigSpec.diskSetup.filesystems[0]"),
        ({"accounts": accounts("usermod")}, "os.users", "spec.kubeadmConfigSpec.users[0]"),
    ],
)
async def test_a_system_that_lacks_a_program(lacking: dict[str, Any], feature: str, path: str) -> None:
    """What cannot be made there is refused at its place in the template, and not left out."""
    with pytest.raises(SlipwayError) as refused:
        await control_plane(Harbour(**lacking))
    assert refused.value.metadata["features"] == feature
    assert [violation.path.rpartition(": ")[2] for violation in refused.value.violations] == [path]
