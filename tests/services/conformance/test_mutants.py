"""Every check sees the provisioner that breaks its clause, and checks of other groups do not mind."""

import pytest

from slipway.conformance.check import Need
from slipway.conformance.runner import Ending
from tests.services.conformance.mutants import mutants
from tests.services.conformance.mutants.mutant import Mutant
from tests.services.conformance.runs import CHECKS, SMOKE, group, results, session

MUTANTS = list(mutants())
BAD = (Ending.FAILED, Ending.WARNED)


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=[one.name.replace(" ", "-") for one in MUTANTS])
async def test_a_mutant_is_seen(mutant: Mutant) -> None:
    """Its own checks fail; the quick checks of unrelated groups pass."""
    related = {group(id_) for id_ in mutant.checks} | set(mutant.related)
    others = [id_ for id_ in SMOKE if group(id_) not in related]
    async with session(mutant.bent, secure=mutant.secure) as found:
        own = await results(found, mutant.checks)
        rest = await results(found, others)
    assert {id_: (one.ending, one.found) for id_, one in own.items() if one.ending not in BAD} == {}
    assert {id_: one.found for id_, one in rest.items() if one.ending in BAD} == {}


def test_every_check_has_a_mutant() -> None:
    """No check is there that has not been seen to fail; the machine of one is of test_booted.py."""
    seen = {id_ for mutant in MUTANTS for id_ in mutant.checks}
    assert sorted(set(CHECKS) - seen) == [id_ for id_, check in CHECKS.items() if Need.BOOT in check.needs]
    assert sorted(seen - set(CHECKS)) == []
