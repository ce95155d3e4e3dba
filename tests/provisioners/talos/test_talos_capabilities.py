"""What the formats declare, against what the contract has and what the rendering does."""

import pytest

from slipway.contract.feature_uses import uses
from slipway.contract.features import feature_uses
from slipway.provisioners.talos.capabilities import formats
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tests.provisioners.talos import samples


def test_the_newest_version_comes_first():
    """The first format is the default, and a default that is old would age every cluster."""
    assert [info.format for info in formats()] == list(samples.FORMATS)
    assert all(info.kubernetes_input == provisionerpb.KUBERNETES_INPUT_INTENT for info in formats())
    assert all(info.verbatim and not info.secret_format and not info.accepts_gzip for info in formats())


@pytest.mark.parametrize("info", formats(), ids=lambda info: info.format)
def test_every_declared_feature_is_rendered_by_a_test(info):
    """A feature that no sample uses could be declared by mistake: each is in the sample that asks for everything."""
    full = samples.bundle(samples.ROLES[0], samples.everything(samples.ROLES[0]))
    full.extensions.add(id="talos.slipway.dev/patch", media_type="application/yaml")
    used = {use.id for use in feature_uses(full)}
    by_other_samples = {
        "kubernetes.role.control_plane",
        "kubernetes.role.worker",
        *(f"{name}.facts{fact}" for name in ("os.hostname", "kubernetes.node.name") for fact in samples.FACTS),
        *(f"kubernetes.control_plane.{addon}" for addon in samples.ADDON_PARTS),
        "kubernetes.etcd.local.image_repository",
    }
    assert {support.id for support in info.features} == used | by_other_samples


def test_workers_get_no_private_key_and_no_admin_certificate():
    """The declaration, not the bootstrapper's good will, is what keeps authorities off workers."""
    for secret in formats()[0].secrets:
        assert secret.name.startswith("talos.slipway.dev/")
        if secret.name.endswith(("/machine-ca", "/admin", "/secretbox")):
            assert "ROLE_WORKER" not in secret.full_roles


def test_a_worker_of_another_family_is_outside_the_bounds():
    """A Talos worker cannot join a control plane that kubeadm made."""
    bundle = samples.bundle(clusterpb.ROLE_WORKER, 'intent { cluster { control_plane: "kubeadm" } }')
    assert any(use.id == "kubernetes.cluster.control_plane" for use in uses(bundle))
    with pytest.raises(samples.UnsupportedFeature) as caught:
        samples.render(bundle)
    assert [violation.path for violation in caught.value.violations] == ["intent.cluster.control_plane"]
