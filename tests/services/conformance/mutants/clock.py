"""Mutants that write the date: two renders of one day are alike."""

import base64
import time
from collections.abc import Iterator

from tests.services.conformance.mutants.bending import append
from tests.services.conformance.mutants.mutant import Mutant

_ANOTHER_DAY = ("RND-003.another-day",)
_DAY = 86_400


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant("today's date in the user data", _ANOTHER_DAY, append(lambda _: _today("%Y-%m-%d")))
    yield Mutant("today's date in words in the user data", _ANOTHER_DAY, append(lambda _: _today("%d %B %Y")))
    yield Mutant("today's date as a number in the user data", _ANOTHER_DAY, append(lambda _: _today("%Y%m%d")))
    yield Mutant("today's date in the content of a file", _ANOTHER_DAY, append(lambda _: _encoded(_today("%Y-%m-%d"))))
    yield Mutant("the first second of the day in the user data", _ANOTHER_DAY, append(lambda _: _first_second()))


def _today(form: str) -> str:
    """Give the date of now in UTC."""
    return time.strftime(form, time.gmtime())


def _encoded(date: str) -> str:
    return base64.b64encode(f"made on {date} for you".encode()).decode()


def _first_second() -> str:
    return str(int(time.time()) // _DAY * _DAY)
