"""The same program in protobuf: a process for each call, and one that lives on."""

import sys
from pathlib import Path

import pytest

from slipway.contract.errors import Internal, SlipwayError
from slipway.program_provisioner.wire import ProtobufWire
from tests.services.program_provisioner.programs import request, using

_PROGRAM = """
import sys
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from slipway.v1alpha1 import provisioner_service_pb2 as pb

def info():
    answer = pb.GetProvisionerInfoResponse(name="p", implementation_version="1.0.0")
    format = answer.formats.add(format="f/1", kubernetes_input=1, os_families=[1])
    format.features.add(id="os.files")
    format.features.add(id="plan.entrypoint")
    return answer

def render(data):
    id = pb.RenderRequest.FromString(data).bundle.id
    if id == "sound":
        return 0, pb.RenderResponse(user_data=id.encode())
    status = Status(code=9, message="no")
    status.details.add().Pack(ErrorInfo(reason="UNSUPPORTED_TARGET" if id == "refused" else "X", domain="slipway.dev"))
    return 3, status

read, write = sys.stdin.buffer.read, sys.stdout.buffer.write
if sys.argv[1:]:
    code, answer = (0, info()) if sys.argv[1] == "GetProvisionerInfo" else render(read())
    write(answer.SerializeToString())
    sys.exit(code)
while kind := read(1):
    body = read(int.from_bytes(read(4), "big"))
    code, answer = (0, info()) if kind == b"G" else render(body)
    text = answer.SerializeToString()
    write((b"S" if code else b"A") + len(text).to_bytes(4, "big") + text)
    sys.stdout.flush()
"""


@pytest.mark.parametrize("long_lived", [False, True])
async def test_it_renders_and_refuses(*, long_lived: bool, tmp_path: Path) -> None:
    """An answer, a status of the contract, and a status that is none, which is a defect of the program."""
    path = tmp_path / "program.py"
    path.write_text(_PROGRAM, encoding="utf-8")

    async def outcome(id_: str) -> object:
        try:
            return await using(
                [sys.executable, str(path)],
                lambda core: core.render(request(id_)),
                long_lived=long_lived,
                wire=ProtobufWire(),
            )
        except SlipwayError as error:
            return error

    sound = await outcome("sound")
    assert getattr(sound, "user_data", None) == b"sound"
    refused = await outcome("refused")
    assert isinstance(refused, SlipwayError)
    assert refused.reason == "UNSUPPORTED_TARGET"
    assert isinstance(await outcome("strange"), Internal)
