"""Ignition configs as they are rendered, read back: what the tests of the provisioner look at."""

import base64
import gzip
import json
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest

from slipway.contract.errors import UnsupportedFeature
from slipway.provisioners.ignition.render import IgnitionProvisioner
from slipway.sdk import testing
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb

UNIT = "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"


SPECS = ["3.3.0", "3.4.0", "2.3.0"]


def config(of: bundlepb.BootstrapBundle | ospb.OperatingSystem, spec: str = "3.3.0") -> dict[str, Any]:
    """Render and read back."""
    of = of if isinstance(of, bundlepb.BootstrapBundle) else testing.bundle(of)
    return json.loads(testing.render(IgnitionProvisioner(), of, format_id=f"ignition/{spec}"))


def refusals(of: bundlepb.BootstrapBundle | ospb.OperatingSystem, spec: str = "3.3.0") -> list[str]:
    """Give the paths that are refused."""
    with pytest.raises(UnsupportedFeature) as caught:
        config(of, spec)
    return [violation.path for violation in caught.value.violations]


def content(resource: dict[str, Any]) -> bytes:
    """Give the bytes of a data URL as Ignition does."""
    head, _, data = resource["source"].partition(",")
    raw = base64.b64decode(data, validate=True) if head == "data:;base64" else unquote_to_bytes(data)
    assert head in {"data:", "data:;base64"}
    return gzip.decompress(raw) if resource.get("compression") == "gzip" else raw


def unit(of: bundlepb.BootstrapBundle | ospb.OperatingSystem, name: str) -> dict[str, Any]:
    """Give a unit by its name."""
    return next(entry for entry in config(of)["systemd"]["units"] if entry["name"] == name)


def storage_system(**mount: Any) -> ospb.OperatingSystem:
    return ospb.OperatingSystem(
        disks=[
            ospb.Disk(
                device="/dev/sdb",
                overwrite=True,
                partitions=[ospb.Partition(size_mib=100, label="a", type="swap"), ospb.Partition()],
            )
        ],
        filesystems=[
            ospb.Filesystem(device="/dev/sdb2", format="ext4", label="data", overwrite=True, options=["-m", "0"])
        ],
        mounts=[ospb.Mount(**({"source": "LABEL=data", "path": "/var/lib/my-data"} | mount))],
        files=[testing.file("/var/lib/my-data/x", b"y")],
        directories=[ospb.Directory(path="/var/lib/my-data", owner="root", group="root", mode=0o755)],
    )
