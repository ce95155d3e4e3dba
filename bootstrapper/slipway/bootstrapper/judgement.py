"""Has a bundle rendered until the provisioner refuses nothing more, or everything that it refuses is known.

Compilation finds what a format does not declare; only Render knows the rest. What it refuses is lowered, and it is
asked again. A user shall read all refusals in one answer, what concerns the machine as a whole first, and nobody shall
be sent to a format that refuses the same. So Render is also asked, to check only, about what compilation left.
"""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from slipway.bootstrapper.beside import beside
from slipway.bootstrapper.lowering.omission import SPEC_FIELDS, take_out
from slipway.bootstrapper.prepared import Prepared
from slipway.bootstrapper.preparer import Preparer
from slipway.bootstrapper.problems.conversion import problems_of_answer, problems_of_error
from slipway.bootstrapper.problems.places import bundle_path
from slipway.bootstrapper.problems.problem import OF_MACHINE, Problem, in_order
from slipway.contract.errors import ProvisionerFailed, SlipwayError, UnsupportedFeature
from slipway.contract.feature_uses import uses
from slipway.contract.features import compute_features, unsupported
from slipway.contract.items import within
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb

TRIAL_TIMEOUT = 5.0
"""Seconds for all formats together that may be named to a person: a provisioner without an answer by then is not."""

TRUNCATED = "truncated"
"""Metadata key of a status that had to leave field violations out (errors.yaml)."""

MAX_RENDERS = 64
"""Most calls of Render for one bundle; each but the last lowers up to 20 fields, and a bundle has fewer items."""

_MAX_CUTS = 4

_Answer = tuple[provisionerpb.RenderResponse, registrypb.ProvisionerInstance]


@dataclass(frozen=True, slots=True)
class Trial:
    """What a format refuses of a machine, and what it renders where it refuses nothing.

    Attributes:
        refusals: all that it refuses.
        judged: False where nobody could find out all of it.
        user_data: the user data, if they were asked for and nothing is refused.
    """

    refusals: Sequence[Problem] = ()
    judged: bool = False
    user_data: bytes = field(default=b"", repr=False)


async def judge(preparer: Preparer, prepared: Prepared, *, validate_only: bool = True) -> Trial:
    """Return all that a provisioner refuses of a machine: what compilation found, and what Render itself refuses.

    `prepared.compiled` is then what was asked last. Unless it is to check only, the user data are returned too. Once
    something is refused, Render has TRIAL_TIMEOUT seconds in all for what it may add, and no failure of its own takes
    the refusal's place.

    Raises:
        SlipwayError: a refusal of another reason, or a failure, where compilation has found nothing.
    """
    problems = list(prepared.compiled.refusals)
    judged, data = False, b""
    try:
        if not problems:
            preparer.seal(prepared)
        async with asyncio.timeout(None) as limit:
            answer, judged = await negotiate(
                preparer, prepared, problems, accept_attachments=True, validate_only=validate_only, limit=limit
            )
            data = answer[0].user_data if answer is not None else b""
    except Exception as error:
        if not problems:
            raise
        if isinstance(error, SlipwayError) and error.reason in OF_MACHINE:
            problems += problems_of_error(error, prepared.compiled.bundle)
    return Trial(in_order(problems), judged=judged, user_data=data)


async def negotiate(  # noqa: PLR0913  # what to ask, and how
    preparer: Preparer,
    prepared: Prepared,
    problems: list[Problem],
    *,
    accept_attachments: bool,
    validate_only: bool,
    limit: asyncio.Timeout | None = None,
) -> tuple[_Answer | None, bool]:
    """Have a sealed bundle rendered, or only checked; lower what the provisioner refuses and ask again.

    `prepared.compiled` is then what was asked last. Returns the answer, None where nothing was rendered, and whether
    `problems`, to which refusals are added, has all of them. With `limit` Render is asked about the rest of a refused
    machine too, to check only: the limit is set to TRIAL_TIMEOUT seconds from the first refusal on.

    Raises:
        SlipwayError: the provisioner's failure, or without `limit` its refusal of no field.
    """
    lowers = True
    for _ in range(MAX_RENDERS):
        attempt, most = prepared, math.inf
        if problems:
            rest = await _remainder(prepared) if limit is not None else None
            if limit is None or rest is None:
                return None, False
            if limit.when() is None:
                limit.reschedule(asyncio.get_running_loop().time() + TRIAL_TIMEOUT)
            attempt, most = rest, TRIAL_TIMEOUT
            preparer.seal(attempt)
        try:
            check_only = validate_only or bool(problems)
            answer = await preparer.ask(
                attempt, accept_attachments=accept_attachments, validate_only=check_only, most=most
            )
        except UnsupportedFeature as error:
            rejected = {bundle_path(violation.path): violation for violation in error.violations}
            if limit is None and not rejected:
                raise
            if not lowers or not rejected or prepared.compiled.draft is None:
                problems += problems_of_answer(error, attempt.compiled.bundle)
                return None, TRUNCATED not in error.metadata
            # A status holds only so many fields: what it left out is in the next one.
            lowers = TRUNCATED in error.metadata
            await preparer.lower_again(prepared, rejected)
            problems += prepared.compiled.refusals
            if not problems:
                preparer.seal(prepared)
        else:
            return answer, True
    raise ProvisionerFailed(
        "the provisioner refuses fields without end", metadata={"provisioner": prepared.candidate.name}
    )


async def _remainder(prepared: Prepared) -> Prepared | None:
    """Return the machine without what its format does not declare; None where nothing is left to be asked about."""
    compiled = prepared.compiled
    if compiled.draft is None:
        return None
    cut = partial(remainder, compiled.bundle, prepared.candidate.format)
    rest = await beside(compiled.bundle.ByteSize(), cut)
    return None if rest is None else replace(prepared, compiled=replace(compiled, bundle=rest))


def remainder(bundle: bundlepb.BootstrapBundle, info: provisionerpb.FormatInfo) -> bundlepb.BootstrapBundle | None:
    """Return what of a lowered bundle a format can be asked about: all but what it does not declare.

    None where that is a fact of machine or cluster.
    """
    rest = bundlepb.BootstrapBundle()
    rest.CopyFrom(bundle)
    for _ in range(_MAX_CUTS):
        used = list(uses(rest))
        paths = [undeclared.use.path for undeclared in unsupported(rest, info.features, used=used)]
        if not paths:
            compute_features(rest, used=used)
            return rest
        if not all(any(within(path, field) for field in SPEC_FIELDS) for path in paths):
            return None
        for path in reversed(paths):
            take_out(rest, path)
    return None
