"""A run ends in time, whatever the provisioner does, and keeps what its author needs to find the cause."""

import asyncio
import itertools
import json
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slipway.cli.conformance_command import _exit_code
from slipway.conformance import subject, verdict
from slipway.conformance.catalogue import all_checks
from slipway.conformance.check import Check
from slipway.conformance.heartbeat import Heartbeat
from slipway.conformance.opening import opened
from slipway.conformance.options import Options
from slipway.conformance.report import CORE, as_expected, report
from slipway.conformance.run import Wanted, conformance
from slipway.conformance.runner import TIME_IS_OVER, run
from slipway.conformance.v1alpha1 import report_pb2 as reportpb
from tests.services.conformance.bent import Bent, InProcess, Request
from tests.services.conformance.mutants.bending import answered
from tests.services.conformance.runs import CHECKS, QUICK

pytestmark = pytest.mark.long

_STARTED = replace(QUICK, start=60, reach=60)
"""What is sure to come may come late."""

Before = Callable[[Request, Any], Awaitable[None]]
_SLOW, _TIME = 0.5, 4.0


class _Hangs:
    """Hangs in every second render."""

    def __init__(self) -> None:
        self.number = itertools.count(1)
        self.asked = 0

    async def __call__(self, _request: Request, _context: Any) -> None:
        self.asked = next(self.number)
        if self.asked % 2 == 0:
            await asyncio.Event().wait()


async def _never(_request: Request, _context: Any) -> None:
    await asyncio.Event().wait()


async def made(bent: Bent, options: Options, *only: str) -> reportpb.Report:
    """Make a run of all checks, or of some."""
    return await conformance(options, wanted=Wanted(only=only), launcher=InProcess(bent))


async def judged(bent: Bent, slowness: float, checks: Iterable[Check]) -> reportpb.Report:
    """Make a run of checks on a machine that is so many times slower than usual, whatever this one is."""
    options = Options(insecure=True, renders=40, patience=_STARTED)
    # A heartbeat that is not begun has never been late.
    heartbeat = Heartbeat(slowness=lambda: slowness)
    async with opened(options, launcher=InProcess(bent), heartbeat=heartbeat) as session:
        return report(session, await run(session, checks))


@pytest.mark.parametrize("slowness", [1.0, 1.2])
async def test_a_provisioner_that_hangs_costs_little(monkeypatch: pytest.MonkeyPatch, slowness: float) -> None:
    """After three renders that did not end no more are asked for; it does not keep the contract, for that reason."""
    monkeypatch.setattr(subject, "RENDER_SECONDS", 1.0)
    hangs = _Hangs()
    # The second try of a call counts as quick, however slow this machine is.
    monkeypatch.setattr(subject, "_QUICK_AGAIN", 2.0)
    result = await judged(Bent(before=hangs), slowness, [check for check in all_checks() if check.chapter == "render"])
    assert result.verdict == reportpb.VERDICT_NOT_CONFORMANT
    failed = [finding for finding in result.findings if finding.state == reportpb.FINDING_STATE_FAILED]
    assert any(subject.HANGS in finding.found for finding in failed)
    assert not as_expected(result)
    # Calls that are made together, or on a machine that is slow just then, may hang besides; a whole run makes 4,000.
    assert hangs.asked < 400
    not_run = {finding.check for finding in result.findings if subject.HANGS in finding.found}
    assert len(not_run) > len(all_checks()) // 2


@pytest.mark.parametrize("hangs", [_Hangs, lambda: _never])
async def test_a_slow_machine_does_not_show_that_it_keeps_the_contract(
    monkeypatch: pytest.MonkeyPatch, hangs: Callable[[], Before]
) -> None:
    """One that is five times slower judges nothing of the same provisioner, and the verdict says it."""
    monkeypatch.setattr(subject, "RENDER_SECONDS", 0.2)
    ids = ("INF-001.name", "RND-001.odd-tags", "RND-006.sha256")
    result = await judged(Bent(before=hangs()), 5.0, [CHECKS[id_] for id_ in ids])
    assert result.summary.failed == 0, result.findings
    assert result.verdict == reportpb.VERDICT_CONFORMANT_AS_FAR_AS_CHECKED
    assert not result.conformant
    assert [finding.check for finding in result.findings if finding.unjudged]
    assert "run it again on a quiet machine" in verdict.as_text(result)
    assert "--decode-cmd" not in verdict.as_text(result)


