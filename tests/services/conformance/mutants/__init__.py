"""The mutants: each breaks the contract in one way, and names the checks that must see it.

A mutant is what a careless author might write. There is a module for each thing that they break.
"""

from collections.abc import Iterator

from tests.services.conformance.mutants import (
    added,
    clock,
    control_plane,
    defaults,
    documents,
    edges,
    errors,
    features,
    habits,
    held,
    information,
    instances,
    items,
    lease,
    limits,
    listed,
    meaning,
    others,
    overlooked,
    placed,
    process,
    related,
    render,
    secrets,
    several,
    subtle,
    tls,
    transport,
    unasked,
    variety,
    versions,
)
from tests.services.conformance.mutants.mutant import Mutant

_MODULES = (
    information,
    features,
    render,
    clock,
    meaning,
    errors,
    limits,
    secrets,
    versions,
    transport,
    tls,
    process,
    instances,
    lease,
    items,
    control_plane,
    subtle,
    unasked,
    several,
    held,
    added,
    others,
    defaults,
    documents,
    edges,
    overlooked,
    habits,
    listed,
    variety,
    related,
    placed,
)


def mutants() -> Iterator[Mutant]:
    """Give all mutants."""
    for module in _MODULES:
        yield from module.mutants()
