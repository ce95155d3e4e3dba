"""Settings and flags: the process contract, and what it refuses."""

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from slipway.rpc.addresses import host_of, is_endpoint, is_loopback, port_of
from slipway.rpc.flags import FLAGS, server_options
from slipway.rpc.settings import ServerSettings


@pytest.mark.parametrize(
    ("flags", "want", "reason"),
    [
        ({}, "give --tls-cert-dir", "neither"),
        ({"insecure": True, "tls_cert_dir": "/x", "listen_address": "127.0.0.1:1"}, "exclude", "both"),
        ({"insecure": True}, "this machine only", "insecure on every address"),
        ({"insecure": True, "listen_address": "10.0.0.1:1"}, "this machine only", "insecure on a network"),
        (
            {"tls_cert_dir": "/x", "advertise_address": "a:1", "advertise_host": "a"},
            "exclude each other",
            "two ways to say where it is",
        ),
        (
            {"tls_cert_dir": "/x", "advertise_address": "fd00::7:9443"},
            "--advertise-address",
            "where an IPv6 address ends cannot be seen",
        ),
        ({"tls_cert_dir": "/x", "advertise_address": "10.0.0.7"}, "--advertise-address", "no port"),
        ({"tls_cert_dir": "/x", "advertise_host": "10.0.0.7:9443"}, "--advertise-host", "a port"),
        ({"tls_cert_dir": "/x", "advertise_host": "a b"}, "--advertise-host", "no host at all"),
        ({"insecure": True, "listen_address": "127.0.0.1:99999"}, "--listen-address", "a port that is none"),
        ({"insecure": True, "listen_address": "127.0.0.1"}, "--listen-address", "no port to listen on"),
        ({"tls_cert_dir": "/x", "metrics_address": "127.0.0.1:x"}, "--metrics-address", "a port in letters"),
        ({"tls_cert_dir": "/x", "health_address": ":70000"}, "--health-address", "a port that is none, on any host"),
        ({"tls_cert_dir": "/x", "trust_domain": "UPPER"}, "--trust-domain", "malformed trust domain"),
        ({"tls_cert_dir": "/x", "max_concurrent_calls": 0}, "--max-concurrent-calls", "below its least"),
    ],
)
def test_bad_settings_are_refused(flags: dict[str, Any], want: str, reason: str) -> None:
    """A server that would be open by mistake does not start; the text says what to change."""
    with pytest.raises(click.UsageError, match=want):
        ServerSettings.load(flags)


@pytest.mark.parametrize(
    ("host", "want"),
    [
        ("10.0.0.7", "10.0.0.7:9443"),
        ("fd00::7", "[fd00::7]:9443"),
        ("[fd00::7]", "[fd00::7]:9443"),
        ("pod-7.example.org", "pod-7.example.org:9443"),
    ],
)
def test_a_host_is_advertised_with_the_port_that_is_listened_on(host: str, want: str) -> None:
    """A pod knows its address and not its family: the same flag is right for both, and the result is an endpoint."""
    got = ServerSettings.load({"tls_cert_dir": "/x", "advertise_host": host}).advertised(port=9443)
    assert got == want
    assert is_endpoint(got)


def test_no_value_is_quoted() -> None:
    """A secret that was put into the wrong variable is not printed."""
    with pytest.raises(click.UsageError) as caught:
        ServerSettings.load({"tls_cert_dir": "/x", "log_level": "canary"})
    assert "canary" not in caught.value.message


def test_flags_win_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said last, by the person, holds; the environment fills the rest."""
    monkeypatch.setenv("SLIPWAY_LISTEN_ADDRESS", "127.0.0.1:1")
    monkeypatch.setenv("SLIPWAY_TRUST_DOMAIN", "example.org")
    monkeypatch.setenv("SLIPWAY_INSECURE", "true")
    got = ServerSettings.load({"listen_address": "127.0.0.1:2", "trust_domain": None})
    assert (got.listen_address, got.trust_domain, got.insecure) == ("127.0.0.1:2", "example.org", True)


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("1", "a number is no word for yes"),
        ("yes", "nor is another language's"),
        ("TRUE", "case counts"),
        ("0", "a number is no word for no either"),
    ],
)
@pytest.mark.parametrize("name", ["insecure", "production", "reflection"])
def test_other_words_for_yes_and_no_are_refused(
    name: str, word: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable that decides is `true` or `false`; nobody guesses whether another word means TLS or none."""
    monkeypatch.setenv(f"SLIPWAY_{name.upper()}", word)
    with pytest.raises(click.UsageError, match=f"--{name}: must be true or false"):
        ServerSettings.load({"tls_cert_dir": "/x"})


