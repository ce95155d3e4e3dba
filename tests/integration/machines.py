"""Renders machines by any provisioner, and runs each first-boot system for real on the same root file system."""

import asyncio
from pathlib import Path

from slipway.bootstrapper.bootstrapper import Bootstrapper, utc_now
from slipway.bootstrapper.credentials.entropy import SystemEntropy
from slipway.bootstrapper.credentials.ephemeral_store import EphemeralStore
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.provisioning.remote import RemoteProvisioners
from slipway.contract.version import VERSION
from slipway.embedded.bootstrapper import compiler
from slipway.embedded.provisioners import embedded_provisioners
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1.provisioner_service_pb2_grpc import ProvisionerServiceStub
from tools.oracles import cloud_init, fakes, ignition, roots, sandbox, tree_scan, unit_files
from tools.oracles.machine_state import MachineState
from tools.oracles.sandbox import Command, File

EXAMPLE = Path(__file__).parents[2] / "examples" / "provisioner-shell"
SHELL = "shell.example.com"
BOOT_SERVICE = "slipway-boot.service"
_UNIT = b"[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
_START_SECONDS = 20.0


class AllProvisioners:
    """Our own provisioners in this process, and the example behind gRPC."""

    def __init__(self, remote: RemoteProvisioners) -> None:
        self._remote = remote
        self._embedded = embedded_provisioners()

    def instances(self) -> list[registrypb.ProvisionerInstance]:
        """Give all of them."""
        return [*self._embedded.instances(), *self._remote.instances()]

    async def render(
        self,
        instance: registrypb.ProvisionerInstance,
        request: provisionerpb.RenderRequest,
        *,
        timeout: float,  # the protocol's own
    ) -> provisionerpb.RenderResponse:
        """Call the one that the instance is of."""
        chosen = self._remote if instance.info.name == SHELL else self._embedded
        return await chosen.render(instance, request, timeout=timeout)


def render_by_all(
    request: bootstrappb.GetUserDataRequest, provisioners: list[str], *, shell_address: str
) -> dict[str, bootstrappb.GetUserDataResponse]:
    """Give the user data of one machine by each of the provisioners, with the same secrets of the cluster."""
    return asyncio.run(_render_by_all(request, provisioners, shell_address))


async def _render_by_all(
    request: bootstrappb.GetUserDataRequest, provisioners: list[str], address: str
) -> dict[str, bootstrappb.GetUserDataResponse]:
    channels = ChannelPool(tls=None, trust_domain="slipway")
    try:
        stub = ProvisionerServiceStub(channels.get(address))
        info = await invoke(
            stub.GetProvisionerInfo,
            provisionerpb.GetProvisionerInfoRequest(),
            timeout=_START_SECONDS,
            wait_for_ready=True,
        )
        ready = registrypb.ProvisionerInstance(endpoint=address, state=registrypb.INSTANCE_STATE_READY, info=info)
        bootstrapper = Bootstrapper(
            provisioners=AllProvisioners(RemoteProvisioners(lambda: [ready], channels)),
            compiler=compiler(),
            version=VERSION,
            store=EphemeralStore(SecretFactory(entropy=SystemEntropy(), clock=utc_now)),
        )
        answers = {}
        for name in provisioners:
            asked = bootstrappb.GetUserDataRequest(subject=request.subject, credentials=request.credentials)
            asked.subject.spec.provisioner.name = name
            answers[name] = await bootstrapper.user_data(asked)
        return answers
    finally:
        await channels.close()


def given_files() -> dict[str, File]:
    """What each machine has beforehand.

    Its commands only record their calls where they are not there for real, or would reach the kernel that the machine
    shares with its host. The units of containerd and the kubelet are there to be enabled.
    """
    given = {f"/lib/systemd/system/{name}.service": File(_UNIT) for name in ("containerd", "kubelet")}
    for name in ("kubeadm", "modprobe", "swapon", "sysctl", "apt-get", "chronyc"):
        given |= fakes.command(name)
    return given | fakes.command("apt-cache", stdout="nothing-1\nnothing-2\n")


def boot(provisioner: str, user_data: bytes) -> MachineState:
    """Have the first-boot system of a provisioner set up a machine, entry point and all, and give what it left.

    No systemd runs there, so the service of boot commands, which the runner has started, is started by hand.
    """
    if provisioner == "cloud-init":
        return cloud_init.run(user_data, extra_files=given_files())
    if provisioner == "ignition":
        return ignition.run(user_data, extra_files=given_files(), start=("slipway-bootstrap.service", BOOT_SERVICE))
    return _first_boot(user_data)


def _first_boot(user_data: bytes) -> MachineState:
    """Have the example's 20 lines set up a machine."""
    scratch = {"/run/first-boot/user-data": File(user_data, 0o600)}
    scratch["/run/first-boot/run.py"] = File((EXAMPLE / "first-boot.py").read_bytes())
    tidy = Command(("rm", "-r", "/run/first-boot"))
    with sandbox.opened(roots.ROOTS["trixie"].require()) as box:
        first, _ = box.session(
            [Command(("python3", "/run/first-boot/run.py", "/run/first-boot/user-data")), tidy],
            files=scratch | given_files(),
        )
        unit_files.start(box, BOOT_SERVICE)
        status = "error" if first.status else "done"
        return tree_scan.read(box, tree_scan.Verdict(SHELL, status, ()), given=given_files())
