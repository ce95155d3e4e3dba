"""Tests of what only the real systemd decides: mounts, units that are started, boot commands, later boots."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from slipway.bootstrapper.lowering.finish import finish
from slipway.contract.content import content_bytes
from tests.bootstrapper.lowering.linux.full_linux_spec import SECRETS, boot_commands, certificate, full_spec
from tests.bootstrapper.lowering.lowered_systems import SUPPORTS, LowerSystem
from tools.oracles import fakes, roots, sandbox, systemd_boot
from tools.oracles.sandbox import File

# One process has all tests, and boots their machine once.
pytestmark = [pytest.mark.engine, pytest.mark.timeout(400), pytest.mark.xdist_group("linux-boot")]

FAKES = fakes.command("modprobe") | fakes.command("swapon") | fakes.command("sysctl")
STARTS_RUNNER = b"""\
[Unit]
After=network-online.target
[Service]
Type=oneshot
ExecStart=/bin/sh /var/lib/started-by-provisioner
TimeoutStartSec=200
[Install]
WantedBy=multi-user.target
"""
RUNS = b"""\
sh /var/lib/slipway/run || exit 1
cp /proc/self/mounts /var/log/mounts
cat /proc/sys/kernel/hostname >/var/log/name
"""


@dataclass(frozen=True)
class Booted:
    """A machine after its first boot and its second one."""

    first: systemd_boot.Boot
    second: systemd_boot.Boot
    logs: dict[str, str]


@pytest.fixture(scope="module")
def booted(lower: LowerSystem, engine: Callable[..., None]) -> Iterator[Booted]:
    """A machine with the full spec, on which a service of systemd starts the runner."""
    engine("root-trixie")
    done = lower(full_spec(certificate("corp")), boot=boot_commands())
    finish(done.draft, SUPPORTS)
    files = {file.path: File(content_bytes(file.content, SECRETS), file.mode) for file in done.draft.bundle.os.files}
    unit = "/etc/systemd/system/slipway-bootstrap.service"
    files[unit] = File(STARTS_RUNNER)
    files["/var/lib/started-by-provisioner"] = File(RUNS)
    files["/etc/systemd/system/kubelet.service"] = File(b"[Service]\nExecStart=/bin/true\n")
    with sandbox.opened(roots.ROOTS["trixie"].require()) as box:
        enable = sandbox.Command(("systemctl", "enable", "slipway-bootstrap.service"))
        (outcome,) = box.session([enable], files=files | FAKES)
        assert outcome.status == 0
        first = systemd_boot.boot(box)
        names = {path.name: path.read_text() for path in (box.upper / "var/log").iterdir() if path.is_file()}
        failed = list((box.upper / "var/lib/slipway/state").rglob("*.failed"))
        assert failed == [], failed[0].read_text()
        second = systemd_boot.boot(box)
        names["boots-2"] = (box.upper / "var/log/boots").read_text()
        yield Booted(first, second, names)


def test_mounts_are_mounted_by_the_runner(booted: Booted) -> None:
    """The mount is there when the bootstrap begins, and one that may fail does not stop it."""
    assert "tmpfs /mnt/a-b\\040c tmpfs" in booted.logs["mounts"]
    assert "/mnt/absent" not in booted.logs["mounts"]


def test_units_are_started_on_this_boot(booted: Booted) -> None:
    """Also one that is ordered behind the service which starts it: it does not hold the bootstrap up for ever."""
    assert booted.logs["mine"].count("started") == 2
    assert "slipway-bootstrap.service" not in booted.first.failed_units


def test_the_running_system_has_its_name(booted: Booted) -> None:
    """The kernel's own name is the spec's before the bootstrap begins."""
    assert booted.logs["name"].strip() == "renamed-1"


def test_boot_commands_run_on_every_boot(booted: Booted) -> None:
    """Once on the first boot, and once more on the second, where systemd itself starts them."""
    assert booted.logs["boots"] == "it's $HOME\na secret word\n"
    assert booted.logs["boots-2"] == 2 * booted.logs["boots"]


def test_later_boots_are_sound(booted: Booted) -> None:
    """Only the service whose command fails on purpose is a failed unit; none is in an ordering cycle."""
    assert booted.second.failed_units <= {"slipway-boot.service", *_not_ours(booted.first)}
    assert "ordering cycle" not in booted.second.journal


def _not_ours(boot: systemd_boot.Boot) -> set[str]:
    """Units of the image that cannot work inside a container."""
    return {unit for unit in boot.failed_units if not unit.startswith(("mnt-", "mine", "late", "slipway-"))}
