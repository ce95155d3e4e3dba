"""The kubeadm provider's own renderer: both formats, all roles, both API versions, and what it refuses."""

import json

import pytest
import yaml

from tools.oracles import cloud_init, fakes, finding, ignition, kubeadm_provider
from tools.oracles.failures import EngineBroken
from tools.oracles.kubeadm_provider import ClusterFacts, Role

pytestmark = pytest.mark.engine

PKI = {name: f"PEM of {name}\n" for name in ("ca.crt", "ca.key", "sa.pub", "sa.key", "etcd/ca.crt", "etcd/ca.key")}
PKI |= {name: f"PEM of {name}\n" for name in ("front-proxy-ca.crt", "front-proxy-ca.key")}
FACTS = ClusterFacts(kubernetes_version="v1.34.3", cluster_name="c", control_plane_endpoint="192.0.2.9:6443", pki=PKI)
DISCOVERY = {"bootstrapToken": {"token": "abcdef.0123456789abcdef", "apiServerEndpoint": "192.0.2.9:6443"}}
SPEC = {
    "preKubeadmCommands": ["echo pre"],
    "joinConfiguration": {"discovery": DISCOVERY},
    "files": [{"path": "/etc/val/a.conf", "content": "hello\n", "permissions": "0640"}],
}


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("api_version", ["v1beta1", "v1beta2"])
def test_cloud_config_for_each_role(engine, role, api_version):
    """Every role renders; the certificates of the role, the user's file and the kubeadm command are in it."""
    engine("kubeadm-provider")
    made = kubeadm_provider.render(SPEC, role=role, facts=FACTS, api_version=api_version, ignition=False)
    document = yaml.safe_load(made)
    paths = {entry["path"] for entry in document["write_files"]}
    assert "/etc/val/a.conf" in paths
    assert ("/etc/kubernetes/pki/ca.key" in paths) == (role is not Role.WORKER)
    verb = "init" if role is Role.INIT else "join"
    assert any(f"kubeadm {verb}" in str(command) for command in document["runcmd"])


def test_rendered_machine_boots(engine):
    """Today's user data is taken by real cloud-init, which runs kubeadm and writes the sentinel."""
    engine("kubeadm-provider", "root-trixie")
    made = kubeadm_provider.render(SPEC, role=Role.WORKER, facts=FACTS, ignition=False)
    state = cloud_init.run(made, extra_files=fakes.command("kubeadm"))
    assert [call.argv[1] for call in state.calls] == ["join"]
    assert state.content("/etc/val/a.conf") == b"hello\n"
    assert "/run/cluster-api/bootstrap-success.complete" in state.run


def test_rendered_ignition_runs(engine):
    """Today's Ignition is of spec 2.3, and runs after its own translation."""
    engine("kubeadm-provider", "ignition")
    made = kubeadm_provider.render(SPEC, role=Role.WORKER, facts=FACTS, ignition=True)
    assert json.loads(made)["ignition"]["version"] == "2.3.0"
    assert finding.errors(ignition.validate(made)) == []
    state = ignition.run(made)
    assert state.content("/etc/val/a.conf") == b"hello\n"
    assert "kubeadm.service (multi-user.target.wants)" in state.enabled_units


@pytest.mark.parametrize(
    ("spec", "api_version", "reason"),
    [({"files": "none"}, "v1beta2", "a wrong type"), ({}, "v1beta3", "an API version that does not exist")],
)
def test_refused(engine, spec, api_version, reason):
    """What the renderer cannot read is an error, not an empty document."""
    engine("kubeadm-provider")
    with pytest.raises(EngineBroken):
        kubeadm_provider.render(spec, role=Role.WORKER, facts=FACTS, api_version=api_version)
