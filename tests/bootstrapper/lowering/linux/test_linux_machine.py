"""Tests of the passes' scripts on real Debian userlands: what they leave, and that they may run again."""

import stat
from collections.abc import Callable, Iterator

import pytest

from slipway.bootstrapper.lowering.finish import finish
from slipway.contract.content import content_bytes
from tests.bootstrapper.lowering.linux.full_linux_spec import (
    FILE_NAME,
    GECOS,
    HASH,
    KEYS,
    SECRETS,
    boot_commands,
    certificate,
    full_spec,
)
from tests.bootstrapper.lowering.lowered_systems import SUPPORTS, LowerSystem
from tools.oracles import fakes, roots, sandbox
from tools.oracles.sandbox import Command, File, Sandbox

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

# The sandbox shares the host's kernel, in which nothing of this may be changed.
FAKES = fakes.command("modprobe") | fakes.command("swapon") | fakes.command("sysctl")


class Machine:
    """A machine on which the runner has run."""

    def __init__(self, box: Sandbox, files: dict[str, File]) -> None:
        self._box = box
        outcome = self._run("/bin/sh", "/var/lib/slipway/run", files=files)
        assert outcome == 0, self.text("cat /run/slipway/log")

    def _run(self, *argv: str, files: dict[str, File] | None = None) -> int:
        (outcome,) = self._box.session([Command(argv)], files=files, reboot=False)
        return outcome.status

    def text(self, script: str) -> str:
        """Give what a shell script prints."""
        (outcome,) = self._box.session([Command(("sh", "-c", script))], reboot=False)
        assert outcome.status == 0, outcome.output.decode()
        return outcome.output.decode().strip()


@pytest.fixture(
    scope="module",
    params=[pytest.param(root, marks=pytest.mark.xdist_group(f"linux-{root}")) for root in ("trixie", "bookworm")],
)
def machine(request: pytest.FixtureRequest, lower: LowerSystem, engine: Callable[..., None]) -> Iterator[Machine]:
    """A machine with the full spec, prepared by the runner."""
    engine(f"root-{request.param}")
    authorities = certificate("first") + certificate("second")
    done = lower(full_spec(authorities), boot=boot_commands())
    assert done.refusals == []
    finish(done.draft, SUPPORTS)
    files = {file.path: File(content_bytes(file.content, SECRETS), file.mode) for file in done.draft.bundle.os.files}
    with sandbox.opened(roots.ROOTS[request.param].require()) as box:
        yield Machine(box, files | FAKES)


def test_groups_and_users_are_as_asked(machine: Machine) -> None:
    """Numbers, names with quotes, shells, homes and memberships arrive as they were written."""
    assert machine.text("getent group team") == "team:x:4242:ann"
    assert int(machine.text("getent group svc").split(":")[2]) < 1000
    assert machine.text("getent passwd ann").split(":")[4:] == [GECOS, "/home/ann", "/bin/bash"]
    assert machine.text("id -Gn ann") == "ann sudo team"
    assert machine.text("getent passwd bob").split(":")[2:4] == ["1777", "4242"]
    assert machine.text("stat -c '%U %G' /srv/deep/bob /srv/deep") == "bob team\nroot root"
    assert machine.text("getent passwd runner").endswith(":/usr/sbin/nologin")


def test_a_system_account_has_no_home(machine: Machine) -> None:
    """As by a first-boot system, unless somebody logs in to it; the folder that it would be in is not made either."""
    assert machine.text("ls /home") == "ann"
    assert machine.text("getent passwd elsewhere").split(":")[5] == "/srv/absent/home"
    assert machine.text("ls -d /srv/absent 2>&1 || :").endswith("No such file or directory")


def test_passwords_come_from_files_and_lock_when_nothing_is_said(machine: Machine) -> None:
    """A hash reaches shadow without its final newline; an account that says nothing is locked, an inactive one over."""
    assert machine.text("getent shadow ann").split(":")[1] == HASH
    assert machine.text("getent shadow bob").split(":")[1:3] == [f"!{HASH}", "0"]
    assert machine.text("getent shadow bob").split(":")[6:8] == ["0", "1"]
    assert machine.text("getent shadow runner").split(":")[1].startswith("!")


def test_keys_and_rules_are_the_users(machine: Machine) -> None:
    """Sshd takes only keys that belong to the user, and sudo only rules that it can read."""
    assert machine.text("cat /home/ann/.ssh/authorized_keys").splitlines() == KEYS
    assert machine.text("cat /root/.ssh/authorized_keys").splitlines() == KEYS[:1]
    assert machine.text("stat -c '%U %a' /home/ann/.ssh /home/ann/.ssh/authorized_keys") == "ann 700\nann 600"
    assert machine.text("stat -c '%U %a' /etc/sudoers.d/90-slipway-ann") == "root 440"
    assert "NOPASSWD: ALL" in machine.text("sudo -l -U ann")


