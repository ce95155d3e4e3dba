"""Ignition itself: its parsers (specs 3.0 to 3.6 and 2.3) and a first boot with Debian's engine.

The engine, 2.14, takes specs up to 3.3; a 2.3 config is translated by Ignition's own translator first. The
stages run in an initramfs of their own with the machine's disk at /sysroot, as on a real machine; disks are
for qemu, never here. ``python -m tools.oracles.ignition < config`` shows the machine to a person.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence

from tools.oracles import presets, roots, sandbox, systemd_boot, tree_scan, unit_files
from tools.oracles.finding import Finding, error, warning
from tools.oracles.ignition_parsers import NAME, butane, executable, translate, validate
from tools.oracles.machine_state import MachineState
from tools.oracles.network import Site
from tools.oracles.sandbox import Command, File, Outcome, Sandbox

__all__ = ["Machine", "butane", "opened", "run", "translate", "validate"]

_ENGINE = "/usr/lib/dracut/modules.d/30ignition/ignition"
_PRESET = "etc/systemd/system-preset/20-ignition.preset"
# Debian's build relabels at the end of the files stage and fails, all done, on a system without SELinux
# rules.
_SELINUX = {
    "/sysroot/etc/selinux/config": File(b"SELINUX=disabled\nSELINUXTYPE=none\n"),
    "/sysroot/etc/selinux/none/contexts/files/file_contexts": File(b"/.*\tsystem_u:object_r:unlabeled_t:s0\n"),
}
_LOG_LINE = re.compile(r"(?:(?P<level>CRITICAL|EMERG|ALERT|ERROR|WARNING)\s*:|warning at) (?P<message>.*)")


class Machine:
    """A machine that Ignition sets up; use ``opened``."""

    def __init__(self, box: Sandbox, *, extra_files: Mapping[str, File]) -> None:
        self.box = box
        self._given = dict(extra_files)
        self._outcomes: list[Outcome] = []
        self._systemd: systemd_boot.Boot | None = None
        self._left_out: tuple[str, ...] = ()

    def boot(self, config: bytes, *, leave_out_disks: bool = False, timeout: float = 60.0) -> list[Outcome]:
        """The initramfs part of the first boot: the stages fetch and files, then the presets.

        Args:
            config: of any spec that Debian's engine takes, or 2.3.
            leave_out_disks: go on without what the config says about block devices, with a warning for each part.
            timeout: of each stage, in seconds.

        Raises:
            EngineBroken: the config asks for block devices, which the machine here must not have.
        """
        config, self._left_out = executable(config, leave_out_disks=leave_out_disks)
        files = {
            **_SELINUX,
            **{f"/sysroot{path}": item for path, item in self._given.items()},
            "/config.ign": File(config, 0o600),
        }
        environment = {**sandbox.ENVIRONMENT, "IGNITION_CONFIG_FILE": "/config.ign"}
        options = (
            "-platform=file",
            "-root=/sysroot",
            "-config-cache=/config-cache",
            "-state-file=/state",
            "-neednet=n",
        )
        stages = [
            Command(
                (_ENGINE, f"-stage={stage}", *options, "-log-to-stdout"),
                timeout=timeout,
                environment=environment,
            )
            for stage in ("fetch", "files")
        ]
        tidy = Command(("rm", "-rf", "/sysroot/etc/selinux"))
        initramfs = roots.ROOTS["ignition"].require()
        *self._outcomes, _ = self.box.session([*stages, tidy], files=files, initramfs=initramfs)
        preset = self.box.upper / _PRESET
        if preset.is_file() and (named := presets.units(preset.read_text(encoding="utf-8"))):
            # By its path: with a fake in its place nothing would be enabled, and nobody would see it. One by one, since
            # systemd enables the others, too, where one of the units is not there.
            self._outcomes += self.box.session(
                [Command(("/usr/bin/systemctl", "preset", "--", unit)) for unit in named]
            )
        return self._outcomes

    def boot_under_systemd(self, *, timeout: float = 100.0) -> systemd_boot.Boot:
        """The rest of a boot, with the real systemd as PID 1: it starts what is enabled."""
        self._systemd = systemd_boot.boot(self.box, timeout=timeout)
        return self._systemd

    def start_unit(self, name: str) -> list[Outcome]:
        """Runs what systemd would run for a service, up to the first command that fails."""
        return unit_files.start(self.box, name)

    def run(self, *commands: Command) -> list[Outcome]:
        """Runs further commands on the machine, after its switch to the real root."""
        return self.box.session(commands, reboot=False)

    def state(self) -> MachineState:
        """What the machine looks like now."""
        status = "error" if any(outcome.status for outcome in self._outcomes) else "done"
        return tree_scan.read(self.box, tree_scan.Verdict(NAME, status, tuple(self._findings())), given=self._given)

    def _findings(self) -> Iterator[Finding]:
        yield from self._systemd.findings if self._systemd else ()
        for name in self._left_out:
            yield warning(NAME, "left out: no block devices here", f"storage.{name}")
        for outcome in self._outcomes:
            if outcome.status:
                yield error(NAME, f"{' '.join(outcome.argv[:2])} ended with {outcome.status}")
            for line in outcome.output.decode(errors="replace").splitlines():
                if match := _LOG_LINE.search(line):
                    judged = warning if match["level"] in {"WARNING", None} else error
                    yield judged(NAME, match["message"])


@contextlib.contextmanager
def opened(
    *,
    root: str = "trixie",
    extra_files: Mapping[str, File] | None = None,
    sites: Sequence[Site] = (),
    neighbour: int = 0,
) -> Iterator[Machine]:
    """Gives a machine that was never booted; ``extra_files`` are there before and no part of the state.

    It can reach ``sites``, as does what sets it up, or shares the network of the process ``neighbour``.

    Raises:
        EngineMissing: a root was not built.
    """
    with sandbox.opened(roots.ROOTS[root].require(), sites=sites, neighbour=neighbour) as box:
        yield Machine(box, extra_files=extra_files or {})


def run(  # noqa: PLR0913 keyword-only, each with a default
    config: bytes,
    *,
    root: str = "trixie",
    extra_files: Mapping[str, File] | None = None,
    start: tuple[str, ...] = (),
    systemd: bool = False,
    leave_out_disks: bool = False,
) -> MachineState:
    """Sets up a machine, starts the services named in ``start``, and gives what it looks like.

    With ``systemd`` the machine boots on with the real systemd, which starts what is enabled; ``leave_out_disks`` as
    in ``Machine.boot``.
    """
    with opened(root=root, extra_files=extra_files) as machine:
        machine.boot(config, leave_out_disks=leave_out_disks)
        if systemd:
            machine.boot_under_systemd()
        for unit in start:
            machine.start_unit(unit)
        return machine.state()


if __name__ == "__main__":
    from tools.oracles.commandline import main

    main(NAME, validate=validate, run=run)
