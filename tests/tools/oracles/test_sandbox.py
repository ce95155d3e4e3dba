"""The walls between a machine under test and the host hold, whatever a document asks for."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools.oracles import cache, fakes, network, roots, sandbox
from tools.oracles.sandbox import Command, File

pytestmark = pytest.mark.engine


@pytest.fixture
def machine(engine):
    """A fresh machine over the main root."""
    engine("root-trixie")
    with sandbox.opened(roots.ROOTS["trixie"].require()) as one:
        yield one


def shell(script: str, timeout: float = 30.0) -> Command:
    return Command(("sh", "-c", script), timeout=timeout)


@pytest.mark.parametrize(
    ("attack", "reason"),
    [
        ("mknod /dev/vda b 254 0", "no block devices"),
        ("echo 1 > /proc/sys/vm/overcommit_memory", "sysctls of the host"),
        ("mount -o remount,rw /proc/sys", "the read-only mounts cannot be undone"),
        ("mount -o bind,remount,rw /proc/sys", "the read-only mounts cannot be undone"),
        ("echo x > /sys/kernel/uevent_seqnum || mount -o remount,rw /sys", "no writes to /sys"),
        ("dd if=/dev/zero of=/s bs=1M count=1; chmod 600 /s; mkswap /s; swapon /s", "swap is the host's"),
        ("date -s 2020-01-01", "the clock is the host's"),
        ("echo h > /proc/sysrq-trigger", "sysrq is the host's"),
        ("modprobe dummy", "modules are the host's"),
        ("dmesg -c", "the kernel log is the host's"),
    ],
)
def test_attack_fails(machine, attack, reason):
    """Root on the machine cannot reach what belongs to the host."""
    (outcome,) = machine.session([shell(attack)])
    assert outcome.status != 0, reason


def test_capabilities_are_gone(machine):
    """Modules, raw I/O, reboot, clock, device nodes and kernel log are out of the bounding set, for good measure."""
    (outcome,) = machine.session([shell("grep CapBnd /proc/self/status")])
    held = int(outcome.output.split()[1], 16)
    assert [number for number in (16, 17, 22, 25, 27, 34) if held & 1 << number] == []


def test_host_is_out_of_sight(machine):
    """No block device, no process and no file of the host is visible, and no network but the loopback."""
    looks = "find /dev -type b; ls /proc | grep -c '^[0-9]'; ls /sys/class/net; ls -d " + str(Path(__file__).parent)
    (outcome,) = machine.session([shell(looks)])
    lines = outcome.output.decode().splitlines()
    assert int(lines[0]) < 8, "the machine's own processes only"
    assert lines[1] == "lo"
    assert "No such file" in lines[2]


def test_host_keeps_its_name_and_swap(machine):
    """The machine's own host name is not the host's."""
    before = os.uname().nodename
    (outcome,) = machine.session([shell("hostname engine-test && hostname")])
    assert outcome.output == b"engine-test\n"
    assert os.uname().nodename == before


def test_time_limit(machine):
    """A command that hangs is killed with its children, and those after it still run."""
    start = time.monotonic()
    hangs, after = machine.session([shell("sleep 77 & sleep 77", timeout=0.5), shell("echo after; pgrep -x sleep -c")])
    assert hangs.timed_out
    assert after.output.split() == [b"after", b"0"]
    assert time.monotonic() - start < 20


def test_console(machine):
    """What is written to the serial line is kept byte for byte."""
    machine.session([shell("printf 'one\\n' > /dev/ttyS0; printf 'two\\n' > /dev/console")])
    assert machine.console == b"one\ntwo\n"
    machine.session([shell("head -c 300000 /dev/zero | tr '\\0' x > /dev/console")])
    assert len(machine.console) == 8 + 300000


def test_disk_lasts_and_run_does_not(machine):
    """Files last over a reboot, ``/run`` starts empty; without a reboot it stays."""
    machine.session([shell("echo 1 > /etc/one; echo 2 > /run/two")])
    (same,) = machine.session([shell("cat /etc/one /run/two")], reboot=False)
    (other,) = machine.session([shell("cat /etc/one; ls /run")])
    assert same.output == b"1\n2\n"
    assert other.output == b"1\n"


def test_root_below_is_untouched(machine):
    """What a machine does to its files does not reach the root that all machines share."""
    lower = roots.ROOTS["trixie"].require()
    before = (lower / "etc/passwd").read_bytes()
    machine.session([shell("rm -rf /etc; echo x > /usr/bin/true")])
    assert (lower / "etc/passwd").read_bytes() == before


def test_fake_answers_in_turn(machine):
    """A fake records arguments, input and its own answers, the last one for all further calls."""
    files = fakes.command("tool", statuses=[1, 0], stdout="said\n", reads_stdin=True)
    outcomes = machine.session([shell("echo in | tool 'a b' \"$(printf 'c\\nd')\"")] * 3, files=files)
    assert [outcome.status for outcome in outcomes] == [1, 0, 0]
    assert outcomes[0].output == b"said\n"
    calls = fakes.read_calls(machine.upper)
    assert {(call.argv, call.stdin) for call in calls} == {(("tool", "a b", "c\nd"), b"in\n")}
    assert len(calls) == 3


def test_given_file_has_its_mode(machine):
    """An extra file is there with content and mode, whatever the root held at that path."""
    (outcome,) = machine.session(
        [shell("cat /usr/bin/nproc; stat -c %a /usr/bin/nproc")],
        files={"/usr/bin/nproc": File(b"x\n", 0o700)},
    )
    assert outcome.output == b"x\n700\n"


CRASH = """
import os, sys
from tools.oracles import roots, sandbox
with sandbox.opened(roots.ROOTS["trixie"].require()) as machine:
    print(machine.scratch, flush=True)
    machine.session([sandbox.Command(("sleep", "77.5"), timeout=90.0)])
