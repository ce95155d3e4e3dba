"""The last lines of logs that look like errors, for people, where no rule knows a reason."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import re2

from slipway.diagnosis.log_files import Log
from slipway.diagnosis.log_text import lines
from slipway.diagnosis.scrubbing import scrubbed

_MOST = 5
_WIDEST = 400
_LOOKS_WRONG = re2.compile(
    r"(?i)\b(error|fatal|fail(s|ed|ure)?|panic|critical|traceback|exception|cannot|could ?n.t|unable to|denied|refused|"
    r"timed ?out|timeout|no such|not found|invalid|unauthorized|forbidden)\b|level=(error|fatal)|^[EF]\d{4} "
)
_HARMLESS = re2.compile(r"(?i)level=(info|debug)|\b0 (errors|failed)\b|^I\d{4} |\[WARNING |ignore-preflight-errors")


@dataclass(frozen=True)
class Suspect:
    """A line that looks like an error; nothing is known of it.

    Attributes:
        source: name of the log.
        line: its number.
        text: the line, without secrets.
    """

    source: str
    line: int
    text: str


def last_suspects(logs: Sequence[Log]) -> tuple[Suspect, ...]:
    """Give the last of them, in the order of the logs; a line that is there several times counts once."""
    last: deque[Suspect] = deque(maxlen=_MOST)
    for log in logs:
        for number, line in lines(log.text or ""):
            if not _LOOKS_WRONG.search(line) or _HARMLESS.search(line):
                continue
            text = scrubbed(line)[:_WIDEST].strip()
            if all(text != suspect.text for suspect in last):
                last.append(Suspect(scrubbed(log.name), number, text))
    return tuple(last)
