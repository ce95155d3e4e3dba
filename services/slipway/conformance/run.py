"""One whole run: open, check, report. What the command and the tests call."""

from collections.abc import Collection
from dataclasses import dataclass

from slipway.conformance.catalogue import all_checks
from slipway.conformance.check import Check
from slipway.conformance.figures import Figures
from slipway.conformance.launcher import Launcher
from slipway.conformance.opening import opened
from slipway.conformance.options import Options
from slipway.conformance.report import report
from slipway.conformance.runner import TIME_IS_OVER, Progress, run
from slipway.conformance.v1alpha1 import report_pb2 as reportpb

EXTENDED = frozenset({"FEA-009.extended-features", "RND-019.extended-items"})
"""Checks that look beyond the core features."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which checks to make.

    Attributes:
        only: ids of groups, clauses or checks; empty for all.
        known: checks that must fail.
    """

    only: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()

    def __contains__(self, check: Check) -> bool:
        """Whether a check is wanted."""
        return not self.only or bool({check.id, check.clause, check.group} & set(self.only))


async def conformance(
    options: Options,
    *,
    wanted: Wanted | None = None,
    progress: Progress | None = None,
    launcher: Launcher | None = None,
    figures: Figures | None = None,
) -> reportpb.Report:
    """Make a run and give its report; what is measured in passing goes to `figures`.

    Only a run of all checks of a chapter can end with the verdict that it is kept.

    Raises:
        CannotStartError: the provisioner cannot be reached.
    """
    wanted = wanted or Wanted()
    checks = [check for check in all_checks() if check in wanted and in_profile(check, options)]
    async with opened(options, launcher=launcher) as session:
        session.figures = session.figures if figures is None else figures
        results = await run(session, checks, progress=progress)
        made = report(session, results, known=wanted.known)
    over = any(result.found == (TIME_IS_OVER,) for result in results) and not made.summary.failed
    if wanted.only or over:
        # Some checks that pass are no word about the others.
        made.conformant = False
        made.verdict = reportpb.VERDICT_UNSPECIFIED
        made.ClearField("profiles")
        made.ClearField("chapters")
    return made


def ids() -> Collection[str]:
    """Give the ids of all checks."""
    return [check.id for check in all_checks()]


def names(text: str) -> bool:
    """Whether a text is the id of a group, clause or check that has one."""
    return any(text in (check.id, check.clause, check.group) for check in all_checks())


def in_profile(check: Check, options: Options) -> bool:
    """Whether a check is of what the options ask for."""
    tried = not options.profiles or check.chapter in options.profiles
    return tried and not (options.core_only and check.id in EXTENDED)
