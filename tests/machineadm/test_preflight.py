"""What machineadm checks before the bootstrap; the checks of certificates are tested in Go."""

import json
import re
import socket
import subprocess
from collections.abc import Callable, Mapping

import pytest

from slipway.diagnosis.rules import known_rules
from tools.oracles import machineadm

_NOWHERE = "192.0.2.1:6443"
_HASH = f"sha256:{'0' * 64}"


def preflight(*flags: str, environment: Mapping[str, str] | None = None) -> tuple[int, dict[str, dict[str, str]], str]:
    """Run it; give its exit code, its outcomes by check, and all that it said."""
    done = subprocess.run(
        [machineadm.require(), "preflight", "--json", "--timeout", "2s", *flags],
        env=dict(environment or {}), check=False, capture_output=True, text=True,
    )  # fmt: skip
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, {outcome["check"]: outcome for outcome in outcomes}, done.stdout + done.stderr


def test_every_reason_is_a_rule_of_the_diagnosis() -> None:
    """What a check tells has an explanation and a remedy in the table of reasons."""
    source = (machineadm.SOURCE / "internal/preflight/preflight.go").read_text(encoding="utf-8")
    reasons = set(re.findall(r'^\t\w+ +Reason = "([a-z-]+)"$', source, re.MULTILINE))
    assert len(reasons) > 10
    assert reasons <= {rule.id for rule in known_rules().rules}


def test_without_an_endpoint_the_network_is_left_alone(engine: Callable[..., None]) -> None:
    """Checks of the network are told as skipped; every check is told."""
    engine(machineadm.NAME)
    _, outcomes, _ = preflight()
    assert list(outcomes) == ["clock", "disk", "cgroups", "runtime", "ports", "proxy", "dns", "tcp", "tls"]
    assert {outcomes[check]["level"] for check in ("proxy", "dns", "tcp", "tls")} == {"skipped"}


def test_a_taken_port_and_a_full_disk_fail(engine: Callable[..., None]) -> None:
    """Each has its reason, and the exit code is 1."""
    engine(machineadm.NAME)
    with socket.create_server(("127.0.0.1", 0)) as server:
        code, outcomes, _ = preflight("--ports", str(server.getsockname()[1]), "--room", str(1 << 40))
    assert code == 1
    assert (outcomes["ports"]["reason"], outcomes["disk"]["reason"]) == ("port-in-use", "disk-full")


def test_proxies_of_the_environment(engine: Callable[..., None]) -> None:
    """A dead proxy fails, a living one is a warning; NO_PROXY counts; its password is told nowhere."""
    engine(machineadm.NAME)
    flags = ("--endpoint", _NOWHERE, "--ca-cert-hash", _HASH)
    with socket.create_server(("127.0.0.1", 0)) as server:
        proxy = f"http://me:s3cret@127.0.0.1:{server.getsockname()[1]}"
        code, outcomes, living = preflight(*flags, environment={"HTTPS_PROXY": proxy})
        assert code == 1
        assert (outcomes["proxy"]["level"], outcomes["proxy"]["reason"]) == ("warning", "proxy-without-exceptions")
        assert outcomes["tls"]["reason"] == "endpoint-unreachable"
    _, outcomes, dead = preflight(*flags, environment={"HTTPS_PROXY": proxy})
    assert outcomes["proxy"]["reason"] == "proxy-unreachable"
    _, outcomes, _ = preflight(*flags, environment={"HTTPS_PROXY": proxy, "NO_PROXY": "192.0.2.0/24"})
    assert outcomes["proxy"]["level"] == "ok"
    assert outcomes["tcp"]["level"] != "skipped"
    assert "s3cret" not in living + dead


@pytest.mark.parametrize(
    "flags",
    [
        ("--endpoint", "host"), ("--endpoint", _NOWHERE), ("--endpoint", _NOWHERE, "--ca-cert-hash", "sha256:s3cret"),
        ("--ports", "0"), ("--ports", "70000"), ("--ports", "s3cret"), ("more",),
    ],
    ids=["no port", "no CA", "no hash", "port 0", "port 70000", "port word", "argument"],
)  # fmt: skip
def test_what_cannot_be_checked_is_refused(engine: Callable[..., None], flags: tuple[str, ...]) -> None:
    """Wrong flags end with 2 before anything is checked, and no value of them is told."""
    engine(machineadm.NAME)
    code, outcomes, told = preflight(*flags)
    assert (code, outcomes) == (2, {})
    assert told
    assert "s3cret" not in told
