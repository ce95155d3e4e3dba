"""Machines on which commands of imported configs are executed for real."""

from tests.bootstrapper.lowering.runners.conftest import machine

__all__ = ["machine"]
