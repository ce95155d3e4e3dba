"""The audit log as it is read: by user, agent and resource, and never half a line."""

import json
from pathlib import Path

import pytest

from tools.cluster.audit import Log
from tools.oracles.failures import EngineTimeout


def event(verb: str, resource: str, *, user: str = "alice", agent: str = "kubectl/v1", code: int = 200) -> str:
    """A line as the API server writes it."""
    return (
        json.dumps(
            {
                "verb": verb,
                "objectRef": {"resource": resource, "namespace": "default", "name": "x", "subresource": "status"},
                "user": {"username": user},
                "userAgent": agent,
                "responseStatus": {"code": code},
                "requestReceivedTimestamp": "2026-01-01T00:00:00.000000Z",
            }
        )
        + "\n"
    )


def test_calls_are_chosen(tmp_path: Path) -> None:
    """By user, by a part of the agent's name, by resource; from a position on."""
    log = Log(tmp_path / "audit.log")
    assert log.position == 0
    log.path.write_text(event("get", "secrets") + event("create", "secrets", user="bob", agent="slipway/1"))
    position = log.position
    with log.path.open("a") as more:
        more.write(event("patch", "machines", code=403))
    assert [call.verb for call in log.calls(user="bob")] == ["create"]
    assert [call.verb for call in log.calls(agent="slipway")] == ["create"]
    assert [call.verb for call in log.calls(resource="secrets")] == ["get", "create"]
    (last,) = log.calls(since=position)
    assert (last.verb, last.resource, last.subresource, last.status, last.is_write) == (
        "patch", "machines", "status", 403, True,
    )  # fmt: skip


def test_half_a_line_is_left_for_later(tmp_path: Path) -> None:
    """The API server may be writing it just now."""
    log = Log(tmp_path / "audit.log")
    log.path.write_text(event("get", "secrets") + event("list", "secrets")[:20])
    assert [call.verb for call in log.calls()] == ["get"]
    assert not log.calls()[0].is_write


def test_news_are_told_once(tmp_path: Path) -> None:
    """Who asks again from where the last ones ended gets what was written meanwhile, half lines when they are whole."""
    log = Log(tmp_path / "audit.log")
    line = event("list", "secrets")
    log.path.write_text(event("get", "secrets") + line[:20])
    calls, position = log.read_from(0)
    assert [call.verb for call in calls] == ["get"]
    with log.path.open("a") as more:
        more.write(line[20:])
    calls, position = log.read_from(position)
    assert [call.verb for call in calls] == ["list"]
    assert (log.read_from(position), position) == (([], position), log.position)


def test_waiting_ends(tmp_path: Path) -> None:
    """A call that is there is given at once; one that never comes is an error."""
    log = Log(tmp_path / "audit.log")
    log.path.write_text(event("get", "secrets"))
    assert log.until(lambda call: call.verb == "get").resource == "secrets"
    with pytest.raises(EngineTimeout):
        log.until(lambda call: call.verb == "delete", seconds=0.1)
