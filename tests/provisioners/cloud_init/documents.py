"""cloud-config documents as they are rendered, read back: what the tests of the provisioner look at."""

from typing import Any

import pytest
import yaml

from slipway.contract.errors import UnsupportedFeature
from slipway.provisioners.cloud_init.render import CloudInit
from slipway.sdk import testing
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb


def document(of: bundlepb.BootstrapBundle | ospb.OperatingSystem) -> dict[str, Any]:
    """Render and read back."""
    of = of if isinstance(of, bundlepb.BootstrapBundle) else testing.bundle(of)
    return yaml.safe_load(testing.render(CloudInit(), of))


def refusals(of: bundlepb.BootstrapBundle | ospb.OperatingSystem) -> list[str]:
    """Give the paths that are refused."""
    with pytest.raises(UnsupportedFeature) as caught:
        document(of)
    return [violation.path for violation in caught.value.violations]
