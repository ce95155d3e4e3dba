"""Mutants that take the first of several, or nothing where something is said to be off."""

from collections.abc import Iterator

from slipway.v1alpha1 import os_pb2 as ospb
from tests.services.conformance.bent import Request
from tests.services.conformance.mutants.control_plane import NewestTalos
from tests.services.conformance.mutants.mutant import Mutant
from tests.services.conformance.mutants.unasked import OneIgnition, asked, system

_EXTENDED = ("RND-019.extended-items",)


def mutants() -> Iterator[Mutant]:
    """Give them."""
    for name in ("ssh_authorized_keys", "sudo", "groups"):
        yield Mutant(f"one of the {name} of a user", _EXTENDED, system(_Shortened("users", name)))
    yield Mutant("one drop-in of a unit", _EXTENDED, system(_Shortened("systemd_units", "drop_ins"), OneIgnition))
    yield Mutant("one drop-in of the entry point", _EXTENDED, asked(_one_drop_in, OneIgnition))
    yield Mutant("one unit before the entry point", _EXTENDED, asked(_one_unit, OneIgnition))
    yield Mutant("one URL of a file", ("RND-015.byte-for-byte",), system(_one_url, OneIgnition))
    for name in ("users", "mounts"):
        yield Mutant(f"one of the {name}", _EXTENDED, system(_First(name)))
    yield Mutant("one of the servers", _EXTENDED, system(_one_server, NewestTalos))
    yield Mutant("one of the mirrors", _EXTENDED, system(_one_mirror, NewestTalos))
    yield Mutant("a unit that is off is left alone", _EXTENDED, system(_nothing_off, OneIgnition))
    yield Mutant("a password that is not locked is left alone", _EXTENDED, system(_unlocked))


class _First:
    """Keeps the first of a list."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, os: ospb.OperatingSystem) -> None:
        del getattr(os, self._name)[1:]


class _Shortened:
    """Keeps the first of a list in each item of another."""

    def __init__(self, items: str, name: str) -> None:
        self._items = items
        self._name = name

    def __call__(self, os: ospb.OperatingSystem) -> None:
        for item in getattr(os, self._items):
            del getattr(item, self._name)[1:]


def _one_drop_in(request: Request) -> None:
    del request.bundle.plan.entrypoint.drop_ins[1:]


def _one_unit(request: Request) -> None:
    del request.bundle.plan.entrypoint.after_units[1:]


def _one_url(os: ospb.OperatingSystem) -> None:
    for file in os.files:
        if file.HasField("remote"):
            del file.remote.urls[1:]


def _one_server(os: ospb.OperatingSystem) -> None:
    del os.ntp.servers[1:]
    del os.ntp.pools[1:]


def _one_mirror(os: ospb.OperatingSystem) -> None:
    for registry in os.containerd.registries:
        del registry.endpoints[1:]


def _nothing_off(os: ospb.OperatingSystem) -> None:
    for unit in os.systemd_units:
        if not unit.enabled:
            unit.ClearField("enabled")


def _unlocked(os: ospb.OperatingSystem) -> None:
    for user in os.users:
        user.ClearField("lock_password")
