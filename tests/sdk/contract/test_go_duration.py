"""Tests of durations in Go's notation."""

import pytest
from google.protobuf import duration_pb2
from hypothesis import given
from hypothesis import strategies as st

from slipway.contract.go_duration import (
    DAY,
    HOUR,
    MILLISECOND,
    MINUTE,
    SECOND,
    format_duration,
    format_go_duration,
    parse_duration,
    parse_go_duration,
)

LARGEST = 2**63 - 1


@pytest.mark.parametrize(
    ("text", "seconds", "nanos"),
    [
        ("5m", 300, 0),
        ("1h30m", 5400, 0),
        ("1h30m0s", 5400, 0),
        ("250ms", 0, 250_000_000),
        ("1.5s", 1, 500_000_000),
        ("0s", 0, 0),
        ("1us2ns", 0, 1002),
    ],
)
def test_what_people_write(text: str, seconds: int, nanos: int) -> None:
    """The value is that of Go's time.ParseDuration."""
    assert parse_duration(text) == duration_pb2.Duration(seconds=seconds, nanos=nanos)


@pytest.mark.parametrize("text", ["", "5", "m", "5 m", "-5m", "5d", "1h-5m", "\u0665m", "1e3s", "99999999999h", "5m\n"])
def test_what_is_none(text: str) -> None:
    """The message says what a duration is and never what was written."""
    with pytest.raises(ValueError, match="duration") as caught:
        parse_duration(text)
    assert not text or text not in str(caught.value).replace("5m", "").replace("1h30m", "") or len(text) == 1


@given(seconds=st.integers(0, 9 * 10**9), nanos=st.integers(0, 999_999_999))
def test_what_is_written_reads_back(seconds: int, nanos: int) -> None:
    """Nothing is rounded."""
    duration = duration_pb2.Duration(seconds=seconds, nanos=nanos)
    assert parse_duration(format_duration(duration)) == duration


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0s"),
        (1, "1ns"),
        (1_100, "1.1µs"),
        (2_200_000, "2.2ms"),
        (150 * MILLISECOND, "150ms"),
        (3_300_000_000, "3.3s"),
        (30 * SECOND, "30s"),
        (4 * MINUTE, "4m0s"),
        (4 * MINUTE + 5 * SECOND + 1 * MILLISECOND, "4m5.001s"),
        (5 * HOUR + 6 * MINUTE + 7_001_000_000, "5h6m7.001s"),
        (HOUR, "1h0m0s"),
        (365 * DAY, "8760h0m0s"),
        (-MINUTE, "-1m0s"),
        (LARGEST, "2562047h47m16.854775807s"),
    ],
)
def test_durations_print_as_in_go(nanoseconds: int, text: str) -> None:
    """The table of Go's own test of Duration.String, and the values kubeadm documents hold."""
    assert format_go_duration(nanoseconds) == text


@given(st.integers(min_value=-LARGEST, max_value=LARGEST))
def test_parse_gives_back_what_was_printed(nanoseconds: int) -> None:
    """Every duration that Go can hold survives printing and parsing."""
    assert parse_go_duration(format_go_duration(nanoseconds)) == nanoseconds


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0", 0),
        ("+5s", 5 * SECOND),
        ("90m", 90 * MINUTE),
        ("1.5h", 90 * MINUTE),
        (".5s", 500 * MILLISECOND),
        ("1s1s", 2 * SECOND),
    ],
)
def test_other_spellings_are_read(text: str, nanoseconds: int) -> None:
    """What Go reads but never prints is read too."""
    assert parse_go_duration(text) == nanoseconds


@pytest.mark.parametrize("text", ["", "5", "s", "-", ".s", "5 m", "5m ", "1d", "1e3s", "9999999999h", "--1s"])
def test_what_go_does_not_read_is_refused(text: str) -> None:
    """A text without a unit, with spaces or too long a span raises."""
    with pytest.raises(ValueError, match="duration"):
        parse_go_duration(text)


def test_a_span_that_go_cannot_hold_is_refused() -> None:
    """Formatting stops where Go's 64 bits end."""
    with pytest.raises(ValueError, match="longer than Go can hold"):
        format_go_duration(LARGEST + 1)
