"""Puts lowered steps onto a machine, and reads what ran."""

import os
from pathlib import Path

from slipway.bootstrapper.lowering.runners.lower_steps import LoweredSteps
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine


def install(machine: LinuxMachine, result: LoweredSteps) -> list[str]:
    """Put the files there; give the entry point."""
    machine.write(result.files)
    return list(result.entrypoint.argv)


def ran(machine: LinuxMachine) -> list[str]:
    """Give the steps that ran, in order."""
    path = machine.path("/ran")
    return path.read_text().split() if path.exists() else []


def fifo(machine: LinuxMachine, name: str) -> Path:
    """Make a named pipe, on which a test and a step can wait for each other."""
    path = machine.path(name)
    os.mkfifo(path)
    return path
