"""The suite has machines booted with user data: by the real first-boot systems, and by programs that get it wrong."""

import sys
from collections.abc import Callable

import pytest

from slipway.conformance.opening import opened
from slipway.conformance.options import Options
from slipway.conformance.run import Wanted, conformance
from slipway.conformance.runner import Ending, Result, result
from slipway.conformance.v1alpha1 import report_pb2 as reportpb
from tests.services.conformance.bent import InProcess
from tests.services.conformance.runs import CHECKS, QUICK

CHECK = "RND-018.booted"
# Boots with a document of the bent provisioner, which is cloud-config without anything that needs a machine.
_MACHINE = """
import base64, json, os, sys, yaml
document = yaml.safe_load(open("user-data", encoding="utf-8"))
paths = open("paths", encoding="utf-8").read().splitlines()
files = {}
for file in document.get("write_files", []):
    content = file.get("content", "")
    data = base64.b64decode(content) if file.get("encoding") == "b64" else content.encode()
    owner, _, group = file.get("owner", "root:root").partition(":")
    files[file["path"]] = {"path": file["path"], "mode": int(str(file.get("permissions", "0644")), 8),
                           "owner": owner, "group": group, "content": {"data": base64.b64encode(data).decode()}}
"""
_END = 'json.dump({"features": ["os.files"], "os": {"files": list(files.values())}}, sys.stdout)\n'


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("name", "unknown"), [("cloud-init", []), ("ignition", ["ignition/3.4.0"])])
async def test_a_real_machine_is_the_judge(engine: Callable[..., None], name: str, unknown: list[str]) -> None:
    """cloud-init and Ignition set up a machine, systemd starts the program, and the suite sees both.

    The Ignition of the machine knows specifications up to 3.3; what was not booted is not reported as right.
    """
    engine("root-trixie", "ignition")
    start = (sys.executable, "-m", f"slipway.provisioners.{name.replace('-', '_')}")
    command = (sys.executable, "-m", "tools.oracles.boot_command")
    options = Options(insecure=True, start_cmd=start, boot_cmd=command)
    made = await conformance(options, wanted=Wanted(only=(CHECK,)))
    problems = [text for finding in made.findings for text in finding.found]
    assert [text.partition(": ")[0] for text in problems] == unknown
    assert all("--boot-cmd does not serve this format: the ignition here is older" in text for text in problems)
    assert {finding.state for finding in made.findings} <= {reportpb.FINDING_STATE_UNVERIFIED}
    assert list(made.passed) == ([] if unknown else [CHECK])


async def booted(source: str) -> Result:
    """Run the check with a program as the machine."""
    command = (sys.executable, "-c", source)
    options = Options(insecure=True, patience=QUICK, boot_cmd=command, boot_seconds=20)
    async with opened(options, launcher=InProcess(None)) as session:
        return await result(session, CHECKS[CHECK])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (f"{_MACHINE}{_END}", "the program did not run"),
        (f"{_MACHINE}del files[paths[1]]\n{_END}", "is not in the user data as the bundle says it"),
        ("import sys\nsys.exit('the disk is full')\n", "--boot-cmd ended with exit code 1: the disk is full"),
        ("import os\nos.kill(os.getpid(), 9)\n", "--boot-cmd ended with exit code -9"),
        ("print('booted')\n", "--boot-cmd did not write a MachineState as JSON"),
    ],
)
async def test_what_a_machine_lacks_is_named(source: str, expected: str) -> None:
    """A file that is missing, a program that did not run, a machine that does not boot: each is a failure."""
    ended = await booted(source)
    assert ended.ending is Ending.FAILED
    assert expected in " ".join(ended.found)


async def test_no_machine_is_no_failure() -> None:
    """Without the option the check is not run, and says what it needs."""
    async with opened(Options(insecure=True, patience=QUICK), launcher=InProcess(None)) as session:
        ended = await result(session, CHECKS[CHECK])
    assert (ended.ending, ended.found) == (Ending.NOT_RUN, ("it needs --boot-cmd",))
