"""What a provisioner itself says of a machine that is not, or not yet, to be rendered.

Compilation finds what a format does not declare; only Render knows the rest. Whoever is refused something shall read
all of it at once, what concerns the machine as a whole first, and whoever is told to choose another format shall not be
refused the same by that one. So Render is asked too, to check only, about all that compilation has left in the bundle.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from slipway.bootstrapper.error_refusals import of_error
from slipway.bootstrapper.lowering.draft import Refusal
from slipway.bootstrapper.lowering.omission import SPEC_FIELDS, take_out
from slipway.contract.errors import SlipwayError
from slipway.contract.features import compute_features, unsupported
from slipway.contract.walk import within
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1.reasons import Reason

TRIAL_TIMEOUT = 5.0
"""Seconds for all formats together that may be named to a person: who has not answered by then is not named."""

_OF_THE_MACHINE = frozenset({Reason.KUBERNETES_VERSION_UNSUPPORTED, Reason.UNSUPPORTED_TARGET})

_FACTS = ("intent.cluster", "intent.role", "intent.kubernetes_version", "machine", "target")
"""Fields of a bundle that are facts of machine and cluster: who refuses one of them refuses the machine."""

_MAX_CUTS = 4


@dataclass(frozen=True, slots=True)
class Trial:
    """What a format refuses of a machine, and what it renders where it refuses nothing.

    Attributes:
        refusals: all that it refuses.
        judged: False where nobody could find out all of it.
        user_data: the user data, if they were asked for and nothing is refused.
    """

    refusals: Sequence[Refusal] = ()
    judged: bool = False
    user_data: bytes = field(default=b"", repr=False)


def of_the_machine(refusal: Refusal) -> bool:
    """Tell whether a refusal is of the machine as a whole, whatever its spec says."""
    if refusal.origin.path:
        return False
    return not refusal.path or refusal.feature in _OF_THE_MACHINE or refusal.path.startswith(_FACTS)


def in_order(refusals: Sequence[Refusal]) -> list[Refusal]:
    """Give the refusals, those of the whole machine first, and each once."""
    once: dict[tuple[str, str, str, str], Refusal] = {}
    for one in refusals:
        once.setdefault((one.feature, one.path, one.origin.path, one.reason), one)
    return sorted(once.values(), key=lambda one: not of_the_machine(one))


def of_whole(error: SlipwayError, bundle: bundlepb.BootstrapBundle) -> list[Refusal]:
    """Give the refusals of an error by which a provisioner refuses a machine; none where it has failed only."""
    return of_error(error, bundle) if error.reason in _OF_THE_MACHINE else []


def remainder(bundle: bundlepb.BootstrapBundle, info: provisionerpb.FormatInfo) -> bundlepb.BootstrapBundle | None:
    """Give what of a lowered bundle a format can be asked about: all but what it does not declare.

    None where that is a fact of machine or cluster.
    """
    rest = bundlepb.BootstrapBundle()
    rest.CopyFrom(bundle)
    for _ in range(_MAX_CUTS):
        paths = [one.use.path for one in unsupported(rest, info.features)]
        if not paths:
            compute_features(rest)
            return rest
        if not all(any(within(path, field) for field in SPEC_FIELDS) for path in paths):
            return None
        for path in reversed(paths):
            take_out(rest, path)
    return None
