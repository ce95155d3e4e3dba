"""What one more item of a spec costs Explain: counted in calls of functions, which every machine makes alike."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from slipway.bootstrapper.explanation import explain
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tools.bench.subjects import native

_BUDGET = 3800
"""Calls of Python functions for one command in each of three phases, in the columns of all formats together."""


class _Calls:
    """A number of calls."""

    number = 0


@contextmanager
def _counted() -> Iterator[_Calls]:
    """Count the calls of Python functions in this thread, and in those that begin meanwhile."""
    calls = _Calls()

    def count(frame: FrameType, event: str, argument: Any) -> None:
        del frame, argument
        calls.number += event == "call"

    before = sys.getprofile()
    threading.setprofile(count)
    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


async def test_a_further_command_costs_a_bounded_number_of_calls() -> None:
    """The walks of a bundle are bounded in number, and what formats have in common is not made for each of them."""
    bootstrapper = embedded_bootstrapper(store=None)
    numbers = []
    for commands in (5, 10, 40):
        subject = native()[-1].subject
        subject.spec.provisioner.name = ""
        for phase in ("boot", "pre", "post"):
            for number in range(commands):
                getattr(subject.spec.commands, phase).add().script.text = f"echo {number}"
        with _counted() as calls:
            answer = await explain(bootstrapper, bootstrappb.ExplainRequest(subject=subject))
        assert len(answer.columns) > 5
        numbers.append(calls.number)
    per_command = (numbers[2] - numbers[1]) / 30
    assert per_command < _BUDGET, per_command
