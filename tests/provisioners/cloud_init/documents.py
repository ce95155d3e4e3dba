"""cloud-config documents as they are rendered, read back as cloud-init does: what the tests look at."""

import base64
from typing import Any

import pytest
import yaml

from slipway.contract.errors import UnsupportedFeature
from slipway.provisioners.cloud_init.render import CloudInit
from slipway.sdk import testing
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb

RAW = """{% raw %} {{ x }} ${#a[@]} {# no comment #} {%- if %}"""


def document(of: bundlepb.BootstrapBundle | ospb.OperatingSystem) -> dict[str, Any]:
    """Render and read back."""
    of = of if isinstance(of, bundlepb.BootstrapBundle) else testing.bundle(of)
    return yaml.safe_load(testing.render(CloudInit(), of))


def refusals(of: bundlepb.BootstrapBundle | ospb.OperatingSystem) -> list[str]:
    """Give the paths that are refused."""
    with pytest.raises(UnsupportedFeature) as caught:
        document(of)
    return [violation.path for violation in caught.value.violations]


def entries(system: ospb.OperatingSystem, **kwargs: Any) -> list[dict[str, Any]]:
    """Render, read it back as cloud-init does, and give write_files without the entry point's own."""
    user_data = testing.render(CloudInit(), testing.bundle(system, **kwargs))
    assert user_data.startswith(b"#cloud-config\n")
    return yaml.safe_load(user_data)["write_files"][:-1]


def content(entry: dict[str, Any]) -> bytes:
    """Give what cloud-init would write for an entry."""
    if entry.get("encoding") == "b64":
        return base64.b64decode(entry["content"], validate=True)
    assert "encoding" not in entry
    return entry.get("content", "").encode()


def last_entry(data: bytes, **kwargs: Any) -> dict[str, Any]:
    """Render one file and give its last entry."""
    return entries(ospb.OperatingSystem(files=[testing.file("/etc/a", data, **kwargs)]))[-1]
