"""Programs that answer, or fail to, as processes of their own; and cores around them."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from slipway.contract.features import compute_features
from slipway.program_provisioner.core import ProgramCore, ask_who_it_is
from slipway.program_provisioner.long_lived import LongLived
from slipway.program_provisioner.processes import Limits, ProcessPerCall, Program
from slipway.program_provisioner.wire import JsonWire, Wire
from slipway.sdk import testing
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

T = TypeVar("T")
SECRET = b"correct-horse-battery"
QUICK = Limits(seconds=5, answer_bytes=65536, processes=2)

_ONCE = """
import base64, json, os, sys, time
call, request = sys.argv[-1], json.loads(sys.stdin.read() or "{}")
if call == "GetProvisionerInfo":
    info = {"name": "p", "implementation_version": "1.0.0", "formats": [{
        "format": "f/1", "kubernetes_input": "KUBERNETES_INPUT_PLAN", "os_families": ["OS_FAMILY_LINUX"],
        "features": [{"id": "os.files"}, {"id": "plan.entrypoint"}],
        "default_target": {"os_family": "OS_FAMILY_LINUX"}}]}
    print(json.dumps(info))
    sys.exit()
def answer(data):
    print(json.dumps({"user_data": base64.b64encode(data).decode()}))
def refuse(**refusal):
    print(json.dumps(refusal))
    sys.exit(3)
bundle = request["bundle"]
"""

_LIVING = """
import base64, json, os, sys, time
INFO = {"name": "p", "implementation_version": "1.0.0", "formats": [{
    "format": "f/1", "kubernetes_input": "KUBERNETES_INPUT_PLAN", "os_families": ["OS_FAMILY_LINUX"],
    "features": [{"id": "os.files"}, {"id": "plan.entrypoint"}], "default_target": {"os_family": "OS_FAMILY_LINUX"}}]}
def put(**answer):
    print(json.dumps(answer), flush=True)
for number, line in enumerate(sys.stdin):
    asked = json.loads(line)
    if asked["call"] == "GetProvisionerInfo":
        put(response=INFO)
        continue
    bundle = asked["request"]["bundle"]
    text = base64.b64encode(f"{os.getpid()} {bundle['id']}".encode()).decode()
"""


def once(folder: Path, body: str) -> list[str]:
    """Give the command of a program that is started for each call; `body` is what it does for Render."""
    return _program(folder, _ONCE + body)


def living(folder: Path, body: str) -> list[str]:
    """Give the command of a program that lives on; `body` is what it does for each Render, in its loop."""
    return _program(folder, _LIVING + "\n".join("    " + line for line in body.splitlines()))


def _program(folder: Path, text: str) -> list[str]:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    return [sys.executable, str(path)]


async def using(
    command: list[str],
    use: Callable[[ProgramCore], Awaitable[T]],
    *,
    long_lived: bool = False,
    limits: Limits = QUICK,
    wire: Wire | None = None,
) -> T:
    """Serve a program in this process, use it, and end it."""
    spoken = wire or JsonWire()
    kind = LongLived if long_lived else ProcessPerCall
    program: Program = kind(command, wire=spoken, limits=limits)
    try:
        declared = await ask_who_it_is(program, spoken)
        return await use(ProgramCore(declared, program=program, wire=spoken))
    finally:
        await program.close()


def request(id_: str = "b-1") -> provisionerpb.RenderRequest:
    """Give a request whose one file holds a secret between two literals."""
    file = testing.file("/etc/kept", b"")
    file.content.segments.add(data=b"<")
    spliced = file.content.segments.add(encoding=contentpb.SPLICE_ENCODING_BASE64)
    spliced.secret_ref.name, spliced.secret_ref.key = "s", "value"
    file.content.segments.add(data=b">")
    made = testing.bundle(ospb.OperatingSystem(files=[file]), secrets=[testing.secret("s", "value", SECRET)])
    made.id = id_
    compute_features(made)
    asked = provisionerpb.RenderRequest(request_tag="tag", bundle=made, format="f/1")
    asked.target.os_family = 1
    return asked
