"""What nobody asked for: a provisioner's own means pass, and whatever else is there is named."""

import base64

import pytest
from google.protobuf.json_format import ParseDict

from slipway.conformance.surplus import surplus
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import bundle_pb2 as bundlepb

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
        ({"sysctls": [{"name": "vm.swappiness", "value": "1"}]}, "vm.swappiness", "a setting of the kernel"),
        ({"links": [{"path": "/etc/own", "target": "/opt/runner/run"}]}, "", "a link to what was asked for"),
        ({"links": [{"path": "/etc/own", "target": "/bin/true"}]}, "/etc/own", "another link"),
        ({"packages": {"install": [{"name": "netcat"}]}}, "netcat", "a package"),
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


@pytest.mark.parametrize(
    ("argv", "named", "reason"),
    [
        (["/bin/sh", "/opt/runner/run"], "", "the entry point"),
        (["sh", "-c", "/bin/sh '/opt/runner/run'"], "", "the entry point, as a text with quotes"),
        (["systemctl", "start", "--no-block", "start.service"], "", "what starts it"),
        (["systemctl", "daemon-reload"], "", "what every unit needs"),
        (["sh", "-c", "id"], "", "a command of the bundle"),
        (["sh", "-c", "id; true"], "command 0", "another one"),
        (["systemctl", "stop", "auditd"], "command 0", "what stops something"),
        (["/opt/own", "--all"], "", "what a unit of the bundle starts"),
    ],
)
def test_commands(argv: list[str], named: str, reason: str) -> None:
    """Whatever is started serves the bundle; its words are never told."""
    asked = {
        "os": {"systemdUnits": [{"name": "own.service", "contents": "[Service]\nExecStart=/opt/own --all\n"}]},
        "plan": {"entrypoint": {**_ENTRY, "commands": [{"segments": [{"text": "id"}]}]}},
    }
    state = ParseDict({"programs": [{"argv": argv}]}, statepb.MachineState())
    found = surplus(ParseDict(asked, bundlepb.BootstrapBundle()), state, windows=False)
    assert found == ([f"{named} is in the user data, and nothing of the bundle needs it"] if named else []), reason


@pytest.mark.parametrize(
    ("argv", "named", "reason"),
    [
        (["systemctl", "enable", "--now", "own-start.service"], "", "its unit by its name"),
        (["/usr/bin/systemctl", "enable", "--now", "own-start"], "", "its unit without the suffix"),
        (["systemctl", "enable", "--now", "auditd.service"], "command 0", "another unit"),
        (["curl", "own-start"], "command 0", "what only sounds like it"),
    ],
)
def test_units_among_the_files(argv: list[str], named: str, reason: str) -> None:
    """Commands call a unit by its name; that it is in a folder they do not say."""
    bundle = ParseDict({"plan": {"entrypoint": _ENTRY}}, bundlepb.BootstrapBundle())
    unit = _file("/etc/systemd/system/own-start.service", "[Service]\nExecStart=/bin/sh /opt/runner/run\n")
    state = ParseDict({"os": {"files": [unit]}, "programs": [{"argv": argv}]}, statepb.MachineState())
    assert named in " ".join(surplus(bundle, state, windows=False)), reason
    assert bool(named) == bool(surplus(bundle, state, windows=False)), reason


@pytest.mark.parametrize(("text", "named"), [("post: /opt/runner/run", ""), ("post: all", "phone_home")])
def test_what_has_no_place(text: str, named: str) -> None:
    """A part of user data that no field of the state can hold has to do with the bundle, or is named."""
    bundle = ParseDict({"plan": {"entrypoint": _ENTRY}}, bundlepb.BootstrapBundle())
    state = ParseDict({"others": [{"name": "phone_home", "text": text}]}, statepb.MachineState())
    assert named in " ".join(surplus(bundle, state, windows=False))
    assert bool(named) == bool(surplus(bundle, state, windows=False))
