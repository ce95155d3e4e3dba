"""What an engine makes is held to the contract's rules, as what a person writes is: no engine can forget them."""

from collections.abc import Iterator

from slipway.bootstrapper.assembly import content_rules, paths, structure
from slipway.bootstrapper.engines.result import EngineResult
from slipway.contract import validation
from slipway.contract.errors import Violation
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb


def broken_rules(made: EngineResult) -> Iterator[Violation]:
    """Give every rule of the contract that a plan breaks, by the field paths `files` and `steps` of the result."""
    system = ospb.OperatingSystem(files=made.files)
    for index, file in enumerate(made.files):
        path = f"files[{index}]"
        yield from validation.violations(file, path=path)
        if not file.HasField("content") or file.HasField("remote"):
            yield Violation(path, "must have content")
        yield from (Violation(path, f"has no {name}") for name in ("owner", "group", "mode") if not file.HasField(name))
        yield from content_rules.nul_violations(file, path)
    for entry in paths.entries(system):
        if paths.is_reserved(entry.path) and not entry.path.startswith(_own(made.engine)):
            folders = " or ".join(_own(made.engine))
            yield Violation(f"{_inner(entry.where)}.path", f"lies in a folder of Slipway's, and not at {folders}...")
    for earlier, later in paths.collisions(system):
        yield Violation(_inner(later.where), f"has the path of {_inner(earlier.where)}")
    seen: dict[str, int] = {}
    for index, step in enumerate(made.steps):
        path = f"steps[{index}]"
        yield from validation.violations(step, path=path)
        yield from structure.command_violations(step.command, f"{path}.command")
        yield from content_rules.nul_violations(step, path)
        if step.phase != planpb.PHASE_BOOTSTRAP:
            yield Violation(f"{path}.phase", "is not the phase BOOTSTRAP")
        earlier_step = seen.setdefault(step.id, index)
        if earlier_step != index:
            yield Violation(f"{path}.id", f"is the id of steps[{earlier_step}], too")


def _own(engine: str) -> tuple[str, ...]:
    """Give the beginnings of the paths in Slipway's folders that an engine has for itself."""
    return (f"/etc/slipway/{engine}", f"c:/programdata/slipway/{engine}")


def _inner(where: str) -> str:
    return where.removeprefix("os.")