@pytest.mark.parametrize(
    ("name", "verdict_of_run", "code"),
    [
        # no parser of the suite reads it
        ("acme", reportpb.VERDICT_CONFORMANT_AS_FAR_AS_CHECKED, 3),
        # it is no cloud-config
        ("cloud-config", reportpb.VERDICT_NOT_CONFORMANT, 1),
    ],
)
async def test_a_provisioner_that_always_answers_the_same(
    name: str, verdict_of_run: reportpb.Verdict.ValueType, code: int
) -> None:
    """Whatever was asked: where nothing of the core can be read, it is not said to keep the contract."""

    async def as_ours(request: Request, _context: Any) -> None:
        request.format = "cloud-config"

    def constant(_request: Request, response: Any) -> None:
        response.format, response.media_type = name, f"text/{name}"
        response.user_data = b"rm -rf /\n" if response.user_data else b""

    def declared(info: Any, _caller: str) -> None:
        info.formats[0].format, info.formats[0].media_type = name, f"text/{name}"

    bent = replace(answered(constant), before=as_ours, info=declared)
    result = await judged(bent, 1.0, [check for check in all_checks() if check.clause in CORE])
    assert result.verdict == verdict_of_run, result.findings
    assert _exit_code(result, some=False) == code
    assert ("--decode-cmd" in verdict.as_text(result)) is (code == 3)


async def test_the_time_is_over() -> None:
    """What it does not suffice for is not run, and there is no verdict: nothing says that the contract is kept."""
    options = Options(insecure=True, renders=40, patience=QUICK, seconds=1e-6)
    report = await made(Bent(), options)
    assert report.verdict == reportpb.VERDICT_UNSPECIFIED
    assert not report.conformant
    assert not report.passed
    assert TIME_IS_OVER in {finding.found[0] for finding in report.findings}
    assert "only a run of all of them" in verdict.as_text(report)
    assert as_expected(report)


async def test_a_slow_provisioner_within_a_time() -> None:
    """The run ends with its time, long before all is tried, and names all that was not."""

    async def slow(_request: Request, _context: Any) -> None:
        await asyncio.sleep(_SLOW)

    options = Options(insecure=True, renders=40, patience=QUICK, seconds=_TIME, profiles=("render",))
    began = time.monotonic()
    report = await made(Bent(before=slow), options)
    assert time.monotonic() - began > _TIME - _SLOW
    over = {finding.check for finding in report.findings if list(finding.found) == [TIME_IS_OVER]}
    assert len(over) > len(report.passed)
    every = {check.id for check in all_checks() if check.chapter == "render"}
    assert {finding.check for finding in report.findings} | set(report.passed) == every
    assert report.verdict == reportpb.VERDICT_UNSPECIFIED
    assert not [finding for finding in report.findings if finding.state == reportpb.FINDING_STATE_FAILED]


async def test_what_failed_is_kept(tmp_path: Path) -> None:
    """Request, answer and user data of each check that failed, by its id; nothing of those that passed."""
    wrong = answered(lambda _, response: setattr(response, "sha256", b"x"), rehash=False)
    options = Options(insecure=True, renders=40, patience=QUICK, keep=tmp_path)
    await made(wrong, options, "RND-006", "RND-007.what-it-is", "RND-001")
    kept = await asyncio.to_thread(lambda: {str(path.relative_to(tmp_path)): path for path in tmp_path.rglob("*.*")})
    assert {name.partition("/")[0] for name in kept} == {"RND-006.sha256"}
    request, answer = (json.loads(kept[f"RND-006.sha256/001-{of}.json"].read_text()) for of in ("request", "answer"))
    assert request["bundle"]["id"]
    assert (answer["code"], answer["response"]["sha256"]) == ("OK", "eA==")
    assert (tmp_path / "RND-006.sha256" / "001-user-data").read_bytes().startswith(b"#cloud-config")
