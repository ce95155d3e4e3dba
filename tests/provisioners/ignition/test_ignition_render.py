"""The config as a whole: its version, its features, and what it is when nothing is asked for."""

import pytest

from slipway.contract.errors import SlipwayError
from slipway.contract.feature_uses import uses
from slipway.provisioners.ignition.render import IgnitionProvisioner
from slipway.sdk import ProvisionerCore, testing
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb
from tests.provisioners.ignition.configs import SPECS, config, refusals, storage_system


def test_an_empty_bundle_starts_the_entry_point_and_nothing_else() -> None:
    """The unit waits for the network, starts on every boot, and has what enabling needs."""
    assert config(testing.bundle()) == {
        "ignition": {"version": "3.3.0"},
        "passwd": {},
        "storage": {},
        "systemd": {
            "units": [
                {
                    "name": "slipway-bootstrap.service",
                    "enabled": True,
                    "contents": "[Unit]\n"
                    "Description=Bootstrap of this machine\n"
                    "Wants=network-online.target\n"
                    "After=network-online.target\n"
                    "[Service]\n"
                    "Type=oneshot\n"
                    "RemainAfterExit=yes\n"
                    "ExecStart=sh /etc/slipway/run\n"
                    "[Install]\n"
                    "WantedBy=multi-user.target\n",
                }
            ]
        },
    }


def test_kernel_arguments() -> None:
    """Spec 3.3 knows them, spec 2 does not."""
    arguments = [ospb.KernelArgument(argument="a=b"), ospb.KernelArgument(argument="quiet", absent=True)]
    system = ospb.OperatingSystem(kernel_arguments=arguments)
    assert config(system)["kernelArguments"] == {"shouldExist": ["a=b"], "shouldNotExist": ["quiet"]}
    assert "os.kernel_arguments[0]" in refusals(system, "2.3.0")


@pytest.mark.parametrize("spec", SPECS)
def test_the_version_is_that_of_the_format(spec: str) -> None:
    """The format that was asked for is the one that comes."""
    assert config(testing.bundle(), spec)["ignition"]["version"] == spec


@pytest.mark.parametrize("spec", SPECS)
def test_whatever_is_set_is_rendered_or_refused(spec: str) -> None:
    """With any one field set, even a nonsensical one, the answer is user data or an error with a reason."""
    info = next(info for info in IgnitionProvisioner().formats() if info.format == f"ignition/{spec}")
    declared = {support.id for support in info.features}
    core = ProvisionerCore(IgnitionProvisioner())
    outcomes = {"rendered": 0, "refused": 0}
    for of in testing.one_field_bundles():
        undeclared = {use.id for use in uses(of)} - declared
        try:
            core.render_now(testing.request(IgnitionProvisioner(), of, format_id=info.format))
        except SlipwayError:
            outcomes["refused"] += 1
        else:
            outcomes["rendered"] += 1
            assert not undeclared
    assert min(outcomes.values()) > 50


def test_every_declared_feature_exists() -> None:
    """An id that no field gives would be a promise about nothing."""
    declared = {support.id for info in IgnitionProvisioner().formats() for support in info.features}
    known = {use.id for of in testing.one_field_bundles() for use in uses(of)}
    assert declared - known == {"ext.ignition.slipway.dev/config"}


def test_rendering_is_deterministic() -> None:
    """The same request gives the same bytes, also from a bundle that was sent and read again."""
    again = testing.bundle(storage_system())
    again = bundlepb.BootstrapBundle.FromString(again.SerializeToString())
    assert config(again) == config(storage_system())
    assert testing.render(IgnitionProvisioner(), again) == testing.render(
        IgnitionProvisioner(), testing.bundle(storage_system())
    )
