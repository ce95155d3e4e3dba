"""A site ends whole, however it ends, and leaves nothing on this machine."""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools.node import cgroups, site
from tools.node.machine import Machine
from tools.node.machine_init import NAMES
from tools.oracles.failures import EngineBroken, EngineTimeout

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(300)]

NOTHING = b"#cloud-config\n{}\n"
# A signal that comes just before a read does not end the read: so there are many short ones.
BYSTANDER = """
import select, sys
from tools.node import site
with site.opened() as place:
    place.machine("lonely").boot(b"#cloud-config\\n{}\\n")
    print(place.folder, place.keeper.pid, flush=True)
    while not select.select([sys.stdin], [], [], 0.1)[0]: pass
"""


def assert_nothing_left(folder: Path) -> None:
    """No file, mount, process, group or network of a site is there any more."""
    assert not folder.exists()
    assert folder.name not in Path("/proc/self/mounts").read_text()
    assert cgroups.with_prefix(folder.name) == []
    for commands in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert folder.name.encode() not in commands.read_bytes(), commands
        except (FileNotFoundError, ProcessLookupError):
            continue


def named() -> set[Path]:
    """What there is by the names of machines in the folders of this machine where iproute and systemd-nspawn put it."""
    kept = (Path(NAMES), Path("/run/systemd/nspawn"))
    return {path for folder in kept for name in ("first", "second", "lonely") for path in folder.rglob(name)}


@pytest.fixture(autouse=True)
def _no_names_are_left():
    """No machine of a test leaves its name on this machine; an earlier version may have."""
    before = named()
    yield
    assert named() <= before


@pytest.fixture
def place(engine):
    """An open site."""
    engine("node-1.34")
    with site.opened() as opened:
        yield opened


def test_nothing_is_left_after_an_orderly_end(engine):
    """Two machines run, one was switched off, and after the block neither file nor group nor process is left."""
    engine("node-1.34")
    with site.opened() as opened:
        for name in ("first", "second"):
            opened.machine(name).boot(NOTHING)
        opened.machines["first"].wait_running()
        opened.machines["first"].power_off()
        assert not opened.machines["first"].on
        assert opened.machines["second"].on
        assert cgroups.with_prefix(opened.folder.name)
    assert_nothing_left(opened.folder)


def test_nothing_is_left_of_an_error(engine):
    """An exception in the middle ends the site, too."""
    engine("node-1.34")
    folders = []

    def fail() -> None:
        with site.opened() as opened:
            folders.append(opened.folder)
            opened.machine("lonely").boot(NOTHING)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert_nothing_left(folders[0])


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_nothing_is_left_of_a_process_that_was_ended(engine, number):
    """The keeper notices that its parent is gone, in whatever way, and cleans up."""
    engine("node-1.34")
    # A shell makes its background jobs ignore Ctrl-C, and their children with them.
    argv = ["env", "--default-signal=INT", sys.executable, "-c", BYSTANDER]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        folder, keeper = process.stdout.readline().decode().split()
        held = os.pidfd_open(int(keeper))
        process.send_signal(number)
        process.wait()
        _wait_for_end(held)
    assert_nothing_left(Path(folder))


