"""Units of the bundle, and the one that starts the entry point."""

from typing import Any

import pytest

from slipway.sdk import testing
from slipway.v1alpha1 import os_pb2 as ospb
from tests.provisioners.ignition.configs import UNIT, config, refusals, unit


def test_the_entry_point_follows_its_units_and_drop_ins() -> None:
    """Name, units to wait for and drop-ins are those of the plan."""
    of = testing.bundle()
    of.plan.entrypoint.unit_name = "join.service"
    of.plan.entrypoint.after_units.extend(["containerd.service", "coreos-metadata.service"])
    of.plan.entrypoint.drop_ins.add(name="10.conf", contents="[Service]\nEnvironment=A=b\n")
    seen = unit(of, "join.service")
    assert "After=network-online.target containerd.service coreos-metadata.service\n" in seen["contents"]
    assert "Requires=containerd.service coreos-metadata.service\n" in seen["contents"]
    assert seen["dropins"] == [{"name": "10.conf", "contents": "[Service]\nEnvironment=A=b\n"}]


def test_units() -> None:
    """The bundle's units come as they are; what is not said is left to the image."""
    system = ospb.OperatingSystem(
        systemd_units=[
            ospb.SystemdUnit(name="a.service", contents=UNIT, enabled=True),
            ospb.SystemdUnit(name="b.service", enabled=False),
            ospb.SystemdUnit(name="c.service", masked=True),
            ospb.SystemdUnit(name="d.service", drop_ins=[{"name": "x.conf", "contents": "[Service]\nA=b\n"}]),
        ]
    )
    assert config(system)["systemd"]["units"][:-1] == [
        {"name": "a.service", "enabled": True, "contents": UNIT},
        {"name": "b.service", "enabled": False},
        {"name": "c.service", "mask": True},
        {"name": "d.service", "dropins": [{"name": "x.conf", "contents": "[Service]\nA=b\n"}]},
    ]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": "a.service", "contents": "[Service]\nA=b\n", "enabled": True}, "enabling needs [Install]"),
        ({"name": "a.service", "contents": "nonsense", "enabled": False}, "Ignition fails the boot over it"),
        ({"name": "a.service", "drop_ins": [{"name": "a.conf", "contents": "[Service"}]}, "the same in a drop-in"),
        ({"name": "a.service", "contents": UNIT, "masked": True}, "both write the same path"),
        ({"name": "slipway-bootstrap.service", "enabled": True}, "the entry point's own name"),
    ],
)
def test_units_that_are_refused(fields: dict[str, Any], reason: str) -> None:
    """A unit that Ignition would not bring into effect is refused."""
    system = ospb.OperatingSystem(
        systemd_units=[ospb.SystemdUnit(**fields)], mounts=[ospb.Mount(source="LABEL=x", path="/srv/x")]
    )
    assert refusals(system) == ["os.systemd_units[0]"], reason
