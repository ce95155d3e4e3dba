"""Gives the tests of this folder the ``engine`` fixture."""

from tools.oracles.pytest_plugin import engine

__all__ = ["engine"]