def test_what_a_killed_keeper_leaves_is_swept(engine):
    """Nothing runs on after the keeper was killed, and the next site removes its folder and groups."""
    engine("node-1.34")
    with subprocess.Popen(
        [sys.executable, "-c", BYSTANDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        folder, keeper = process.stdout.readline().decode().split()
        init = os.pidfd_open(site.reopened(Path(folder)).init)
        os.kill(int(keeper), signal.SIGKILL)
        _wait_for_end(init)
        process.kill()
    with site.opened():
        assert_nothing_left(Path(folder))


def test_a_site_that_stays_is_ended_by_another_process(engine):
    """What was told to stay outlives its process, and can be found, entered and ended."""
    engine("node-1.34")
    code = BYSTANDER.replace("while not select.select([sys.stdin], [], [], 0.1)[0]: pass", "place.stay()")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    again = site.reopened(Path(done.stdout.split()[0]))
    try:
        assert again.machines["lonely"].run(["hostname"]).output == "lonely\n"
    finally:
        again.close()
    assert_nothing_left(again.folder)


def test_a_machine_cannot_reach_a_block_device(place):
    """It may make the node of one, and open none; nor can it lift the denial."""
    machine = place.machine("jail")
    machine.boot(NOTHING)
    machine.wait_running()
    disk = next(name for name in Path("/sys/class/block").iterdir() if (name / "dev").exists())
    major, minor = (disk / "dev").read_text().strip().split(":")
    script = f"""
mknod /disk b {major} {minor} || exit 3
echo 'a *:* rwm' >/sys/fs/cgroup/devices/devices.allow
exec head -c1 /disk
"""
    done = machine.run(["sh", "-c", script])
    assert done.status == 1
    assert "Operation not permitted" in done.errors.splitlines()[-1]


def test_the_settings_of_the_host_are_out_of_reach(place):
    """A setting of the kernel is read-only, or the machine's own copy."""
    machine = place.machine("jail")
    before = {name: Path(f"/proc/sys/{name}").read_text() for name in ("vm/swappiness", "kernel/panic")}
    machine.boot(NOTHING)
    machine.wait_running()
    refused = machine.run(["sh", "-c", "echo 1 >/proc/sys/vm/swappiness"])
    own = machine.run(["sh", "-c", "echo 7 >/proc/sys/kernel/panic; cat /proc/sys/kernel/panic"])
    after = {name: Path(f"/proc/sys/{name}").read_text() for name in before}
    assert refused.status != 0
    assert own.output == "7\n"
    assert after == before


def test_a_machine_keeps_its_disk_and_loses_its_memory(place):
    """Reboot, power cut and power-off: files stay, /run and the network start anew, the serial console goes on."""
    machine = place.machine("phoenix")
    machine.boot(NOTHING)
    machine.wait_running()
    machine.run(["sh", "-c", "echo kept >/kept; echo lost >/run/lost; echo on the line >/dev/console; sync"])
    machine.reboot()
    machine.wait_running()
    assert machine.run(["cat", "/kept"]).output == "kept\n"
    assert not machine.exists("/run/lost")
    machine.cut_power()
    assert not machine.on
    machine.boot()
    machine.wait_running()
    assert machine.run(["cat", "/kept"]).output == "kept\n"
    assert machine.boots == 3
    assert "on the line" in machine.serial()
    assert machine.address in machine.run(["ip", "address"]).output


def test_a_machine_takes_the_place_of_another_of_its_name(place):
    """The second try of a test begins with nothing of the first one, and in the way of no other machine."""
    first = place.machine("again")
    first.boot(NOTHING)
    assert first.run(["touch", "/var/lib/kept"]).status == 0
    other = place.machine("other")
    second = place.machine("again")
    assert not first.on
    second.boot(NOTHING)
    assert second.run(["test", "-e", "/var/lib/kept"]).status == 1
    assert len({first.address, other.address, second.address}) == 3


def test_a_disk_of_a_given_size_can_be_full(place):
    """Writing ends at the size, for root as well."""
    machine = place.machine("small", disk_size=32 << 20)
    machine.boot(NOTHING)
    machine.wait_running()
    done = machine.run(["dd", "if=/dev/zero", "of=/etc/filler", "bs=1M"])
    assert "No space left" in done.errors


def test_a_machine_that_ends_by_itself_says_why(place):
    """What it said last is told with the error: of its own power-off, and of a systemd-nspawn that cannot begin."""
    machine = place.machine("lonely")
    machine.boot(NOTHING)
    machine.wait_running()
    machine.run(["systemctl", "poweroff"])
    with pytest.raises(EngineBroken, match=r"(?s)it is off: it has powered itself off.*ended with 0 after"):
        machine.wait_sentinel(timeout=60)
    order = machine.folder / "order.json"
    known = json.loads(order.read_text())
    order.write_text(json.dumps({**known, "binds": {"/usr/bin/kubebox": "/nowhere"}}))
    with pytest.raises(EngineBroken, match=r"(?s)did not start: it is off: it ended by itself, with 1\n.*/nowhere"):
        machine.boot()


def test_a_command_has_a_time_limit_and_needs_a_machine_that_is_on(place):
    """What hangs is killed and said; what asks a machine that is off is told so."""
    machine = place.machine("short")
    machine.boot(NOTHING)
    machine.wait_running()
    with pytest.raises(EngineTimeout, match="sleep was killed"):
        machine.run(["sleep", "60"], timeout=0.5)
    assert machine.run(["sh", "-c", "cat; exit 3"], stdin=b"given").status == 3
    machine.cut_power()
    with pytest.raises(EngineBroken, match="is off"):
        machine.run(["true"])


def test_no_packet_leaves_a_site(place):
    """Machines see each other and the gateway; there is no way out."""
    first, second = place.machine("first"), place.machine("second")
    for machine in (first, second):
        machine.boot(NOTHING)
        machine.wait_running()
    connect = "exec 3<>/dev/tcp/{}/{}"
    first.run(["systemd-run", "--quiet", "socat", "TCP-LISTEN:81,fork,reuseaddr", "EXEC:true"])

    def reached(machine: Machine, address: str) -> bool:
        return machine.run(["timeout", "5", "bash", "-c", connect.format(address, 81)]).status == 0

    first.wait_until(lambda: reached(first, "127.0.0.1"), "no listener", timeout=20)
    assert reached(second, first.address)
    assert not reached(second, "192.0.2.1")


def _wait_for_end(pidfd: int) -> None:
    ended, _, _ = select.select([pidfd], [], [], 60)
    os.close(pidfd)
    assert ended
