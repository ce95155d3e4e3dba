"""What a script for Windows, or its answer file, does besides calling the functions that the decoder reads."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from xml.etree import ElementTree as ET  # nosec - the suite's subject is its user's own

from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb

_FUNCTION = re.compile(r"function ([A-Za-z]+-[A-Za-z]+) \{")
_MARK = re.compile(r"setup-[0-9a-f]{16}\.done")
_READ = {"ComputerName", "TimeZone"}
_HARMLESS = {"Order", "HideEULAPage", "ProtectYourPC", "Value", "PlainText"}
_PASSWORD = "AdministratorPassword"  # noqa: S105  # the name of an element


def other_lines(script: str, *, is_call: Callable[[str], bool]) -> Iterator[statepb.Other]:
    """Give each line outside of functions that is neither a call nor a part of the frame, and unknown functions."""
    function, depth = "", 0
    for number, line in enumerate(script.split("\n"), start=1):
        begun = _FUNCTION.fullmatch(line) if not function else None
        if begun:
            function, depth = begun[1], 0
        known = f"function {function} {{" in _frame() if function else _is_frame(line) or is_call(line)
        if not known:
            yield statepb.Other(name=f"line {number} of the script", text=line)
        if function:
            depth += line.endswith("{") - line.startswith("}")
            function = function if depth else ""


def other_answers(answers: ET.Element | None) -> Iterator[statepb.Other]:
    """Give each element of an answer file that says anything else than to start the script once."""
    for parent in () if answers is None else answers.iter():
        for one in parent:
            name, text = _local(one), (one.text or "").strip()
            if len(one) or not text or name in _READ or text in _frame():
                continue
            if name in _HARMLESS and (name not in ("Value", "PlainText") or _local(parent) == _PASSWORD):
                continue
            yield statepb.Other(name=f"{_local(parent)}.{name}", text=text)


def _is_frame(line: str) -> bool:
    return not line or line.startswith("#") or _MARK.sub("MARK", line) in _frame()


def _local(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


@cache
def _frame() -> frozenset[str]:
    """Give the lines that every script may have, and the first ones of the functions that are known."""
    text = files(__package__).joinpath("windows_frame.txt").read_text(encoding="ascii")
    return frozenset(line for line in text.splitlines() if not line.startswith("#"))
