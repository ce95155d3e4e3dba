"""A native machine whose kubeadm fails: what the machine says of it, and that a second boot does not try again."""

import json
from collections.abc import Callable, Iterator
from fnmatch import fnmatch

import pytest

from tests.oracles import ours
from tests.oracles.booted import NATIVE
from tests.oracles.machines import given_files
from tools.oracles import cloud_init, ignition
from tools.oracles.cloud_init import MachineFacts
from tools.oracles.machine_state import MachineState

pytestmark = [pytest.mark.engine, pytest.mark.timeout(120)]

SENTINEL = "/run/cluster-api/bootstrap-success.complete"
_UNIT = "slipway-bootstrap.service"
_FACTS = MachineFacts(local_hostname="node0", meta_data={"hostname": "node0"})


def _boots(provisioner: str, *, kubeadm: int) -> Iterator[MachineState]:
    """The worker of the native example after its first boot, and after its second."""
    user_data = ours.render(NATIVE["harbour-worker"], provisioner).user_data
    files = given_files(kubeadm=kubeadm)
    if provisioner == "cloud-init":
        with cloud_init.opened(machine=_FACTS, extra_files=files) as machine:
            for document in (user_data, None):
                machine.boot(document)
                yield machine.state()
    else:
        with ignition.opened(extra_files=files) as machine:
            machine.boot(user_data)
            for _ in range(2):
                machine.start_unit(_UNIT)
                yield machine.state()


def _kubeadms(state: MachineState) -> list[int]:
    return [call.status for call in state.calls if call.argv[0] == "kubeadm"]


@pytest.mark.parametrize("provisioner", ["cloud-init", "ignition"])
def test_a_failure_is_recorded_told_and_final(provisioner: str, engine: Callable[..., None]) -> None:
    """Phase, step and exit code stand in a private record and on the console; no boot ends in a false success."""
    engine("root-trixie", "ignition")
    for state in _boots(provisioner, kubeadm=3):
        assert _kubeadms(state) == [3]
        assert SENTINEL not in state.run
        nodes = {**state.files, **state.engine_files, **state.run}
        (record,) = (path for path in nodes if fnmatch(path, "/var/lib/slipway/state/*.failed"))
        told = state.content(record).partition(b"\n")[0]
        assert {"state": "EVENT_STATE_FAILED", "phase": "PHASE_BOOTSTRAP", "exitCode": 3}.items() <= json.loads(
            told
        ).items()
        assert nodes[record].mode == 0o600
        assert state.console.count(told) >= 1


@pytest.mark.parametrize("provisioner", ["cloud-init", "ignition"])
def test_a_success_is_not_repeated(provisioner: str, engine: Callable[..., None]) -> None:
    """One call of kubeadm in two boots, and the sentinel, which a boot takes away, is there after both."""
    engine("root-trixie", "ignition")
    for state in _boots(provisioner, kubeadm=0):
        assert _kubeadms(state) == [0]
        assert state.content(SENTINEL) == b"success\n"
