"""Which of Jinja's names become facts in an imported config, and which cloud-init renders as it does today."""

import pytest

from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.bootstrapper.importers.carrying import carried

AWS = clusterpb.Target(infrastructure="aws")


@pytest.mark.parametrize("name", ["public_ipv4", "ipv6"])
def test_what_a_machine_may_lack_stays_jinja(name: str) -> None:
    """A private instance has no public address: it joins today, and a fact that is not there would stop it."""
    result = carried(
        f"postKubeadmCommands: ['echo {{{{ ds.meta_data.{name} }}}} > /run/address']", whole=True, target=AWS
    )
    (segments,) = [command.script.segments for command in result.spec.commands.post]
    assert [segment.WhichOneof("value") for segment in segments if segment.WhichOneof("value") != "text"] == [
        "template"
    ]


def test_what_every_machine_has_is_a_fact() -> None:
    """Other provisioners can have it, too."""
    result = carried("postKubeadmCommands: ['echo {{ ds.meta_data.local_ipv4 }}']", whole=True, target=AWS)
    (segments,) = [command.script.segments for command in result.spec.commands.post]
    assert "fact" in [segment.WhichOneof("value") for segment in segments]


@pytest.mark.parametrize("infrastructure", ["aws", "vsphere", "docker", ""])
def test_names_in_boot_commands_stay_jinja(infrastructure: str) -> None:
    """Today's provider takes them everywhere, and cloud-init alone knows the machine on every boot."""
    target = clusterpb.Target(infrastructure=infrastructure)
    for whole in (False, True):
        text = "bootCommands: ['echo {{ v1.local_hostname }} > /run/name']"
        (command,) = carried(text, whole=whole, target=target).spec.commands.boot
        assert "template" in [segment.WhichOneof("value") for segment in command.script.segments]
