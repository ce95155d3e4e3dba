"""What became of every feature of every format: the part of the report that a user of a provisioner wants to read."""

from collections import defaultdict
from typing import TypeAlias

from slipway.conformance.v1alpha1 import report_pb2 as reportpb

VERIFIED, UNVERIFIED, FAILED, NOT_TRIED = (
    reportpb.FEATURE_STATE_VERIFIED,
    reportpb.FEATURE_STATE_UNVERIFIED,
    reportpb.FEATURE_STATE_FAILED,
    reportpb.FEATURE_STATE_NOT_TRIED,
)
# A failure says more than a success elsewhere, and a success more than a look that was not possible.
_STRENGTH = {FAILED: 3, VERIFIED: 2, UNVERIFIED: 1, NOT_TRIED: 0}


_OF_A_VENDOR = "a vendor's own: only its author knows what may be in it"

State: TypeAlias = reportpb.FeatureState.ValueType


class Ledger:
    """The features, by format."""

    def __init__(self) -> None:
        """Start with nothing known."""
        self._states: dict[str, dict[str, tuple[State, str]]] = defaultdict(dict)

    def note(self, format_id: str, feature: str, state: State, why: str = "") -> None:
        """Take in what was found of a feature; the stronger word stays."""
        known = self._states[format_id].get(feature)
        if known is None or _STRENGTH[known[0]] < _STRENGTH[state]:
            self._states[format_id][feature] = (state, why)

    def state(self, format_id: str, feature: str) -> tuple[State, str]:
        """Give what is known of a feature."""
        why = _OF_A_VENDOR if feature.startswith("ext.") else "no case of the suite uses it"
        return self._states[format_id].get(feature, (NOT_TRIED, why))
