"""All checks, in the order of the contract page."""

from functools import cache

from slipway.conformance.check import Check
from slipway.conformance.checks import (
    blame,
    booted,
    clock,
    company,
    edges,
    errors,
    extensions,
    features,
    information,
    insertion,
    limits,
    load,
    meaning,
    outage,
    places,
    process,
    quantity,
    refusals,
    registration,
    remembrance,
    render,
    secrecy,
    splicing,
    starting,
    tls,
    transport,
    variety,
    versions,
)


@cache
def all_checks() -> tuple[Check, ...]:
    """Give all checks, sorted by clause; those of one clause in the order in which they are written."""
    modules = (
        transport, tls, process, information, features, render, clock, remembrance, refusals, splicing, insertion,
        meaning, booted, quantity, variety, extensions, edges, company, places, starting, errors, blame, limits, load,
        secrecy, registration, outage, versions,
    )  # fmt: skip
    order = ("TRN", "INF", "FEA", "RND", "ERR", "LIM", "SEC", "REG", "EXE", "VER")
    found = [check for module in modules for check in module.CHECKS]
    return tuple(sorted(found, key=lambda check: (order.index(check.group), check.clause)))
