"""Whether a bundle that is made of another one breaks further rules, found where the two differ."""

import itertools

import pytest

from slipway.conformance.cases import cases
from slipway.conformance.faults import faults, fits
from slipway.v1alpha1 import bundle_pb2 as bundlepb

BUNDLES = [case.bundle for case in cases("features")]
BROKEN = {
    "a list's entry": lambda bundle: bundle.os.files.add(path="not-absolute"),
    "two of a name": lambda bundle: bundle.os.users.extend([bundle.os.users.add(name="ann")] * 2),
    "too many": lambda bundle: bundle.os.ntp.servers.extend(["a.example.com"] * 1000),
    "a part without what it requires": lambda bundle: bundle.os.time_zone.SetInParent(),
    "a text in a part": lambda bundle: setattr(bundle.os.time_zone, "name", "no zone"),
}


def broken(bundle: bundlepb.BootstrapBundle, reason: str) -> bundlepb.BootstrapBundle:
    """Give a copy of a bundle that breaks a rule."""
    copy = bundlepb.BootstrapBundle()
    copy.CopyFrom(bundle)
    BROKEN[reason](copy)
    return copy


@pytest.mark.parametrize("reason", BROKEN)
def test_a_further_rule_that_is_broken_is_seen(reason: str) -> None:
    """In a list, between its entries, in their number, and in what was not there before."""
    bundle = broken(BUNDLES[0], reason)
    assert not fits(bundle, BUNDLES[0], faults(BUNDLES[0])), reason
    assert fits(bundle, bundle, faults(bundle)), reason


def test_the_answer_is_that_of_the_whole() -> None:
    """What is alike in both is not looked at, and changes no answer: for any two bundles of the suite's cases."""
    bundles = BUNDLES[:30] + [broken(bundle, reason) for bundle in BUNDLES[:4] for reason in BROKEN]
    answers = set()
    for bundle, other in itertools.permutations(bundles, 2):
        known = faults(bundle)
        answers.add(fits(other, bundle, known))
        assert fits(other, bundle, known) == (faults(other) <= known)
    assert answers == {True, False}


def test_what_is_required_and_alike_is_not_missing() -> None:
    """A part that differs beside what it must have keeps that."""
    bundle = bundlepb.BootstrapBundle()
    audit = bundle.intent.kubernetes.control_plane.audit
    audit.policy.segments.add(data=b"kind: Policy\n")
    other = bundlepb.BootstrapBundle()
    other.CopyFrom(bundle)
    audit.max_age_days = 7
    assert fits(bundle, other, faults(other))
