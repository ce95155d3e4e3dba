"""Commands that know one format's files only bind the config to that format."""

import pytest

from slipway.bootstrapper.importers.mapping.commands import binds

COMMANDS = [
    ("sed -i s/a/b/ /run/kubeadm/kubeadm.yaml", "cloud-config", True),
    ("sed -i s/a/b/ /run/kubeadm/kubeadm.yaml", "ignition", False),
    ("cat x >> /etc/kubeadm.yml", "ignition", True),
    ("test -f /etc/kubeadm.sh", "ignition", True),
    ("cp /run/kubeadm/kubeadm-join-config.yaml /tmp", "cloud-config", True),
    ("test -f /run/kubeadm/kubeadm.yaml || test -f /etc/kubeadm.sh", "ignition", False),
    ("test -f /run/kubeadm/kubeadm.yaml || test -f /etc/kubeadm.sh", "cloud-config", False),
    ("cat /etc/kubeadm.yml.d/x", "ignition", True),
    ("cat /etc/kubeadm.ymlx /var/etc/kubeadm.yml", "ignition", False),
    ("kubeadm version", "ignition", False),
]


@pytest.mark.parametrize(("command", "format_name", "bound"), COMMANDS)
def test_commands_bind_by_the_files_that_they_name(command: str, format_name: str, bound: object) -> None:
    """A command that names files of its own format, and of no other, binds."""
    assert binds(command, format_name) is bound
