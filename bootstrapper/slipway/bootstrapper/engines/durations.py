"""Durations of the contract as programs in Go read them."""

from typing import Annotated

from google.protobuf.duration_pb2 import Duration
from pydantic import AfterValidator

from slipway.contract.go_duration import format_go_duration, parse_go_duration


def go_duration(duration: Duration) -> str:
    """Print a duration as Go does."""
    return format_go_duration(duration.ToNanoseconds())


def _canonical(text: str) -> str:
    return format_go_duration(parse_go_duration(text))


GoDuration = Annotated[str, AfterValidator(_canonical)]
"""A field of an output document that holds a duration in Go's canonical text form."""
