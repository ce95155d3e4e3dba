"""Events read out of text that was made to deceive, or to cost much."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from slipway.diagnosis.bootstrap_events import MOST, event_of
from tests.counted_work import calls_made, lines_run
from tests.services.diagnosis.event_lines import RUN, line, read, short

pytestmark = pytest.mark.long


@given(st.text(max_size=400), st.integers(0, 400))
@example("0", 0)
def test_any_text_behind_the_beginning_is_no_error(text: str, at: int) -> None:
    """Whatever follows, and whatever is put into the middle of an event, is an event or none."""
    for candidate in ('{"bundleId":' + text, RUN[3][:at] + text + RUN[3][at:]):
        event_of(candidate)
        read(candidate)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(st.sampled_from([*json.loads(RUN[3]), "other"]), _VALUES)
def test_any_value_of_a_member_is_no_error(member: str, value: Any) -> None:
    """Each member with any JSON value gives an event, or none."""
    event = event_of(json.dumps(json.loads(RUN[3]) | {member: value}, separators=(",", ":")))
    assert event is None or event.sequence >= 1


HOSTILE = {
    "beginnings without end": '{"bundleId":',
    "beginnings and ends": '{"bundleId":}',
    "beginnings on lines of their own": '{"bundleId":\n}\n',
    "long beginnings and short lines": '{"bundleId":"' + "x" * 2000 + "\n" + "}\n" * 7,
    "kernel messages in the middle": '{"bundleId":' + "[    1.000000]" * 100 + "\n}\n" * 7,
    "brackets": '{"bundleId":' + "[" * 1900 + "}\n",
    "blanks in brackets": '{"bundleId":' + "[ " * 900 + "}\n",
    "one beginning and short lines": '{"bundleId":\n' + "}\n" * 4000,
    "wrong events": line(1, "STARTED", "a", phase=77) + "\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_work_grows_with_the_text_only(name: str) -> None:
    """Of what takes longest, in one line or in many, each character is read a bounded number of times."""
    unit = HOSTILE[name]
    text = unit * ((1 << 18) // len(unit))
    assert read(text) == []
    assert calls_made(lambda: read(text), event_of, lambda arguments: len(arguments["text"])) <= 10 * len(text)
    half = text[: len(text) // 2]
    assert lines_run(lambda: read(text)) <= 2.2 * lines_run(lambda: read(half)) + 1000


def test_an_event_is_read_at_the_end_of_a_long_line() -> None:
    """Behind a megabyte without a line end, also where the parts of a long line meet in the middle of it."""
    for size in (1 << 20, (1 << 20) - 50):
        assert short(read("x" * size + RUN[0])) == [(1, "10-files", 1)]


def test_there_is_a_most_of_events() -> None:
    """A machine that writes events without end costs bounded memory."""
    text = "\n".join(line(1, "STARTED", f"a{number}") for number in range(MOST + 50))
    assert len(read(text)) == MOST
