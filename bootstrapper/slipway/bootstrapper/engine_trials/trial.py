"""Asks engines for plans in a process of its own, with another clock, environment and order of sets than the next one.

`python -m slipway.bootstrapper.engine_trials.trial QUESTIONS ANSWERS`: both are files of JSON. The test kit starts
it, twice.
"""

import base64
import hashlib
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from slipway.bootstrapper.engine_trials.purity import Ears
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

SHIFT, HOST, FORMAT, ENGINES = "shift", "host", "format", "engines"
CLASS, MODULE, MACHINES = "class", "module", "machines"
FAILED, EVENTS, PARTS = "failed", "events", "parts"


def main(questions: str, answers: str) -> None:
    """Answer all questions: for each engine what it asks the machine for, and digests of the parts of its plans."""
    request: dict[str, Any] = json.loads(Path(questions).read_text(encoding="utf-8"))
    served = provisionerpb.FormatInfo.FromString(base64.b64decode(request[FORMAT]))
    ears = Ears(shift=request[SHIFT], host=request[HOST])
    results = [_answer(ears, entry, served) for entry in request[ENGINES]]
    Path(answers).write_text(json.dumps(results), encoding="utf-8")


def _answer(ears: Ears, request: dict[str, Any], served: provisionerpb.FormatInfo) -> dict[str, Any]:
    try:
        named: Any = importlib.import_module(request[MODULE])
        for name in request[CLASS].split("."):
            named = getattr(named, name)
        engine = named()
    except Exception as error:  # noqa: BLE001  # code of others may raise anything
        return {FAILED: type(error).__name__, EVENTS: [], PARTS: []}
    events: list[str] = []
    parts = []
    for text in request[MACHINES]:
        bundle = bundlepb.BootstrapBundle.FromString(base64.b64decode(text))
        with ears.listening(_folders(request[MODULE])) as heard:
            result = _result(engine, bundle, served)
        events += heard
        parts.append({name: hashlib.sha256(data).hexdigest() for name, data in _parts(result)})
    return {FAILED: "", EVENTS: list(dict.fromkeys(events)), PARTS: parts}


def _result(engine: Any, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> Any:
    try:
        return engine.secrets(bundle.intent.kubernetes or kubernetespb.Kubernetes()), engine.build_plan(bundle, served)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is the same in each process
        return f"{type(error).__name__}: {error}"


def _parts(result: Any) -> Iterator[tuple[str, bytes]]:
    """Give what a plan consists of, by names for people."""
    if isinstance(result, str):
        yield "the error", result.encode()
        return
    secrets, plan = result
    yield "the declared secrets", b"".join(entry.SerializeToString(deterministic=True) for entry in secrets)
    for file in plan.files:
        yield f"the file {file.path}", file.SerializeToString(deterministic=True)
    for step in plan.steps:
        yield f"the step {step.id}", step.SerializeToString(deterministic=True)
    yield "the order", repr([[file.path for file in plan.files], [step.id for step in plan.steps]]).encode()
    others = (plan.engine, plan.unit_name, sorted(plan.last_written), plan.diagnostics, plan.refusals)
    yield "what is reported", repr(others).encode()


def _folders(module: str) -> list[str]:
    """Give the folders of Slipway's packages, and of the engine's where it is in one."""
    names = dict.fromkeys(("slipway", module.partition(".")[0]))
    return [folder for name in names for folder in getattr(sys.modules.get(name), "__path__", ())]


if __name__ == "__main__":
    main(*sys.argv[1:])
