"""Small programs that each judge one kind of file: shell, units, sudo rules, sysctl and sshd settings.

All of them run on a machine of their own: sysctl's dry run, for one, reads the kernel's tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tools.oracles import roots, sandbox
from tools.oracles.finding import Finding, error, warning
from tools.oracles.sandbox import Command, File, Outcome

_FOLDER = "/engine"


def dash(script: bytes) -> list[Finding]:
    """Whether the POSIX shell can read the script; nothing of it runs."""
    return _check("dash", ("dash", "-n"), script, name="script.sh")


def shellcheck(script: bytes, *, shell: str = "sh", severity: str = "warning") -> list[Finding]:
    """What shellcheck finds of that severity (error, warning, info, style) or a worse one."""
    command = ("shellcheck", "--norc", "--format=gcc", f"--shell={shell}", f"--severity={severity}")
    return _check("shellcheck", command, script, name="script.sh", judge=_by_gcc_line)


def systemd_unit(name: str, unit: bytes, *, extra_files: Mapping[str, File] | None = None) -> list[Finding]:
    """What ``systemd-analyze verify`` says about a unit.

    Args:
        name: of the unit, with its suffix.
        unit: its content.
        extra_files: programs that it starts and units that it names, by path: it must find them.
    """
    files = {**(extra_files or {}), f"/etc/systemd/system/{name}": File(unit)}
    command = ("systemd-analyze", "verify", "--recursive-errors=no", "--man=no", f"/etc/systemd/system/{name}")
    # Words on standard error count as much as the status: an unknown key is only ever told.
    return _judge("systemd-analyze", _run(command, files), judge=_each_line)


def sudoers(rules: bytes) -> list[Finding]:
    """What ``visudo`` says about a file of sudo rules."""
    command = ("visudo", "-c", "-f")
    return _check("visudo", command, rules, name="rules")


def sysctl(settings: bytes) -> list[Finding]:
    """What sysctl says about a file for sysctl.d, without setting anything.

    A key of a kernel module that is not loaded here is a finding, too: compare with the modules that are loaded first.
    """
    return _check("sysctl", ("sysctl", "--dry-run", "-p"), settings, name="settings.conf", judge=_sysctl_line)


def sshd(settings: bytes) -> list[Finding]:
    """What ``sshd -t`` says about a drop-in for sshd_config.d."""
    path = "/etc/ssh/sshd_config.d/50-engine.conf"
    prepare = "ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key && mkdir -p /run/sshd && sshd -t"
    return _judge("sshd", _run(("sh", "-c", prepare), {path: File(settings, 0o600)}), judge=_each_line)


Judge = Callable[[str, str], Finding | None]


def _check(
    engine: str, command: tuple[str, ...], content: bytes, *, name: str, judge: Judge | None = None
) -> list[Finding]:
    path = f"{_FOLDER}/{name}"
    # sudo rules that others may read or write are refused by visudo whatever they say.
    return _judge(engine, _run((*command, path), {path: File(content, 0o440)}), judge=judge)


def _run(command: tuple[str, ...], files: Mapping[str, File]) -> Outcome:
    with sandbox.opened(roots.ROOTS["checkers"].require()) as box:
        (outcome,) = box.session([Command(command, timeout=60.0)], files=files)
    return outcome


def _judge(engine: str, outcome: Outcome, *, judge: Judge | None) -> list[Finding]:
    output = outcome.output.decode(errors="replace").replace(f"{_FOLDER}/", "")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    findings = [one for line in lines if judge and (one := judge(engine, line))]
    if outcome.status and not findings:
        findings = [error(engine, " ".join(lines) or f"ended with {outcome.status}")]
    return findings


def _each_line(engine: str, line: str) -> Finding:
    return error(engine, line)


def _by_gcc_line(engine: str, line: str) -> Finding:
    where, _, message = line.partition(": ")
    kind, _, text = message.partition(": ")
    return (error if kind == "error" else warning)(engine, text, where)


def _sysctl_line(engine: str, line: str) -> Finding | None:
    return error(engine, line.removeprefix("sysctl: ")) if line.startswith("sysctl: ") else None
