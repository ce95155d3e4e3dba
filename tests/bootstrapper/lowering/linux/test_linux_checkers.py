"""Tests of everything that the Linux passes write by the programs that judge such files."""

from collections.abc import Callable
from importlib.resources import files

import pytest

from slipway.v1alpha1 import os_pb2 as ospb
from tests.bootstrapper.lowering.linux.full_linux_spec import boot_commands, certificate, full_spec
from tests.bootstrapper.lowering.lowered_systems import Lowered, LowerSystem
from tools.oracles import checkers
from tools.oracles.sandbox import File

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module", autouse=True)
def _checkers(engine: Callable[..., None]) -> None:
    engine("checkers")


@pytest.fixture(scope="module")
def full(lower: LowerSystem) -> Lowered:
    """The full spec, lowered."""
    spec = full_spec(certificate("corp"))
    spec.containerd.SetInParent()
    spec.packages.upgrade = True
    return lower(spec, boot=boot_commands())


def test_scripts_are_posix_shell(full: Lowered) -> None:
    """Dash reads them, and shellcheck finds nothing that a value could break."""
    for name, script in full.scripts.items():
        assert checkers.dash(script.encode()) == [], name
    whole = "\n".join(f"({script}\n)" for script in full.scripts.values())
    assert [str(one) for one in checkers.shellcheck(whole.encode()) if "SC2317" not in str(one)] == []


def test_programs_are_posix_shell() -> None:
    """The programs as they are checked in, functions that nobody calls included."""
    folder = files("slipway.bootstrapper.lowering.linux").joinpath("programs")
    whole = b"#!/bin/sh\n" + b"\n".join(path.read_bytes() for path in sorted(folder.iterdir(), key=str))
    # Names that other programs read, and the date of a message, which has no blanks.
    known = ("SC2034", "SC2046")
    assert [str(one) for one in checkers.shellcheck(whole) if not any(code in str(one) for code in known)] == []


def test_units_are_sound(full: Lowered) -> None:
    """Systemd itself knows every key of the service for boot commands."""
    unit = full.text("/etc/systemd/system/slipway-boot.service").encode()
    assert checkers.systemd_unit("slipway-boot.service", unit) == []


def test_proxy_values_survive_systemd(lower: LowerSystem) -> None:
    """A drop-in with quotes, dollars and specifiers is one that systemd reads without a word."""
    proxy = ospb.Proxy(http_proxy="http://u:p%40w'$x${y}@h:1", no_proxy=["a%b", 'q"\\'])
    done = lower(ospb.OperatingSystem(proxy=proxy))
    path = "/etc/systemd/system/containerd.service.d/10-slipway-proxy.conf"
    files_ = {path: File(done.text(path).encode())}
    unit = b"[Service]\nExecStart=/bin/true\n"
    assert checkers.systemd_unit("containerd.service", unit, extra_files=files_) == []


def test_rules_are_sudos(full: Lowered) -> None:
    """Visudo reads what stands in the rules of a user."""
    assert checkers.sudoers(full.text("/etc/sudoers.d/90-slipway-ann").encode()) == []


def test_settings_are_sysctls(full: Lowered) -> None:
    """Sysctl reads both spellings of a name."""
    assert checkers.sysctl(full.text("/etc/sysctl.d/99-zz-slipway.conf").encode()) == []
