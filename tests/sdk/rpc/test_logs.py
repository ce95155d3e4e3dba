"""Logs hold what the allow-list names and nothing else."""

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from slipway.contract.control_characters import has_controls
from slipway.rpc.error_mapping import describe_exception
from slipway.rpc.logs import configure_logging

CANARY = "S3CR3T-canary"


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    handlers, level = logging.root.handlers[:], logging.root.level
    yield
    structlog.reset_defaults()
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


def _logged(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_keys_outside_the_list_are_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    """A key that nobody allowed is dropped, an allowed one with a strange value shows only its type."""
    configure_logging(log_format="json", extra_keys=["own_key"])
    structlog.get_logger().info("event", token=CANARY, own_key=1, count={"a": CANARY}, request_id="x" * 999)
    (entry,) = _logged(capsys)
    assert set(entry) == {"event", "level", "timestamp", "own_key", "count", "request_id"}
    assert (entry["count"], len(str(entry["request_id"]))) == ("<dict>", 200)


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_an_exception_shows_no_values(capsys: pytest.CaptureFixture[str], log_format: str) -> None:
    """Neither the text of an exception nor the locals of its frames are written, in any format."""
    configure_logging(log_format=log_format)  # type: ignore[arg-type]
    local = CANARY
    try:
        raise ValueError(local)  # noqa: TRY301  # its frame has the local
    except ValueError:
        structlog.get_logger().exception("event", stack_info=True)
        logging.getLogger("some.library").exception("quoting %s", local)
        logging.getLogger("some.library").warning("quoting " + local)  # noqa: G003  # as libraries do
    text = capsys.readouterr().err
    assert CANARY not in text
    assert text.count("library message") == 2
    assert "some.library" in text
    assert "ValueError" in text


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_a_text_does_nothing_to_a_terminal(capsys: pytest.CaptureFixture[str], log_format: str) -> None:
    """A name that another program gave itself is shown with its control characters escaped."""
    configure_logging(log_format=log_format, extra_keys=["names"])  # type: ignore[arg-type]
    structlog.get_logger().info("event", provisioner="a\x1b]0;t\x07\x9b", names=["b\u202e"])
    text = capsys.readouterr().err
    assert not has_controls(text)
    assert "a\\u001b]0;t\\u0007" in text
    assert "b\\u202e" in text.replace("\\\\", "\\")


def test_the_level_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    """Below the level nothing is written."""
    configure_logging(log_format="json", level="warning")
    structlog.get_logger().info("no")
    structlog.get_logger().warning("yes")
    assert [entry["event"] for entry in _logged(capsys)] == ["yes"]


def test_context_is_merged(capsys: pytest.CaptureFixture[str]) -> None:
    """The request id of the call is on every line that is written while it runs."""
    configure_logging(log_format="json")
    with structlog.contextvars.bound_contextvars(request_id="r1", secret=CANARY):
        structlog.get_logger().info("event")
    (entry,) = _logged(capsys)
    assert (entry["request_id"], "secret" in entry) == ("r1", False)


def test_a_loop_of_causes_ends() -> None:
    """An exception that is its own cause does not hang the server."""
    first, second = ValueError(CANARY), KeyError(CANARY)
    first.__cause__, second.__cause__ = second, first
    described = describe_exception(first)
    assert described["error"][:2] == ["ValueError", "KeyError"]
    assert CANARY not in str(described)
