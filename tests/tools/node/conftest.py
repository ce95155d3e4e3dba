"""Gives the tests of this folder the ``engine`` fixture."""

from tools.engines.pytest_plugin import engine

__all__ = ["engine"]
