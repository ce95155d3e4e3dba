"""cloud-init itself: its schema check, and a first boot with its four stages on a machine of its own.

Exit codes and ``status: done`` prove nothing: broken YAML, an unknown key or a jinja error are swallowed with
rc 0. So ``run`` gives what the machine looks like afterwards, and every warning of the log as a finding.
``python -m tools.oracles.cloud_init < user-data`` shows it to a person.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import gzip
import json
import math
import re
import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tools.oracles import roots, sandbox, systemd_boot, tree_scan, unit_files
from tools.oracles.finding import Finding, error, warning
from tools.oracles.machine_state import MachineState
from tools.oracles.network import Site
from tools.oracles.sandbox import Command, File, Outcome, Sandbox

NAME = "cloud-init"
_SEED = "/var/lib/cloud/seed/nocloud"
_SETTINGS = b"""\
growpart: {mode: "off"}
resize_rootfs: false
locale: C.UTF-8
datasource_list: [NoCloud, None]
datasource: {NoCloud: {fs_label: null}}
ssh_genkeytypes: [ed25519]
network: {config: disabled}
"""
_GZIP = b"\x1f\x8b"
_PROGRAM = Path(__file__).with_name("cloud_init_stages.py")
_STAGES = (("init", "--local"), ("init",), ("modules", "--mode=config"), ("modules", "--mode=final"))
_LOG_LINE = re.compile(r"^\S+ \S+ - (?P<module>\S+)\[(?P<level>WARNING|ERROR|CRITICAL)\]: (?P<message>.*)$")
_HARMLESS = (
    # The harness boots without ds-identify and without a network on purpose.
    re.compile(r"Unable to (find|disable) .*ds-identify"),
    re.compile(r"^Multiple configuration sources"),
)


@dataclasses.dataclass(frozen=True, slots=True)
class MachineFacts:
    """What the cloud tells the machine about itself; ``meta_data`` adds to the two facts before it."""

    instance_id: str = "i-engine"
    local_hostname: str = "node1"
    meta_data: Mapping[str, str] = dataclasses.field(default_factory=dict)


class Machine:
    """A machine that cloud-init boots; use ``opened``."""

    def __init__(self, box: Sandbox, *, facts: MachineFacts, extra_files: Mapping[str, File]) -> None:
        self.box = box
        self._facts = facts
        self._given = dict(extra_files)
        self._outcomes: list[Outcome] = []
        self._systemd: systemd_boot.Boot | None = None

    def boot(
        self, user_data: bytes | None = None, *, timeout: float = 120.0, by_command: bool = False
    ) -> list[Outcome]:
        """Runs the four stages, each with ``timeout`` seconds; without user data it is a later boot.

        They are processes of one program that has loaded cloud-init's modules, which takes half the time of its
        command, by which they are run when asked for.
        """
        self._systemd = None
        if by_command:
            stages = [Command(("cloud-init", *stage), timeout=timeout) for stage in _STAGES]
            self._outcomes = self.box.session(stages, files=self._seed(user_data))
        else:
            order = json.dumps({"stages": _STAGES, "seconds": math.ceil(timeout)})
            argv = ("/usr/bin/python3", "-P", "-c", _PROGRAM.read_text(encoding="utf-8"), order)
            (whole,) = self.box.session([Command(argv, timeout=5 * timeout)], files=self._seed(user_data))
            self._outcomes = _of_stages(whole)
        return self._outcomes

    def boot_under_systemd(self, user_data: bytes | None = None, *, timeout: float = 100.0) -> systemd_boot.Boot:
        """Boots with the real systemd as PID 1, which runs the packaged units of cloud-init, and then all others."""
        self._outcomes = []
        self._systemd = systemd_boot.boot(self.box, files=self._seed(user_data), timeout=timeout)
        return self._systemd

    def _seed(self, user_data: bytes | None) -> dict[str, File]:
        if user_data is None:
            return {}
        meta = {"instance-id": self._facts.instance_id, "local-hostname": self._facts.local_hostname}
        return {
            **self._given,
            "/etc/cloud/cloud.cfg.d/99_engine_harness.cfg": File(_SETTINGS),
            f"{_SEED}/user-data": File(user_data, 0o600),
            f"{_SEED}/meta-data": File(json.dumps({**meta, **self._facts.meta_data}).encode()),
        }

    def run(self, *commands: Command) -> list[Outcome]:
        """Runs further commands on the machine, with the ``/run`` that the last boot left."""
        return self.box.session(commands, reboot=False)

    def state(self) -> MachineState:
        """What the machine looks like now."""
        verdict = tree_scan.Verdict(NAME, self._status(), tuple(self._findings()))
        return tree_scan.read(self.box, verdict, given=self._given)

    def _status(self) -> str:
        """``done``; ``degraded`` where cloud-init reports a recoverable error; else ``error``."""
        stages = _stages(self.box)
        if any(outcome.timed_out or outcome.status for outcome in self._outcomes) or not stages:
            return "error"
        if any(stage.get("errors") for stage in stages.values()):
            return "error"
        return "degraded" if any(stage.get("recoverable_errors") for stage in stages.values()) else "done"

    def _findings(self) -> Iterator[Finding]:
        yield from self._systemd.findings if self._systemd else ()
        for outcome in self._outcomes:
            if outcome.status:
                ending = "timed out" if outcome.timed_out else f"ended with {outcome.status}"
                yield error(NAME, f"{' '.join(outcome.argv)} {ending}")
        for name, stage in _stages(self.box).items():
            for message in stage.get("errors", ()):
                yield error(NAME, message, name)
        log = self.box.upper / "var/log/cloud-init.log"
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else ():
            match = _LOG_LINE.match(line)
            if match and not any(pattern.search(match["message"]) for pattern in _HARMLESS):
                judged = warning if match["level"] == "WARNING" else error
                yield judged(NAME, match["message"], match["module"])


@contextlib.contextmanager
def opened(
    *,
    root: str = "trixie",
    machine: MachineFacts | None = None,
    extra_files: Mapping[str, File] | None = None,
    sites: Sequence[Site] = (),
    neighbour: int = 0,
) -> Iterator[Machine]:
    """Gives a machine that was never booted, for tests that boot twice or look in between.

    Args:
        root: ``trixie`` (cloud-init 25.1) or ``bookworm`` (22.4).
        machine: what the cloud tells it.
        extra_files: put there before the first boot, such as fake commands; no part of the state.
        sites: what it can reach.
        neighbour: a process whose network it shares.

    Raises:
        EngineMissing: the root was not built.
    """
    with sandbox.opened(roots.ROOTS[root].require(), sites=sites, neighbour=neighbour) as box:
        yield Machine(box, facts=machine or MachineFacts(), extra_files=extra_files or {})


def run(  # noqa: PLR0913 keyword-only, each with a default
    user_data: bytes,
    *,
    root: str = "trixie",
    machine: MachineFacts | None = None,
    extra_files: Mapping[str, File] | None = None,
    boots: int = 1,
    start: tuple[str, ...] = (),
    systemd: bool = False,
) -> MachineState:
    """Boots a machine with the user data and gives what it looks like; arguments as in ``opened``.

    ``boots`` counts the boots in all; the services in ``start`` are started after the last one. With ``systemd`` each
    boot has the real systemd as PID 1.
    """
    with opened(root=root, machine=machine, extra_files=extra_files) as box:
        for number in range(boots):
            (box.boot_under_systemd if systemd else box.boot)(None if number else user_data)
        for unit in start:
            unit_files.start(box.box, unit)
        return box.state()


def validate(user_data: bytes, *, root: str = "trixie") -> list[Finding]:
    """What ``cloud-init schema`` says; no finding for a document that it calls valid.

    Gzip, which a boot takes but the schema command does not, is undone first. 22.4 (bookworm) cannot read multipart,
    jinja or archive input either: give it the inner document.
    """
    if user_data.startswith(_GZIP):
        user_data = gzip.decompress(user_data)
    check = Command(("cloud-init", "schema", "--config-file", "/root/user-data"), timeout=60.0)
    with sandbox.opened(roots.ROOTS[root].require()) as box:
        (outcome,) = box.session([check], files={"/root/user-data": File(user_data, 0o600)})
    lines = [line for line in outcome.output.decode(errors="replace").splitlines() if line.strip(" ^")]
    if outcome.status:
        return [error(NAME, line) for line in lines or ["schema failed without a word"]]
    return [warning(NAME, line) for line in lines if "deprecat" in line.lower() or "warning" in line.lower()]


def _of_stages(whole: Outcome) -> list[Outcome]:
    """How each stage ended, out of what the program has said of all of them."""
    try:
        answers = json.loads(whole.output.splitlines()[-1])
        return [
            Outcome(
                ("cloud-init", *stage),
                answer["status"],
                base64.b64decode(answer["output"]),
                answer["seconds"],
                timed_out=answer["status"] == -signal.SIGALRM,
            )
            for stage, answer in zip(_STAGES, answers, strict=True)
        ]
    except (IndexError, ValueError):
        return [dataclasses.replace(whole, argv=("cloud-init",), status=whole.status or 1)]


def _stages(box: Sandbox) -> dict[str, dict[str, Sequence[str]]]:
    path = box.upper / "var/lib/cloud/data/status.json"
    if not path.is_file():
        return {}
    held = json.loads(path.read_bytes())["v1"]
    return {name: stage for name, stage in held.items() if isinstance(stage, dict)}


if __name__ == "__main__":
    from tools.oracles.commandline import main

    main(NAME, validate=validate, run=run)
