"""The time servers of an imported config reach a client, as today: cloud-init installs one where the image has none.

The kubeadm provider hands `ntp` on to cloud-init's module of that name. Slipway lowers it, since the module fails in
silence; of an imported config no failure of it may keep a machine from becoming a node.
"""

from collections.abc import Callable

import pytest

from slipway.bootstrapper.importers.foreign_config import Surroundings
from slipway.bootstrapper.importers.lone_config import import_kubeadm_config
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.bootstrapper.asking import bootstrapper
from tests.oracles.machines import given_files
from tools.oracles import cloud_init
from tools.oracles.cloud_init import MachineFacts
from tools.oracles.machine_state import MachineState
from tools.oracles.sandbox import File

pytestmark = [pytest.mark.engine, pytest.mark.timeout(180)]

CONFIG = """
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfig
metadata: {name: worker}
spec: {ntp: {enabled: true, servers: [ntp1.example.com, ntp2.example.com]}}
"""
TODAY = b"#cloud-config\nntp: {enabled: true, servers: [ntp1.example.com, ntp2.example.com]}\n"
CHRONY = "/etc/chrony/chrony.conf"
TIMESYNCD = "/usr/lib/systemd/systemd-timesyncd"
INSTALLS = b"""#!/bin/sh
case "$*" in *install*chrony*)
  mkdir -p /etc/chrony
  echo '#!/bin/sh' >/usr/sbin/chronyd
  chmod 755 /usr/sbin/chronyd
esac
"""


async def ours() -> bytes:
    """Give the worker's user data."""
    request = bootstrappb.GetUserDataRequest()
    result = import_kubeadm_config(CONFIG, Surroundings(role=clusterpb.ROLE_WORKER))
    request.subject.spec.CopyFrom(result.spec)
    request.subject.spec.provisioner.name = "cloud-init"
    request.subject.cluster.name, request.subject.cluster.kubernetes_version = "c", "v1.34.2"
    request.subject.cluster.endpoint.host = "api.example.com"
    request.subject.machine.name, request.subject.machine.role = "m", clusterpb.ROLE_WORKER
    return (await bootstrapper().user_data(request)).user_data


def boot(user_data: bytes, root: str, *, apt: bytes) -> MachineState:
    """Boot an image without a client for time synchronisation; `apt` is its program apt-get."""
    files = {"/usr/bin/apt-get": File(apt, 0o755), TIMESYNCD: File(b"", 0o644)}
    facts = MachineFacts(local_hostname="node0", meta_data={"hostname": "node0"})
    return cloud_init.run(user_data, root=root, machine=facts, extra_files={**given_files(), **files})


def servers(machine: MachineState) -> list[str]:
    """Give what chrony's configuration says of servers."""
    return [line for line in machine.content(CHRONY).decode().splitlines() if line.startswith(("server", "pool"))]


def kubeadm_ran(machine: MachineState) -> bool:
    """Return whether the bootstrap was reached."""
    return any(call.argv[0] == "kubeadm" for call in machine.calls)


@pytest.mark.parametrize("root", ["bookworm", "trixie"])
async def test_cloud_init_installs_a_client_as_today(root: str, engine: Callable[..., None]) -> None:
    """The same client with the same configuration, by the module's own choice, and kubeadm runs behind it."""
    engine(f"root-{root}")
    today, mine = boot(TODAY, root, apt=INSTALLS), boot(await ours(), root, apt=INSTALLS)
    assert servers(today) == ["server ntp1.example.com iburst", "server ntp2.example.com iburst"]
    assert mine.content(CHRONY) == today.content(CHRONY)
    assert kubeadm_ran(mine)


async def test_no_failure_of_it_keeps_a_machine_from_becoming_a_node(engine: Callable[..., None]) -> None:
    """Where nothing can be installed, kubeadm runs all the same."""
    engine("root-trixie")
    machine = boot(await ours(), "trixie", apt=b"#!/bin/sh\nexit 100\n")
    assert "/usr/sbin/chronyd" not in machine.files
    assert kubeadm_ran(machine)
