"""What runs on the machine: kubeadm, and on Windows the services that an image brings but does not start."""

from collections.abc import Iterator

from slipway.bootstrapper.engines.kubeadm.request import NAME, EngineRequest
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1.content_pb2 import Content, Segment

_START_CONTAINERD = b"""\
$ErrorActionPreference = 'Stop'
Set-Service -Name containerd -StartupType Automatic
Start-Service -Name containerd
Set-Service -Name kubelet -StartupType Automatic
"""
_START_KUBELET = b"""\
$ErrorActionPreference = 'Stop'
Start-Service -Name kubelet
"""


def steps(request: EngineRequest) -> Iterator[planpb.Step]:
    """Give the steps in order; of an imported config kubeadm is the only one."""
    around = request.layout.windows and not request.imported
    if around:
        yield _script("10-containerd", _START_CONTAINERD)
    yield _step("20-kubeadm", planpb.Command(argv=_command_line(request)))
    if around:
        yield _script("30-kubelet", _START_KUBELET)


def _command_line(request: EngineRequest) -> list[str]:
    verb = "init" if request.creates_cluster else "join"
    line = ["kubeadm", verb, "--config", request.layout.config]
    if request.options.HasField("verbosity"):
        line += ["--v", str(request.options.verbosity)]
    return line


def _script(name: str, script: bytes) -> planpb.Step:
    command = planpb.Command(script=Content(segments=[Segment(data=script)]), interpreter=planpb.INTERPRETER_POWERSHELL)
    return _step(name, command)


def _step(name: str, command: planpb.Command) -> planpb.Step:
    command.origin.made_by.append(NAME)
    return planpb.Step(id=name, phase=planpb.PHASE_BOOTSTRAP, command=command)
