"""The small checkers: each takes a good file and flags a broken one."""

import pytest

from tools.oracles import checkers
from tools.oracles.sandbox import File

pytestmark = pytest.mark.engine

UNIT = b"[Unit]\nDescription=x\n[Service]\nType=oneshot\nExecStart=/opt/bin/run --all\n"
PROGRAM = {"/opt/bin/run": File(b"#!/bin/sh\n", 0o755)}


def unit(content):
    return checkers.systemd_unit("val.service", content, extra_files=PROGRAM)


@pytest.mark.parametrize(
    ("check", "good", "broken", "reason"),
    [
        (checkers.dash, b"if true; then echo a; fi\n", b"if true; then echo a\n", "an open if"),
        (checkers.shellcheck, b'echo "$1"\n', b"cd $1 && rm -rf $UNKNOWN/*\n", "an unset variable"),
        (checkers.sudoers, b"ops ALL=(ALL) NOPASSWD:ALL\n", b"ops ALL=(ALL NOPASSWD:ALL\n", "an open parenthesis"),
        (checkers.sysctl, b"# x\nvm.swappiness = 1\n", b"vm.swapines = 1\n", "an unknown key"),
        (checkers.sysctl, b"kernel.panic=10\n", b"kernel.panic\n", "no value"),
        (checkers.sshd, b"PermitRootLogin no\n", b"PermitRootLogi no\n", "an unknown keyword"),
        (unit, UNIT, UNIT.replace(b"Type=oneshot", b"Type=oneshoot"), "an unknown type"),
        (unit, UNIT, UNIT.replace(b"Description", b"Descripton"), "an unknown key, which is only a warning"),
        (unit, UNIT, UNIT.replace(b"/opt/bin/run", b"/opt/bin/missing"), "a program that is not there"),
    ],
)
def test_good_and_broken(engine, check, good, broken, reason):
    """No finding for the good file, one at least for the broken one."""
    engine("root-checkers")
    assert check(good) == []
    assert check(broken), reason


def test_mount_unit_name_must_fit_its_path(engine):
    """A mount unit whose name is not the escaped path is flagged: it would never be mounted."""
    engine("root-checkers")
    content = b"[Mount]\nWhat=/dev/disk/by-label/x\nWhere=/var/lib/my-data\n[Install]\nWantedBy=local-fs.target\n"
    assert checkers.systemd_unit("var-lib-my\\x2ddata.mount", content) == []
    assert checkers.systemd_unit("var-lib-my-data.mount", content)


def test_shellcheck_places_its_findings(engine):
    """A finding tells its line and its rule."""
    engine("root-checkers")
    (found,) = checkers.shellcheck(b"x=1\ncd $1 || exit\n", severity="info")[-1:]
    assert found.where.startswith("script.sh:2:")
    assert "SC2086" in found.message
