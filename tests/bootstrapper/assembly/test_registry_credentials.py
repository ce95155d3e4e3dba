"""Credentials of container registries: once for a host, and only for one that is asked."""

import pytest

from slipway.bootstrapper.assembly.subject import check
from slipway.contract.errors import SpecInvalid
from tests.bootstrapper.assembly.subjects import subject

CREDENTIALS = "credentials: {username: a, password: {value: b}}"


@pytest.mark.parametrize(
    ("first", "second"), [("docker.io", "registry-1.docker.io"), ("r.example.com", "R.example.com")]
)
def test_credentials_of_one_host_are_given_once(first: str, second: str) -> None:
    """Two registries that a runtime asks at one host cannot both have credentials: the error names both places."""
    one, two = (f"{{host: {host}, credentials: {{username: a, password: {{value: b}}}}}}" for host in (first, second))
    with pytest.raises(SpecInvalid) as caught:
        check(subject(f"os: {{containerd: {{registries: [{one}, {two}]}}}}"))
    (told,) = caught.value.violations
    assert told.path.endswith("os.containerd.registries[1].credentials")
    assert "os.containerd.registries[0].credentials" in told.description


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("host: a.io", "host: b.io", "the registry itself is asked"),
        ("host: docker.io", "host: b.io", "by its other name"),
        (
            "host: 'b.io:5000'",
            "host: c.io, onlyEndpoints: true, endpoints: [{url: 'https://B.io:5000/v2'}]",
            "a mirror",
        ),
        ("host: b.io", "host: c.io, server: 'https://b.io'", "a server"),
        ("host: a.io, server: 'https://a.io'", "host: b.io", "its own server"),
    ],
)
def test_credentials_of_an_asked_host_are_accepted(first: str, second: str, reason: str) -> None:
    """Whichever entry makes the runtime ask it."""
    registries = f"[{{{first}, {CREDENTIALS}}}, {{{second}, endpoints: [{{url: 'https://d.io'}}]}}]"
    if "endpoints" in second:
        registries = f"[{{{first}, {CREDENTIALS}}}, {{{second}}}]"
    assert check(subject(f"os: {{containerd: {{registries: {registries}}}}}")), reason
