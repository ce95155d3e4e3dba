"""Asks a provisioner for its own judgement of a machine, also of one that compilation has refused already.

Whoever is refused something shall read all of it in one answer: what only Render finds stands in it as well.
"""

import asyncio
import math
from dataclasses import replace
from functools import partial

from slipway.bootstrapper.beside import beside
from slipway.bootstrapper.lowering.draft import Refusal
from slipway.bootstrapper.preparer import Prepared, Preparer
from slipway.bootstrapper.refusals import bundle_path, said
from slipway.bootstrapper.trial import TRIAL_TIMEOUT, Trial, in_order, of_whole, remainder
from slipway.contract.errors import SlipwayError, UnsupportedFeature

TRUNCATED = "truncated"
"""Metadata key of a status that had to leave field violations out (errors.yaml)."""

MAX_RENDERS = 64
"""Most calls of Render for one bundle; each but the last lowers up to 20 fields, and a bundle has fewer items."""


async def judge(preparer: Preparer, prepared: Prepared, *, validate_only: bool = True) -> Trial:
    """Give all that a provisioner refuses of a machine: what compilation found, and what Render itself says.

    `prepared.compiled` is then what was asked last. Unless it is to check only, the user data are given too. Once
    something is refused, Render has TRIAL_TIMEOUT seconds in all for what it may add, and no failure of its own takes
    the refusal's place.

    Raises:
        SlipwayError: a refusal of another reason, or a failure, where compilation has found nothing.
    """
    told = list(prepared.compiled.refusals)
    judged, data = False, b""
    try:
        async with asyncio.timeout(None) as limit:
            judged, data = await _judged(preparer, prepared, told, limit, validate_only=validate_only)
    except Exception as error:
        if not told:
            raise
        if isinstance(error, SlipwayError):
            told += of_whole(error, prepared.compiled.bundle)
    return Trial(in_order(told), judged=judged, user_data=data)


async def _judged(
    preparer: Preparer, prepared: Prepared, told: list[Refusal], limit: asyncio.Timeout, *, validate_only: bool
) -> tuple[bool, bytes]:
    """Ask until nothing more is refused, and add to what was told; give whether all was judged, and the user data."""
    again = True
    for _ in range(MAX_RENDERS):
        if told and limit.when() is None:
            limit.reschedule(asyncio.get_running_loop().time() + TRIAL_TIMEOUT)
        asked = await _rest(prepared) if told else prepared
        if asked is None:
            break
        try:
            preparer.seal(asked.compiled.bundle, asked.available)
            response, _ = await preparer.ask(
                asked,
                accept_attachments=True,
                validate_only=validate_only or bool(told),
                most=TRIAL_TIMEOUT if told else math.inf,
            )
        except UnsupportedFeature as error:
            rejected = {bundle_path(one.path): one for one in error.violations}
            if not again or not rejected or prepared.compiled.draft is None:
                told += said(error, asked.compiled.bundle)
                return TRUNCATED not in error.metadata, b""
            again = TRUNCATED in error.metadata
            await preparer.lower_again(prepared, rejected)
            told += prepared.compiled.refusals
        else:
            return True, response.user_data
    return False, b""


async def _rest(prepared: Prepared) -> Prepared | None:
    """Give the machine without what its format does not declare; None where nothing is left to be asked about."""
    compiled = prepared.compiled
    if compiled.draft is None:
        return None
    cut = partial(remainder, compiled.bundle, prepared.candidate.format)
    rest = await beside(compiled.bundle.ByteSize(), cut)
    return None if rest is None else replace(prepared, compiled=replace(compiled, bundle=rest))
