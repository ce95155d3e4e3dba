"""Systems that have a format of their own: nobody renders user data that would set up nothing."""

import pytest

from slipway.bootstrapper.target import resolve
from slipway.contract.errors import UnsupportedTarget
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

LINUX = clusterpb.OS_FAMILY_LINUX


@pytest.mark.parametrize("distribution", ["bottlerocket", "kairos"])
def test_only_a_provisioner_of_its_own_takes_it(distribution: str) -> None:
    """The default target of its format says so; a format for other systems is refused, with that remedy."""
    target = clusterpb.Target(os_family=LINUX, distribution=distribution)
    general = provisionerpb.FormatInfo(format="cloud-config", os_families=[LINUX])
    with pytest.raises(UnsupportedTarget) as refused:
        resolve(target, general)
    (violation,) = refused.value.violations
    assert violation.path == "target.distribution"
    assert "register a provisioner whose default target is this distribution" in violation.remedy
    own = provisionerpb.FormatInfo(format="own", os_families=[LINUX], default_target=target)
    assert resolve(target, own)[0].distribution == distribution


def test_other_systems_are_free_to_be_anything() -> None:
    """Also those that nobody has looked up: a profile is asked for only where something is lowered by it."""
    general = provisionerpb.FormatInfo(format="cloud-config", os_families=[LINUX])
    assert resolve(clusterpb.Target(distribution="plan9"), general)[0].distribution == "plan9"