def test_an_empty_variable_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who clears a variable, as a compose file does, has taken it back; `false` is the same as none."""
    for name in ("INSECURE", "REGISTRY_ADDRESS", "LISTEN_ADDRESS"):
        monkeypatch.setenv(f"SLIPWAY_{name}", "")
    got = ServerSettings.load({"tls_cert_dir": "/x"})
    assert (got.insecure, got.registry_address, got.listen_address) == (False, None, "[::]:9443")
    monkeypatch.setenv("SLIPWAY_INSECURE", "false")
    assert not ServerSettings.load({"tls_cert_dir": "/x"}).insecure


def test_every_setting_is_a_flag_or_says_why_not() -> None:
    """The command line is complete, and each flag has its setting."""

    @click.command()
    @server_options
    def command(server_flags: dict[str, Any]) -> None:
        settings = ServerSettings.load(server_flags)
        click.echo(f"{settings.listen_address} {settings.serves_reflection} {settings.log_format}")

    offered = {option.name for option in command.params}
    # The server's own bound on a call is an environment variable only: callers choose their deadlines.
    assert offered == FLAGS - {"max_call_seconds"}
    result = CliRunner().invoke(
        command,
        ["--insecure", "--listen-address", "127.0.0.1:0", "--no-reflection", "--log-format", "json"],
    )
    assert (result.exit_code, result.output) == (0, "127.0.0.1:0 False json\n")
    assert CliRunner().invoke(command, []).exit_code == 2


@pytest.mark.parametrize(
    ("more", "want"),
    [
        ({"listen_address": "127.0.0.1:0"}, "127.0.0.1:7"),
        ({"listen_address": "[::1]:0"}, "[::1]:7"),
        ({"advertise_address": "dns:///x:1", "listen_address": "[::]:0"}, "dns:///x:1"),
    ],
)
def test_the_advertised_address(more: dict[str, Any], want: str) -> None:
    """Others are told an address that they can call, with the port that was found free."""
    assert ServerSettings(tls_cert_dir=Path("/x"), **more).advertised(port=7) == want


def test_listening_everywhere_advertises_the_host() -> None:
    """The address for "any" is none that can be called."""
    host, _, port = ServerSettings(tls_cert_dir=Path("/x")).advertised(port=7).rpartition(":")
    assert (host not in ("", "[::]"), port) == (True, "7")


@pytest.mark.parametrize(
    ("target", "host", "port", "loopback"),
    [
        ("127.0.0.1:80", "127.0.0.1", 80, True),
        ("127.9.9.9:80", "127.9.9.9", 80, True),
        ("localhost:80", "localhost", 80, True),
        ("[::1]:80", "::1", 80, True),
        ("ipv4:127.0.0.1:80", "127.0.0.1", 80, True),
        ("ipv6:[::1]:80", "::1", 80, True),
        ("dns:///localhost:80", "localhost", 80, True),
        ("dns://8.8.8.8/a.b:80", "a.b", 80, False),
        ("localhost.example.org:80", "localhost.example.org", 80, False),
        ("0.0.0.0:80", "0.0.0.0", 80, False),
        ("[::]:80", "::", 80, False),
        ("a.b:99999", "a.b", None, False),
        ("a.b", "a.b", None, False),
    ],
)
def test_addresses(*, target: str, host: str, port: int | None, loopback: bool) -> None:
    """Host, port and loopback of every form of target; "any address" and look-alikes are no loopback."""
    assert (host_of(target), port_of(target), is_loopback(target)) == (host, port, loopback)
