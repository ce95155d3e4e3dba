"""A KubeadmConfig makes the machine that it makes today: real cloud-init and Ignition, both renderers, compared.

The corpus says every field of both API versions; what today's renderer loses, and nothing else, is in the list of
differences.
"""

from collections.abc import Callable

import pytest
import yaml

from slipway.bootstrapper.lowering.runners.literal_events import DROP_IN
from tests.oracles import comparison, ours, today
from tests.oracles.booted import IMPORTED, in_groups, today_and_ours, with_events
from tools.oracles import finding

pytestmark = [pytest.mark.engine, pytest.mark.timeout(120)]

SENTINEL = "/run/cluster-api/bootstrap-success.complete"


@pytest.mark.parametrize("name", in_groups(IMPORTED))
def test_the_machine_is_that_of_today(name: str, engine: Callable[..., None]) -> None:
    """Files, accounts, units, commands, what kubeadm reads and the sentinel are the same, but for the list."""
    engine("root-trixie", "ignition", "kubeadm-provider")
    theirs, mine = today_and_ours(name)
    found = comparison.everything(theirs, mine)
    assert [one.shown for one in comparison.unexplained(name, found)] == []
    assert comparison.idle(name, found) == []
    assert len(finding.errors(mine.findings)) <= len(finding.errors(theirs.findings))
    assert len([call for call in mine.calls if call.argv[0] == "kubeadm" and call.argv[1] in {"init", "join"}]) == 1
    assert mine.content(SENTINEL) == b"success\n"


@pytest.mark.parametrize(
    "name", in_groups(["bare-init", "commands-worker", "jinja-worker", "ignition-everything-worker"])
)
def test_a_failing_kubeadm_leaves_what_it_leaves_today(name: str, engine: Callable[..., None]) -> None:
    """Where today's commands go on they go on, where they stop they stop, and there is no sentinel."""
    engine("root-trixie", "ignition", "kubeadm-provider")
    theirs, mine = today_and_ours(name, kubeadm=1)
    found = comparison.everything(theirs, mine)
    assert [one.shown for one in comparison.unexplained(name, found)] == []
    assert [call.status for call in mine.calls if call.argv[0] == "kubeadm"] == [1]
    assert SENTINEL not in mine.run


@pytest.mark.parametrize("kubeadm", [0, 1])
@pytest.mark.parametrize(
    "name", in_groups(["bare-init", "commands-worker", "jinja-worker", "ignition-everything-worker"])
)
def test_events_change_nothing_of_the_machine(name: str, kubeadm: int, engine: Callable[..., None]) -> None:
    """Where the spec asks for events they are on the console; nothing else differs, but for Slipway's own files.

    Behind a failure the unit of Ignition asks whether the machine is going down, by a call that changes nothing.
    """
    engine("root-trixie", "ignition")
    without, mine = with_events(name, kubeadm=kubeadm)
    differences = comparison.everything(without, mine)
    question = "systemctl is-system-running"
    own = (*comparison.OUR_FOLDERS, f"/etc/systemd/system/kubeadm.service.d/{DROP_IN}", question)
    assert [entry.shown for entry in differences if not entry.name.startswith(own)] == []
    assert [call.status for call in mine.calls if call.argv[0] == "kubeadm"] == [kubeadm]
    assert b"EVENT_STATE" not in without.console
    assert mine.console.count(b'"state":"EVENT_STATE_STARTED"') == 1
    assert (b"EVENT_STATE_COMPLETE" if kubeadm == 0 else b'"state":"EVENT_STATE_FAILED","exitCode":1') in mine.console


@pytest.mark.parametrize("name", [name for name, one in IMPORTED.items() if "diskSetup" in one.spec])
def test_disks_are_set_up_as_today(name: str, engine: Callable[..., None]) -> None:
    """No block device is here, so the words that cloud-init gets are compared."""
    engine("kubeadm-provider")
    config = IMPORTED[name]
    theirs = yaml.safe_load(today.user_data(config))
    mine = yaml.safe_load(ours.render(config.question, "cloud-init").user_data)
    # What ours always says is cloud-init's own default.
    assert mine["disk_setup"] == {name: {"table_type": "mbr", **disk} for name, disk in theirs["disk_setup"].items()}
    # One that may not be overwritten is made by a command that checks first; its options stand there.
    kept = ("extra_opts", "cmd")
    filesystems = [
        {key: word for key, word in one.items() if word is not None and (one.get("overwrite") or key not in kept)}
        for one in theirs["fs_setup"]
    ]
    assert [{key: word for key, word in one.items() if key != "cmd"} for one in mine["fs_setup"]] == filesystems
    for one, other in zip(mine["fs_setup"], theirs["fs_setup"], strict=True):
        assert one.get("overwrite") or all(option in one["cmd"] for option in other.get("extra_opts") or [])


def test_the_list_of_differences_does_not_grow_unseen() -> None:
    """Every entry has a config that shows it, and a new one needs a second look here."""
    listed = comparison.entries()
    assert {one.shown_by for one in listed if one.shown_by} <= IMPORTED.keys()
    assert len([one for one in listed if one.shown_by]) == 25
    assert all(one.shown_by or one.configs == "given-*" for one in listed)
