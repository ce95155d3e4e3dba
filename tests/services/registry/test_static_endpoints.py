"""Provisioners from the operator's file."""

from pathlib import Path

import pytest

from slipway.registry.announcement import Gate
from slipway.registry.static_endpoints import StaticEndpoints, StaticEndpointsError
from tests.services.registry.conftest import Provisioning, Registering, info

GATE = Gate(allowed=None, trust_domain="slipway", secure=False)


def _write(path: Path, *lines: tuple[str, str]) -> Path:
    entries = "".join(f"\n  - {{name: {name}, endpoint: '{endpoint}'}}" for name, endpoint in lines)
    path.write_text(f"endpoints:{entries or ' []'}\n", encoding="utf-8")
    return path


async def test_static_endpoints_are_dialled_and_followed(
    provisioning: Provisioning, registering: Registering, tmp_path: Path
) -> None:
    """They pass the same dial, are listed with the reason when they fail it, and come and go with the file."""
    async with provisioning(info("x")) as one, provisioning(info("y")) as two:
        path = _write(tmp_path / "static.yaml", ("x", one.address), ("z", two.address))
        async with registering(static_endpoints=path, probe_seconds=0.02) as registry:
            await registry.until(lambda states: states == ["READY", "NOT_READY"])
            first, second = await registry.listing()
            assert (first.static, first.info) == (True, info("x"))
            await registry.until(lambda states: states[0] == "READY")
            assert (second.info.name, second.info.implementation_version) == ("z", "")
            _write(path, ("y", two.address))
            await registry.until(lambda states: states == ["READY"])
            assert [listed.info.name for listed in await registry.listing()] == ["y"]


async def test_a_static_endpoint_has_no_lease(
    provisioning: Provisioning, registering: Registering, tmp_path: Path
) -> None:
    """It does not expire; its process may register all the same, and is then listed once."""
    async with provisioning() as endpoint:
        path = _write(tmp_path / "static.yaml", ("x", endpoint.address))
        async with registering(static_endpoints=path, probe_seconds=0.02) as registry:
            await registry.until(lambda states: states == ["READY"])
            registry.clock.advance(1_000_000)
            assert await registry.states() == ["READY"]
            lease = (await registry.register(endpoint.address)).lease_id
            assert [instance.static for instance in await registry.listing()] == [False]
            await registry.deregister(lease)
            await registry.until(lambda states: states == ["READY"])
            assert [instance.static for instance in await registry.listing()] == [True]


@pytest.mark.parametrize(
    ("text", "want", "reason"),
    [
        ("endpoints: 1", "must be YAML with a list", "no list"),
        ("endpoints: [{name: x}]", "must be YAML with a list", "no endpoint"),
        ("endpoints: [{name: x, endpoint: 'localhost:1', extra: 1}]", "must be YAML", "unknown key"),
        ("endpoints: [", "must be YAML", "no YAML"),
        ("endpoints: [{name: X, endpoint: 'localhost:1'}]", r"endpoints\[0\].*name", "malformed name"),
        ("endpoints: [{name: x, endpoint: 'example.org:1'}]", r"endpoints\[0\].*endpoint", "not this machine"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, *, text: str, want: str, reason: str) -> None:
    """The registry does not start with a file that it would only half follow."""
    path = tmp_path / "static.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StaticEndpointsError, match=want):
        StaticEndpoints(path, GATE)


def test_a_broken_change_keeps_the_last_good_file(tmp_path: Path) -> None:
    """An editor's half-written file empties no list."""
    path = _write(tmp_path / "static.yaml", ("x", "localhost:1"))
    static = StaticEndpoints(path, GATE)
    path.write_text("endpoints: [", encoding="utf-8")
    assert static.current() == {("x", "localhost:1")}
    path.unlink()
    assert static.current() == {("x", "localhost:1")}
    _write(path, ("y", "localhost:12"))
    assert static.current() == {("y", "localhost:12")}
