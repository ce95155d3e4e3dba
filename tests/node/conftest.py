"""Gives the tests of this folder the ``engine`` fixture, and what those get whose machines boot side by side.

All tests here are of one group of xdist, and so of one process: every node has root's account in common with all others
on this machine, and with it the kernel's limit of 128 watchers of files, which some eight nodes use up.
"""

from tests.node.side_by_side import harbour, place, port, pytest_pyfunc_call, under_way
from tools.oracles.pytest_plugin import engine

__all__ = ["engine", "harbour", "place", "port", "pytest_pyfunc_call", "under_way"]
