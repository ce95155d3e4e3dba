"""An imported config works on distributions without an OS profile, as it does today."""

from typing import Any

import pytest

from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.bootstrapper.importers.test_blame import FORMATS, imported, refusals

CONFIG: dict[str, Any] = {
    "users": [{"name": "ann", "inactive": True}],
    "ntp": {"servers": ["ntp.example.com"]},
    "files": [{"path": "/usr/local/etc/a", "append": True, "content": "a"}],
    "mounts": [["LABEL=a", "/usr/local/a"]],
}
SYSTEMS = {
    "not stated": clusterpb.Target(),
    "without a profile": clusterpb.Target(distribution="acme", os_version="7"),
    "newer than its profiles": clusterpb.Target(distribution="ubuntu", os_version="99.04"),
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("system", SYSTEMS)
async def test_nothing_needs_a_profile(form: str, system: str) -> None:
    """Whatever the config's own renderer takes today; that an account is not ended is a warning."""
    result = imported({"format": form, **CONFIG}, "v1beta2", clusterpb.ROLE_WORKER)
    result.spec.target.MergeFrom(SYSTEMS[system])
    assert await refusals(result, clusterpb.ROLE_WORKER, FORMATS[form]) == ()
