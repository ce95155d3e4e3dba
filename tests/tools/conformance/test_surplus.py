"""What nobody asked for: a provisioner's own means pass, and whatever else is there is named."""

import base64

import pytest
from google.protobuf.json_format import ParseDict

from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from tools.conformance.surplus import surplus

_ENTRY = {"unitName": "start.service", "argv": ["/bin/sh", "/opt/runner/run"]}


def _file(path: str, text: str) -> dict:
    return {"path": path, "content": {"data": base64.b64encode(text.encode()).decode()}}


@pytest.mark.parametrize(
    ("state", "named", "reason"),
    [
        ({"files": [{"path": "/opt/runner/run"}]}, "", "a file of the bundle"),
        ({"files": [_file("/etc/a", "exec /opt/runner/run\n")]}, "", "what starts the program"),
        ({"files": [_file("/etc/start.service.d/a", "")]}, "", "what is called as the bundle says"),
        (
            {"files": [_file("/opt/own/help", "x"), _file("/etc/a", "/opt/own/help /opt/runner/run\n")]},
            "", "what the starter names",
        ),
        (
            {"files": [_file("/opt/own/help", "/opt/runner/run"), _file("/etc/a", "/opt/own/help\n")]},
            "", "what names the starter",
        ),
        ({"files": [_file("/etc/cron.d/a", "* * * * * root id\n")]}, "/etc/cron.d/a", "a job"),
        ({"files": [_file("/etc/cron.d/a", "* * * * * root /bin/sh -c id\n")]}, "/etc/cron.d/a", "a shell is common"),
        ({"systemdUnits": [{"name": "a.service", "enabled": True}]}, "a.service", "a unit"),
        ({"systemdUnits": [{"name": "start.service", "enabled": True}]}, "", "the unit of the entry point"),
        ({"disks": [{"device": "/dev/sdz"}]}, "disks", "a disk"),
        ({"trustedCertificates": [{"name": "a"}]}, "trusted_certificates", "an authority"),
    ],
)  # fmt: skip
def test_surplus(state: dict, named: str, reason: str) -> None:
    """What carries the bundle out says so itself."""
    asked = {"os": {"files": [{"path": "/opt/runner/run"}]}, "plan": {"entrypoint": _ENTRY}}
    bundle = ParseDict(asked, bundlepb.BootstrapBundle())
    found = surplus(bundle, ParseDict({"os": state}, statepb.MachineState()), windows=False)
    assert bool(found) == bool(named), reason
    assert named in " ".join(found), reason


def test_paths_of_windows() -> None:
    """A path is the same with either slash, in any case."""
    bundle = bundlepb.BootstrapBundle()
    bundle.os.files.add(path="C:/Runner/run")
    state = statepb.MachineState()
    state.os.files.add(path="c:\\runner\\RUN")
    assert surplus(bundle, state, windows=True) == []
    assert surplus(bundle, state, windows=False) != []
