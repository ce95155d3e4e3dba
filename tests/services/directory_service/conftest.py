"""A real domain for the tests of this folder that ask for one."""

from tests.services.directory.real_domain import domain

__all__ = ["domain"]
