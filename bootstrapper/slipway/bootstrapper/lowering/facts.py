"""Machine facts as a step: what only the machine knows, found there, checked, and kept for later steps.

This is the only place that lowers facts. The step belongs to the phase PREPARE, so a missing or malformed
value stops the bootstrap before anything is configured with a guess.
"""

import json
import shlex
from collections.abc import Iterable

from slipway.bootstrapper.lowering.fact_table import Source, read_row, row
from slipway.bootstrapper.lowering.program_text import program
from slipway.bootstrapper.lowering.runners.pieces import FACT_NAMES
from slipway.contract.content import literal
from slipway.contract.errors import UnsupportedFeature, Violation
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import plan_pb2 as planpb

STEP_ID = "machine-facts"


def facts_step(
    kinds: Iterable[contentpb.FactKind.ValueType],
    target: clusterpb.Target,
    *,
    media_type: str = "",
    imported: bool = False,
) -> planpb.Step:
    """Give the step that finds the facts of these kinds on a machine of this target.

    The step can ask what reads user data of the media type, where that knows facts: first, for an imported config.

    Raises:
        UnsupportedFeature: the table has no row for a fact on this infrastructure and operating system.
    """
    sources = {kind: _source(kind, target, media_type=media_type, imported=imported) for kind in sorted(kinds)}
    if target.os_family == clusterpb.OS_FAMILY_WINDOWS:
        script, interpreter = _windows_script(sources), planpb.INTERPRETER_POWERSHELL
    else:
        script, interpreter = _linux_script(sources), planpb.INTERPRETER_SH
    command = planpb.Command(script=literal(script), interpreter=interpreter)
    return planpb.Step(id=STEP_ID, phase=planpb.PHASE_PREPARE, command=command)


def has_source(kind: contentpb.FactKind.ValueType, target: clusterpb.Target) -> bool:
    """Say whether the fact can be lowered for this target."""
    return row(kind, infrastructure=target.infrastructure, os_family=target.os_family) is not None


def _source(kind: contentpb.FactKind.ValueType, target: clusterpb.Target, *, media_type: str, imported: bool) -> Source:
    source = read_row(kind, target, media_type=media_type, imported=imported)
    if source is None:
        name = FACT_NAMES.get(kind, "unknown")
        raise UnsupportedFeature(
            f"the machine fact {name} has no source on this infrastructure; write the value itself",
            violations=[
                Violation(
                    "target.infrastructure",
                    f"does not give its machines the fact {name}",
                    remedy="write the value itself in place of the fact",
                )
            ],
        )
    return source


def _programs(sources: Iterable[Source], suffix: str) -> bytes:
    names = dict.fromkeys(name for source in sources for name in source.programs)
    return b"".join(program(f"facts_{name}.{suffix}") for name in ("core", *names))


def _linux_script(sources: dict[contentpb.FactKind.ValueType, Source]) -> bytes:
    calls = [
        shlex.join(["want", FACT_NAMES[kind], str(source.attempts), str(source.pause), source.grammar, *source.call])
        for kind, source in sources.items()
    ]
    return _programs(sources.values(), "sh") + "".join(f"{call}\n" for call in calls).encode()


def _windows_script(sources: dict[contentpb.FactKind.ValueType, Source]) -> bytes:
    wanted = [
        {
            "name": FACT_NAMES[kind],
            "attempts": source.attempts,
            "pause": source.pause,
            "grammar": source.grammar,
            "call": list(source.call),
        }
        for kind, source in sources.items()
    ]
    data = json.dumps({"facts": wanted}, ensure_ascii=True).replace("'", "''")
    return _programs(sources.values(), "ps1") + f"Find-Facts '{data}'\n".encode()
