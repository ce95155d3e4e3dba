"""Finds the field of a person behind a refused file that a bootstrap engine made.

An engine's file has no place in anybody's document. When it is refused for foreign template text, the text came
from a field of the Kubernetes part: that field is what the person can change.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from slipway.bootstrapper.lowering.draft import Refusal
from slipway.contract.walk import Use, origin_of, uses
from slipway.v1alpha1 import bundle_pb2 as bundlepb

_TEMPLATES = ".templates"
_MADE_FILES = "os.files["


def at_their_causes(refusals: Iterable[Refusal], neutral: bundlepb.BootstrapBundle) -> Iterator[Refusal]:
    """Give the refusals; those of an engine's files for their template text at the fields that hold it."""
    causes = [use for use in uses(neutral) if use.path.startswith("intent.") and use.id.endswith(_TEMPLATES)]
    told = False
    for one in refusals:
        if not (causes and one.path.startswith(_MADE_FILES) and one.origin.made_by and not one.origin.path):
            yield one
        elif not told:
            told = True
            yield from (_at(use, one) for use in causes)


def _at(use: Use, refusal: Refusal) -> Refusal:
    origin = origin_of(use.item) if use.item is not None else refusal.origin
    return replace(refusal, feature=use.id, path=use.path, origin=origin)
