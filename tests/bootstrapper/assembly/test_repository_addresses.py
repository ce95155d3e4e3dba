"""Addresses of package repositories that no package manager can use, or that give a password to every account."""

import pytest

from slipway.bootstrapper.assembly.structure import repository_violations, violations
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb

CANARY = "Zq7CanaryValue"


def system(url: str) -> ospb.OperatingSystem:
    """Make a system whose second repository has an address."""
    made = ospb.OperatingSystem()
    for address in ("https://example.com/debian", url):
        made.packages.repositories.add(name="a", url=address)
    return made


@pytest.mark.parametrize(
    ("url", "expected", "reason"),
    [
        (f"https://me:{CANARY}@example.com/", "holds credentials", "a password that all can read"),
        (f"https://{CANARY}@example.com/", "holds credentials", "a token in place of the name"),
        (f"ftp://example.com/{CANARY}", "http or https", "another scheme"),
        (f"file:///{CANARY}", "http or https", "a folder of the machine"),
        (f"https:///{CANARY}", "http or https", "no host"),
    ],
)
def test_an_address_is_refused_by_its_field(url: str, expected: str, reason: str) -> None:
    """The field of the very repository is named, and nothing of the address."""
    (violation,) = repository_violations(system(url), "os")
    assert violation.path == "os.packages.repositories[1].url", reason
    assert expected in violation.description
    assert CANARY not in f"{violation}"


@pytest.mark.parametrize("url", ["http://example.com/a", "https://[2001:db8::1]:8443/a", "https://example.com/@a", ""])
def test_other_addresses_are_let_by(url: str) -> None:
    """A sign in the path is no account; that an address is missing, its own rule says."""
    assert not list(repository_violations(system(url), "os"))


@pytest.mark.parametrize("layer", ["", "init.", "join."])
def test_every_layer_of_a_spec_is_looked_at(layer: str) -> None:
    """Also what counts for the first machine only, or for all others."""
    spec = specpb.MachineBootstrapSpec()
    part = getattr(spec, layer[:-1]) if layer else spec
    part.os.CopyFrom(system("https://me:secret@example.com/"))
    paths = [violation.path for violation in violations(spec)]
    assert f"{layer}os.packages.repositories[1].url" in paths