"""


def test_crash_leaves_nothing(engine):
    """When the harness is killed, its machine dies with it, and the next one sweeps its files away."""
    engine("root-trixie")
    with subprocess.Popen([sys.executable, "-c", CRASH], stdout=subprocess.PIPE, text=True) as process:
        scratch = Path(process.stdout.readline().strip())
        _wait_for(lambda: _sleepers() == 1)
        # Afterwards the sandbox of a test beside this one may sweep it away.
        assert scratch.is_dir()
        process.send_signal(signal.SIGKILL)
    _wait_for(lambda: _sleepers() == 0)
    with sandbox.opened(roots.ROOTS["trixie"].require()):
        assert not scratch.exists()


def _sleepers() -> int:
    found = 0
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += entry.read_bytes() == b"sleep\x0077.5\x00"
        except OSError:
            continue
    return found


def _wait_for(condition) -> None:
    limit = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < limit, "condition never came true"
        time.sleep(0.05)


def test_discard_never_crosses_a_mount(engine, tmp_path):
    """A folder with a mount point inside is left alone: removing it could reach the host's own files."""
    (tmp_path / "tree/proc").mkdir(parents=True)
    code = (
        "import subprocess, sys; from pathlib import Path; from tools.oracles import cache\n"
        "tree = Path(sys.argv[1]); subprocess.run(['mount', '-t', 'tmpfs', 'x', tree / 'proc'], check=True)\n"
        "try:\n    cache.discard(tree)\nexcept OSError:\n    print('refused')\n"
    )
    command = ["unshare", "-m", sys.executable, "-c", code, str(tmp_path / "tree")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "refused\n"
    cache.discard(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()


def test_a_machine_reaches_its_sites_and_nothing_else(engine):
    """A server at a cloud's address answers whoever says what it needs, and is there again in the next session."""
    engine("root-trixie")
    answers = {"/a[1] b": network.Answer(b"\x00bytes", needs="metadata-flavor: google")}
    sites = [network.Site("169.254.169.254", 80, answers), network.Site("127.0.0.1", 8080, {})]
    program = (
        "import sys, urllib.request as r;"
        "print(r.urlopen(r.Request(sys.argv[1], headers={'Metadata-Flavor': 'Google'})).read())"
    )
    ask = [
        Command(("python3", "-c", program, url), timeout=30.0)
        for url in ("http://169.254.169.254/a%5B1%5D%20b", "http://127.0.0.1:8080/a", "http://192.0.2.1/")
    ]
    with sandbox.opened(roots.ROOTS["trixie"].require(), sites=sites) as one:
        for _ in range(2):
            found, absent, unreachable = one.session(ask, reboot=False)
            assert (found.status, found.output) == (0, b"b'\\x00bytes'\n")
            assert b"HTTP Error 404" in absent.output
            assert b"Network is unreachable" in unreachable.output
        (refused,) = one.session([Command(("python3", "-c", program.replace("Google", "other"), ask[0].argv[-1]))])
        assert b"HTTP Error 403" in refused.output
