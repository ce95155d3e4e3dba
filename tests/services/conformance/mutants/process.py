"""Mutants that are started and ended in other ways."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import grpc
import grpc.aio

from slipway.conformance.launcher import Setup, free_address
from tests.services.conformance.bent import Life
from tests.services.conformance.mutants.living import living
from tests.services.conformance.mutants.mutant import Mutant


class _Deaf(Life):
    """Does not hear a part of what it is told."""

    def __init__(self, *, when: Callable[[Setup], bool], instead: Callable[[Setup], Setup]) -> None:
        self._when, self._instead = when, instead

    def heard(self, setup: Setup) -> Setup:
        return self._instead(setup) if self._when(setup) else setup


class _Willing(Life):
    """Starts although it must not."""

    def __init__(
        self, *, unless: Callable[[Setup], bool] = lambda setup: False, as_if: Callable[[Setup], Setup]
    ) -> None:
        self._unless, self._as_if = unless, as_if

    def refusal(self, setup: Setup) -> bool:
        return self._unless(setup)

    def heard(self, setup: Setup) -> Setup:
        return self._as_if(setup)


class _Easygoing(Life):
    """Passes over what it does not understand."""

    def lost_for_words(self, setup: Setup) -> bool:
        return False


class _Generous(_Easygoing):
    """Takes a word for yes."""

    def __init__(self, word: str) -> None:
        self._word = word

    def heard(self, setup: Setup) -> Setup:
        said = (setup.environment or {}).get("SLIPWAY_INSECURE")
        return replace(setup, insecure=True) if said == self._word else setup


class _Presence(Life):
    """Takes a variable that is there for yes, whatever it says."""

    def heard(self, setup: Setup) -> Setup:
        there = "SLIPWAY_INSECURE" in (setup.environment or {})
        return replace(setup, insecure=True) if there else setup


class _Nosy(Life):
    """Minds every variable that there is."""

    def __init__(self, minds: Callable[[str, str], bool]) -> None:
        self._minds = minds

    def refusal(self, setup: Setup) -> bool:
        return super().refusal(setup) or any(self._minds(*one) for one in (setup.environment or {}).items())


class _Polite(Life):
    """Ends, but as if all were well."""

    def __init__(self, code: int = 0) -> None:
        self._code = code

    async def drain(self, health: Any, keeper: Any, server: grpc.aio.Server) -> int:
        await super().drain(health, keeper, server)
        return self._code


def _elsewhere(setup: Setup) -> Setup:
    return replace(setup, listen=free_address())


def _insecurely(setup: Setup) -> Setup:
    return replace(setup, insecure=True, tls_cert_dir=None)


def _without_nothing(setup: Setup) -> Setup:
    """Do without TLS when the directory is empty."""
    empty = setup.tls_cert_dir is not None and not any(setup.tls_cert_dir.iterdir())
    return _insecurely(setup) if empty else setup


class _Shrugging(Life):
    """Ends with 0 when its address is taken."""

    def refusal(self, setup: Setup) -> bool:
        return super().refusal(setup)

    def front(self, listen: str) -> str:
        import socket

        host, _, port = listen.rpartition(":")
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, int(port)))
            except OSError:
                return free_address()
        return listen


def mutants() -> Iterator[Mutant]:
    """Give them."""

    def by_flags(setup: Setup) -> bool:
        return setup.by_flags

    yield Mutant("no flags", ("TRN-010.flags",), living(_Deaf(when=by_flags, instead=_elsewhere)))
    yield Mutant(
        "no flag for the registry", ("TRN-010.registry-flag",),
        living(_Deaf(when=by_flags, instead=lambda setup: replace(setup, registry=None))),
    )  # fmt: skip
    first = iter([True])
    yield Mutant(
        "no environment", ("TRN-011.environment",),
        living(_Deaf(when=lambda setup: not setup.by_flags and not next(first, False), instead=_elsewhere)),
    )  # fmt: skip
    yield Mutant(
        "variables before flags", ("TRN-012.flag-before-variable",),
        living(_Deaf(
            when=lambda setup: setup.by_flags and bool(setup.environment),
            instead=lambda setup: replace(setup, listen=(setup.environment or {})["SLIPWAY_LISTEN_ADDRESS"]))),
    )  # fmt: skip
    yield Mutant(
        "no variable that it does not know", ("TRN-011.environment",),
        living(_Nosy(lambda name, _: name == "SLIPWAY_CONFORMANCE_UNHEARD_OF")),
    )  # fmt: skip
    for word in ("1", "TRUE"):
        yield Mutant(f"{word} for yes", ("TRN-021.other-words",), living(_Generous(word)))
    yield Mutant("other words for nothing", ("TRN-021.other-words",), living(_Easygoing()), secure=True)
    yield Mutant(
        "a no that is no word", ("TRN-021.said-no",), living(_Nosy(lambda _, value: value == "false")), secure=True
    )
    yield Mutant("no TLS because of a no", ("TRN-021.said-no",), living(_Presence()))
    yield Mutant(
        "empty variables that say something", ("TRN-021.empty-variables",), living(_Nosy(lambda _, value: not value))
    )
    yield Mutant("flags that nobody reads", ("TRN-022.unknown-flag",), living(_Easygoing()))
    yield Mutant("no TLS unless told", ("TRN-014.neither",), living(_Willing(
        as_if=lambda setup: setup if setup.tls_cert_dir else replace(setup, insecure=True))))  # fmt: skip
    yield Mutant("insecure wins", ("TRN-015.both",), living(_Willing(
        as_if=lambda setup: _insecurely(setup) if setup.insecure else setup)))  # fmt: skip
    yield Mutant(
        "insecure for everybody", ("TRN-016.insecure-for-everybody",), living(_Willing(as_if=lambda setup: setup))
    )
    yield Mutant(
        "insecure at an address of its own choice", ("TRN-016.insecure-for-everybody",),
        living(_Willing(
            unless=lambda setup: str(setup.listen).startswith("0.0.0.0"),
            as_if=lambda setup: setup if setup.listen else replace(setup, listen=free_address()))),
    )  # fmt: skip
    yield Mutant("a port that is taken is no error", ("TRN-017.address-taken",), living(_Shrugging()))
    yield Mutant("no certificates, no TLS", ("TRN-017.certificates-missing",), living(_Willing(as_if=_without_nothing)))
    yield Mutant("an exit code after SIGTERM", ("TRN-018.drain",), living(_Polite(143)))
