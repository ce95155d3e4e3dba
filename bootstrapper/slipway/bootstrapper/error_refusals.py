"""Turns errors, and what an engine refuses, into refusals at the places where people wrote what is refused."""

from collections.abc import Iterable

from slipway.bootstrapper.engines.result import EngineRefusal
from slipway.bootstrapper.field_index import item_index
from slipway.bootstrapper.lowering.draft import Refusal
from slipway.bootstrapper.remedies import remedy_of_error
from slipway.contract.errors import SlipwayError
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb


def of_error(error: SlipwayError, bundle: bundlepb.BootstrapBundle) -> list[Refusal]:
    """Give a refusal for every field that an error names, or one for the whole."""
    feature = error.metadata.get("features", "").split(",")[0] or error.reason
    otherwise = remedy_of_error(error)
    if not error.violations:
        return [Refusal(feature, "", diagnosticpb.Origin(), error.message, otherwise)]
    named = [
        EngineRefusal(one.feature or feature, one.path, one.description, one.remedy or otherwise)
        for one in error.violations
    ]
    return of_engine(named, bundle)


def of_engine(refusals: Iterable[EngineRefusal], bundle: bundlepb.BootstrapBundle) -> list[Refusal]:
    """Give what an engine has refused in a bundle, with the origins that the bundle's items have."""
    index = item_index(bundle)
    found = []
    for one in refusals:
        item = index.holder(one.path)
        origin = diagnosticpb.Origin() if item is None else item.message.origin
        # The place that is told is the item's: the sentence begins with the field within it.
        inner = "" if item is None else person_path(one.path[len(item.path) :].removeprefix("."))
        found.append(Refusal(one.feature, one.path, origin, f"{inner} {one.reason}".lstrip(), one.remedy))
    return found
