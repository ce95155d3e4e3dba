"""Logs by allow-list: a key that is not on the list is not written, however useful it looked.

Slipway handles join tokens and CA keys, so leaving things out one by one would be a race that is lost some day. Text
of foreign libraries is left out too (it quotes what it likes); their level, place and exception class stay.
"""

import logging
import sys
from collections.abc import Iterable
from typing import Any, Literal

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from slipway.contract.control_characters import escape_controls
from slipway.rpc.error_mapping import describe_exception
from slipway.rpc.spans import trace_id

LogFormat = Literal["auto", "json", "console"]

ALLOWED_KEYS = frozenset(
    {
        "event", "level", "timestamp", "logger", "where",
        "request_id", "trace_id", "rpc", "code", "reason", "milliseconds", "error_id", "error", "frames",
        "service", "address", "endpoint", "provisioner", "version", "instance_id", "state", "registry_epoch",
        "format", "role", "infrastructure", "feature", "features", "passes", "field", "digest", "tag",
        "count", "bytes", "limit", "attempt", "seconds", "signal",
    }
)  # fmt: skip
"""Ids, tags, digests, sizes, counts and the closed words of the contract; nothing that a user wrote."""

_TEXT = 200
_ITEMS = 30
_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def configure_logging(*, log_format: LogFormat = "auto", level: str = "info", extra_keys: Iterable[str] = ()) -> None:
    """Set up structlog and the standard library's logging for this process; logs go to standard error.

    ``auto`` is for people on a terminal and JSON elsewhere. ``extra_keys`` widens the allow-list for one service.
    """
    console = log_format == "console" or (log_format == "auto" and sys.stderr.isatty())
    renderer: Processor = (
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
        if console
        else structlog.processors.JSONRenderer(sort_keys=True)
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            _traced,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            AllowList(extra_keys),
            *([_escaped] if console else []),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(handlers=[ForeignRecords()], level=logging.WARNING, force=True)


def _traced(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Give the event with the trace that it happened in."""
    del logger, method
    current = trace_id()
    return {**event, "trace_id": current} if current else event


class AllowList:
    """A structlog processor that keeps allowed keys with short, simple values."""

    def __init__(self, extra_keys: Iterable[str] = ()) -> None:
        self._keys = ALLOWED_KEYS | frozenset(extra_keys)

    def __call__(self, logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
        """Give the event without the rest; None values go too."""
        del logger, method
        kept = {key: _simple(value) for key, value in event.items() if key in self._keys}
        return {key: value for key, value in kept.items() if value is not None}


class ForeignRecords(logging.Handler):
    """Passes records of other libraries on without their text."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write level, logger, place and exception class."""
        failure = record.exc_info[1] if record.exc_info else None
        structlog.get_logger(record.name).log(
            record.levelno,
            "library message",
            logger=record.name,
            where=f"{record.pathname}:{record.lineno}:{record.funcName}",
            **(describe_exception(failure) if failure else {}),
        )


def _escaped(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Give an event whose texts do nothing to a terminal; JSON escapes them by itself."""
    del logger, method
    return {key: _escape(value) for key, value in event.items()}


def _escape(value: Any) -> Any:
    if isinstance(value, list):
        return [_escape(item) for item in value]
    return escape_controls(value) if isinstance(value, str) else value


def _simple(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return value[:_TEXT]
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value) if isinstance(value, set | frozenset) else value
        return [_simple(item) for item in list(items)[:_ITEMS] if isinstance(item, str | int | float)]
    return f"<{type(value).__name__}>"
