"""What two first-boot systems can both make of a spec: what one of them refuses is taken out for both."""

import re
from typing import Any

from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.contract.errors import SlipwayError
from slipway.contract.yaml_names import fields_by_key
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tests.oracles import ours

_STEP = re.compile(r"([A-Za-z]+)(?:\[(\d+)\])?")
ROUNDS = 40


def render_by_all(
    question: MachineQuestion, provisioners: tuple[str, ...]
) -> tuple[dict[str, bootstrappb.GetUserDataResponse], list[str]]:
    """The answers of all provisioners to what each of them takes, and the paths that were taken out."""
    refused: list[str] = []
    for _ in range(ROUNDS):
        try:
            return {name: ours.render(question, name) for name in provisioners}, refused
        except SlipwayError as error:
            paths = {violation.path.removeprefix("spec.") for violation in error.violations}
            if not paths:
                raise
            # From the end, so that an index still says what it said.
            for path in sorted(paths, key=_order, reverse=True):
                take_out(question.subject.spec, path, whole=path in refused)
            refused += sorted(paths)
    raise AssertionError(f"still refused: {refused[-3:]}")


def _order(path: str) -> list[tuple[str, int]]:
    return [(name, int(index or 0)) for name, index in _STEP.findall(path)]


def take_out(message: Any, path: str, *, whole: bool) -> None:
    """Take a field out, or the item that it is in, where that is asked for or the field is needed."""
    steps = [(name, int(index) if index else None) for name, index in _STEP.findall(path)]
    trail = []
    for name, index in steps:
        one = fields_by_key(message.DESCRIPTOR)[name]
        trail.append((message, one.name, index))
        value = getattr(message, one.name)
        if index is not None:
            if index >= len(value):
                return
            value = value[index]
        message = value
    entry = next((one for one in reversed(trail) if one[2] is not None), trail[0])
    holder, name, index = entry if whole else trail[-1]
    if index is None:
        holder.ClearField(name)
    else:
        del getattr(holder, name)[index]