def test_files_wait_for_their_owners(machine: Machine) -> None:
    """A file of a user that the bundle makes has that owner, and every byte of its content."""
    assert machine.text(f"stat -c '%U %G %a' \"/home/ann/{FILE_NAME.replace('$', chr(92) + '$')}\"") == "ann team 640"
    shown = machine.text(f'od -An -tx1 -v "/home/ann/{FILE_NAME.replace("$", chr(92) + "$")}"')
    assert bytes.fromhex(shown.replace("\n", "")) == bytes(range(256))
    assert machine.text("stat -c '%U %G %a' '/srv/a b/c' '/srv/a b'") == "ann svc 2750\nroot root 755"
    assert machine.text("readlink /etc/soft") == "../srv/a b"
    assert machine.text("cat /etc/motd").endswith("more")
    assert machine.text("stat -c %h /etc/motd") == "2"
    assert int(machine.text("stat -c %a /etc/motd"), 8) == stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH


def test_mounts_and_swap_are_there_on_later_boots(machine: Machine) -> None:
    """Fstab is one that util-linux itself accepts, and the swap file has a swap area and no holes."""
    lines = machine.text("grep -v '^#' /etc/fstab").splitlines()
    assert lines == [
        "tmpfs /mnt/a-b\\040c tmpfs size=1m 0 0",
        "/dev/absent /mnt/absent auto nofail,x-systemd.device-timeout=1s 0 0",
        "/var/swap/it's none swap defaults 0 0",
    ]
    assert machine.text('findmnt --fstab --noheadings -o TARGET --target "/mnt/a-b c"') == "/mnt/a-b c"
    assert machine.text("stat -c '%a %s' \"/var/swap/it's\"") == "600 1048576"
    assert machine.text('swaplabel "/var/swap/it\'s"').startswith("UUID:")


def test_units_are_enabled_disabled_and_masked(machine: Machine) -> None:
    """Systemd itself says so."""
    states = "systemctl is-enabled mine.service late.service slipway-boot.service ssh.service ssh.socket || :"
    assert machine.text(states).split() == ["enabled", "enabled", "enabled", "disabled", "masked"]


def test_system_settings_are_in_force(machine: Machine) -> None:
    """Name, time zone and time servers are those of the spec, for this boot and later ones."""
    assert machine.text("cat /etc/hostname") == "renamed-1"
    assert machine.text("readlink /etc/localtime") == "../usr/share/zoneinfo/Europe/Berlin"
    assert machine.text("TZ=:/etc/localtime date -d 2026-07-01 +%Z") == "CEST"
    assert "NTP=ntp1.example.com pool.example.com" in machine.text("cat /etc/systemd/timesyncd.conf.d/90-slipway.conf")


def test_certificates_are_trusted(machine: Machine) -> None:
    """Both authorities of one item verify against the system's store."""
    folder = "/usr/local/share/ca-certificates"
    shown = machine.text(
        f"openssl verify -CAfile /etc/ssl/certs/ca-certificates.crt {folder}/corp-1.crt {folder}/corp-2.crt"
    )
    assert shown.count(": OK") == 2


def test_kernel_settings_reach_their_programs(machine: Machine) -> None:
    """Modules are loaded before parameters that need them are set."""
    calls = machine.text(f"cat {fakes.RECORD}/calls")
    assert '"modprobe", "-a", "br_netfilter", "nf_conntrack"' in calls
    assert calls.index("modprobe") < calls.index('"sysctl"')
    assert machine.text("cat /etc/modprobe.d/slipway.conf") == "options nf_conntrack hashsize=1000"


def test_boot_commands_run_one_after_the_other(machine: Machine) -> None:
    """A failing one keeps no other from running, and the service's own status tells."""
    assert machine.text("sh /var/lib/slipway/boot/run || echo failed; cat /var/log/boots") == (
        "failed\nit's $HOME\na secret word"
    )


def test_every_step_bears_to_run_again(machine: Machine) -> None:
    """A step that was cut off by a power failure runs again; a second run of all changes nothing."""
    state = (
        "cd / && for f in etc/passwd etc/shadow etc/group etc/fstab home/ann/.ssh/authorized_keys; do md5sum $f; done"
    )
    before = machine.text(state)
    machine.text(
        "for step in /var/lib/slipway/steps/*; do case $step in *install) ;; *) sh $step || exit 1 ;; esac; done"
    )
    assert machine.text(state) == before
