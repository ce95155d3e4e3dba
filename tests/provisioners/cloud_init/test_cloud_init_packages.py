"""Packages: what cloud-init's module would do otherwise than it is told is not taken natively."""

from slipway.contract.features import unsupported
from slipway.provisioners.cloud_init.features import cloud_config
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb


def outside(packages: ospb.Packages) -> list[str]:
    """Give the paths that the format does not take."""
    bundle = bundlepb.BootstrapBundle(os=ospb.OperatingSystem(packages=packages))
    return [feature.use.path for feature in unsupported(bundle, cloud_config().features)]


def test_an_index_that_must_not_be_refreshed_is_lowered() -> None:
    """cloud-init refreshes it before every installation; `package_update: false` does not keep it from that."""
    assert outside(ospb.Packages(update=False)) == ["os.packages.update"]
    assert outside(ospb.Packages(update=True)) == []
    assert outside(ospb.Packages(upgrade=False)) == []
