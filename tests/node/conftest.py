"""Gives the tests of this folder the ``engine`` fixture, and the control plane that some of them share.

All of them are of one group of xdist, and so run one after another: every node has root's account in common with all
others on this machine, and with it the kernel's limit of 128 watchers of files, which some eight nodes use up.
"""

from tests.node.harbour import harbour, switched_off
from tools.engines.pytest_plugin import engine

__all__ = ["engine", "harbour", "switched_off"]
