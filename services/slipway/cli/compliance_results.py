"""What evidence means: a result for each control of a machine's profiles, with waivers and what has changed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from slipway.bootstrapper.compliance.profile import Control
from slipway.bootstrapper.compliance.profile_table import find_control, profile_ids
from slipway.bootstrapper.compliance.selection import select
from slipway.cli.evidence import Absence, Evidence
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb

PASS, FAIL, WAIVED, MANUAL, MISSING = "pass", "fail", "waived", "manual", "missing"
NOT_APPLICABLE = "not-applicable"
RESULTS = (FAIL, MISSING, WAIVED, MANUAL, NOT_APPLICABLE, PASS)
"""All results, the worst first. "missing": the evidence has nothing of a control that is checked."""
_RANK = {NOT_APPLICABLE: 0, PASS: 1, FAIL: 2}


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one control on one machine; its fields are those of the command's JSON.

    Attributes:
        control: "PROFILE/ID".
        title: what it is about; "" for a control that this version does not know.
        severity: as the benchmark rates it.
        result: one of RESULTS.
        observed: what was found; of several demands what makes the result.
        note: why it is for people, or waived, and until when.
        before: the result in earlier evidence, where that was another one.
    """

    control: str
    title: str
    severity: str
    result: str
    observed: str = ""
    note: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class MachineResults:
    """What is known of one machine.

    Attributes:
        name: its name, as the one who reports it says it.
        evidence: what it wrote; None if there is nothing.
        results: a result for each control.
        absence: why there is no evidence; None where there is.
    """

    name: str
    evidence: Evidence | None = None
    results: Sequence[Result] = ()
    absence: Absence | None = None

    @property
    def is_bad(self) -> bool:
        """Return whether a control fails, or the evidence lacks one."""
        return any(result.result in {FAIL, MISSING} for result in self.results)


def results_of(evidence: Evidence, *, now: datetime, before: Evidence | None = None) -> list[Result]:
    """Give the result of every control of a machine, in the order of the profiles.

    A profile that this version does not know has a result of its own, MISSING: what it should check is not known.
    """
    role = clusterpb.Role.Value(evidence.role)
    selection = select(specpb.Compliance(profiles=evidence.profiles), role)
    known: dict[str, Control | None] = dict(selection.met)
    observed = _worst(evidence)
    known |= {name: find_control(name) for name in observed if name not in known}
    earlier = {result.control: result.result for result in results_of(before, now=now)} if before else {}
    results = [_result(name, control, evidence, observed, now) for name, control in known.items()]
    results += [
        Result(profile, "", "", MISSING, note="this version of slipway does not know the profile")
        for profile in evidence.profiles
        if profile not in profile_ids()
    ]
    return [_with_change(result, earlier) for result in results]


def counts(results: Sequence[Result]) -> Mapping[str, int]:
    """Count the results of a machine, the worst first."""
    return {name: sum(result.result == name for result in results) for name in RESULTS}


def _result(
    name: str, control: Control | None, evidence: Evidence, observed: Mapping[str, tuple[str, str]], now: datetime
) -> Result:
    title, severity = (control.title, control.severity) if control else ("", "")
    if control is not None and control.manual and name not in observed:
        return Result(name, title, severity, MANUAL, note=control.manual)
    result, seen = observed.get(name, (MISSING, ""))
    waiver = evidence.waiver_of(name)
    if waiver is None:
        return Result(name, title, severity, result, seen)
    until = f" until {waiver.expire_time:%Y-%m-%d}" if waiver.expire_time else ""
    if not evidence.is_waived(name, now):
        return Result(name, title, severity, result, seen, f"the waiver has ended: {waiver.reason}")
    note = f"waived{until}: {waiver.reason}"
    return Result(name, title, severity, WAIVED if result == FAIL else result, seen, note)


def _with_change(result: Result, earlier: Mapping[str, str]) -> Result:
    before = earlier.get(result.control, "")
    if before in ("", result.result):
        return result
    return Result(result.control, result.title, result.severity, result.result, result.observed, result.note, before)


def _worst(evidence: Evidence) -> dict[str, tuple[str, str]]:
    worst: dict[str, tuple[str, str]] = {}
    for entry in evidence.controls:
        known = worst.get(entry.control)
        if known is None or _RANK[entry.result] > _RANK[known[0]]:
            worst[entry.control] = (entry.result, entry.observed)
    return worst


def noteworthy(results: Sequence[Result]) -> Iterator[Result]:
    """Give the results that a person has to look at: no passes, unless they have changed."""
    for result in results:
        if result.before or result.result in {FAIL, MISSING, WAIVED}:
            yield result
