"""What every bootstrap engine gives back: a plan's material, or every reason why there can be none."""

from dataclasses import dataclass

from slipway.bootstrapper.problems.problem import Problem
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb


@dataclass(frozen=True, slots=True)
class EngineResult:
    """Files and steps that make the host a node. With any refusal there are neither.

    Attributes:
        engine: name of the engine, for provenance.
        files: for the bundle's files; owner, group and mode are said, literals are `data`.
        unit_name: name that the service which runs the plan customarily has where the commands are to stand literally.
        last_written: paths of those files that count even where an imported config writes the same path.
        steps: for the plan, in order; all of the phase BOOTSTRAP.
        diagnostics: warnings and notes with bundle field paths; their origin is left to the caller.
        refusals: everything that keeps the engine from making a plan, in the order of the fields.
    """

    engine: str
    files: tuple[ospb.File, ...] = ()
    unit_name: str = ""
    last_written: frozenset[str] = frozenset()
    steps: tuple[planpb.Step, ...] = ()
    diagnostics: tuple[Problem, ...] = ()
    refusals: tuple[Problem, ...] = ()
