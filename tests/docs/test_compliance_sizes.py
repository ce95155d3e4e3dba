"""The figures of profiles are those of user data, for each of them and for each format that can have one."""

import pytest

from slipway.bootstrapper.compliance.profile_table import profile_ids
from tools.docgen.compliance_sizes import costs, size_section

pytestmark = pytest.mark.long

EC2 = 16_384


def test_each_profile_has_figures() -> None:
    """Per format and machine there is one without profiles, which is the smallest, and one with each."""
    measured = costs()
    machines = {key[:2] for key in measured}
    assert measured.keys() == {(*machine, profile) for machine in machines for profile in ("", *profile_ids())}
    for (provisioner, role, profile), cost in measured.items():
        plain = measured[provisioner, role, ""]
        assert (cost.raw > plain.raw) is bool(profile), (provisioner, role, profile)
        assert cost.compressed < cost.raw
        assert cost.format == plain.format
    assert size_section().count("\n| ") == len(measured) + 2


def test_what_ec2_gets_follows_from_the_figures() -> None:
    """Plain where it fits, compressed by cloud-init alone where only that fits, and never more than the limit."""
    for (provisioner, role, profile), cost in costs().items():
        fits = [cost.raw <= EC2, cost.compressed <= EC2 and provisioner == "cloud-init", True]
        expected = ("inline", "inline, gzip", "refused; `Fetch`")[fits.index(True)]
        assert cost.delivery == expected, (provisioner, role, profile)
    assert len({cost.delivery for cost in costs().values()}) == 3
