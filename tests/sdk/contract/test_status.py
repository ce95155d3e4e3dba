"""The wire form stays within its budget whatever goes in."""

import pytest
from google.protobuf.any_pb2 import Any
from google.rpc.status_pb2 import Status
from hypothesis import given
from hypothesis import strategies as st

from slipway.contract.status import BUDGET, VIOLATIONS, Failure, Violation, decode, encode

TEXT = st.text(max_size=3000)


@given(
    message=TEXT,
    metadata=st.dictionaries(st.text(min_size=1, max_size=200), TEXT, max_size=60),
    violations=st.lists(st.builds(Violation, TEXT, TEXT), max_size=40),
    retry_after=st.none() | st.floats(min_value=0, max_value=1e6),
)
def test_any_failure_fits(
    message: str, metadata: dict[str, str], violations: list[Violation], retry_after: float | None
) -> None:
    """No text, however long or strange, makes a status that gRPC throws away; code and reason stay."""
    failure = Failure(
        code=9,
        message=message,
        reason="UNSUPPORTED_FEATURE",
        metadata=metadata,
        violations=tuple(violations),
        retry_after=retry_after,
    )
    status = encode(failure)
    assert len(status.SerializeToString()) <= BUDGET
    got = decode(status)
    assert (got.code, got.reason) == (9, "UNSUPPORTED_FEATURE")
    assert len(got.violations) + int(got.metadata.get("truncated", "0")) == len(violations)


@pytest.mark.parametrize(
    ("count", "length", "shown", "reason"),
    [
        (3, 20, 3, "few and short: all"),
        (VIOLATIONS, 20, VIOLATIONS, "just the limit"),
        (500, 20, VIOLATIONS, "500 bad fields: 20 and a count"),
        (500, 300, 14, "long ones: as many as fit"),
    ],
)
def test_violations_are_counted_when_left_out(count: int, length: int, shown: int, reason: str) -> None:
    """The caller learns how many violations it does not see, and sees the first ones."""
    violations = tuple(Violation(f"f[{index}]", "d" * length) for index in range(count))
    got = decode(encode(Failure(code=3, message="m", reason="BUNDLE_INVALID", violations=violations)))
    assert [v.path for v in got.violations] == [f"f[{index}]" for index in range(shown)], reason
    assert got.metadata.get("truncated") == (None if shown == count else str(count - shown)), reason


def test_a_cut_is_visible() -> None:
    """A shortened message ends with dots, so that nobody takes it for the whole."""
    assert encode(Failure(code=3, message="x" * 5000)).message == "x" * 1021 + "..."


def test_percent_encoding_counts() -> None:
    """What is not ASCII travels percent-encoded, three bytes each; those count, not the character."""
    message = encode(Failure(code=3, message="ü" * 1000)).message
    assert len(message) == (1024 - 3) // 6 + 3


def test_garbage_in_details_is_no_error() -> None:
    """A client must not fail on the details of a broken or newer peer."""
    status = Status(
        code=3,
        message="m",
        details=[
            Any(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=b"\xff\xff"),
            Any(type_url="type.googleapis.com/un.known", value=b"x"),
        ],
    )
    assert decode(status) == Failure(code=3, message="m")
