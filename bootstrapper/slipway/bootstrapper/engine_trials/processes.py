"""Tries engines in two processes that differ in all that a pure function of its input does not notice."""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from slipway.bootstrapper.engine_trials import trial
from slipway.bootstrapper.engines.engine import Engine
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

_WORLDS: Sequence[tuple[int, str, str]] = ((0, "a.example.com", "UTC"), (400 * 86400 + 3723, "b.example.com", "XXX-9"))
"""Seconds by which the clock is ahead, name of the machine, time zone."""
_LONGEST = 300
"""Seconds for which a process may run."""


def problems_apart(
    engines: Iterable[tuple[Engine, Sequence[bundlepb.BootstrapBundle]]], served: provisionerpb.FormatInfo
) -> list[list[str]]:
    """Give, for each engine, what it asks the machine for, and what of its plans differs between two processes.

    Both are new: what an engine computes when it is imported, or with its first plan, is computed again. Their clocks,
    environments, working directories and orders of sets differ.
    """
    request = [
        {
            trial.MODULE: type(engine).__module__,
            trial.CLASS: type(engine).__qualname__,
            trial.MACHINES: [_text(bundle.SerializeToString(deterministic=True)) for bundle in machines],
        }
        for engine, machines in engines
    ]
    with TemporaryDirectory() as folder:
        running = [_start(Path(folder, str(number)), request, served, number) for number in range(len(_WORLDS))]
        answers = [_answers(process, path, len(request)) for process, path in running]
    return [list(_problems(*pair)) for pair in zip(*answers, strict=True)]


def _start(
    folder: Path, request: Sequence[Any], served: provisionerpb.FormatInfo, number: int
) -> tuple[subprocess.Popen[bytes], Path]:
    shift, host, zone = _WORLDS[number]
    folder.mkdir()
    questions, answers = folder / "questions", folder / "answers"
    whole = {
        trial.SHIFT: shift,
        trial.HOST: host,
        trial.FORMAT: _text(served.SerializeToString()),
        trial.ENGINES: request,
    }
    questions.write_text(json.dumps(whole), encoding="utf-8")
    environment = {
        **os.environ,
        **dict.fromkeys(("HOME", "TMPDIR", "PWD"), str(folder)),
        **dict.fromkeys(("USER", "LOGNAME", "HOSTNAME"), host.partition(".")[0]),
        "TZ": zone,
        "PYTHONHASHSEED": str(number + 1),
        "PYTHONPATH": os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path if entry),
    }
    command = [sys.executable, "-P", "-m", trial.__name__, str(questions), str(answers)]
    process = subprocess.Popen(  # noqa: S603  # this Python, and a module of ours
        command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    return process, answers


def _answers(process: subprocess.Popen[bytes], path: Path, count: int) -> list[dict[str, Any]]:
    try:
        status = process.wait(_LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        status = process.wait()
    if status or not path.exists():
        return [{trial.FAILED: f"status {status}", trial.EVENTS: [], trial.PARTS: []}] * count
    answers: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return answers


def _problems(first: dict[str, Any], second: dict[str, Any]) -> Iterator[str]:
    for failed in dict.fromkeys(answer[trial.FAILED] for answer in (first, second)):
        if failed:
            yield f"the engine cannot be made without arguments in another process: {failed}"
    for event in dict.fromkeys((*first[trial.EVENTS], *second[trial.EVENTS])):
        yield f"the engine is not pure: it asks the machine for {event}"
    different: dict[str, None] = {}
    for before, after in zip(first[trial.PARTS], second[trial.PARTS], strict=False):
        names = dict.fromkeys((*before, *after))
        different.update(dict.fromkeys(name for name in names if before.get(name) != after.get(name)))
    yield from (f"the engine gives another plan in another process: {name} differs" for name in different)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
