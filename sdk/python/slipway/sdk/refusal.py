"""How a provisioner says that it cannot honour something after all.

What a format declares is coarse; some items turn out to be impossible only when they are rendered. A refusal
names the item by its field path, so that the bootstrapper can lower just that one and ask once more. The
contract forbids the
alternative: leaving it out in silence.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

from slipway.contract.errors import UnsupportedFeature, Violation


@dataclass(frozen=True, slots=True)
class Refusal:
    """One item that is not supported.

    Attributes:
        path: field path of the item in the bundle, e.g. "os.files[2]".
        feature: id of the feature, e.g. "os.files".
        message: what is wrong, without any value of the bundle, e.g. "has a numeric owner".
        remedy: what the person can do about it, e.g. "name the owner"; "" where that is only to change or leave it out.
    """

    path: str
    feature: str
    message: str
    remedy: str = ""


def unsupported_feature(refusals: Iterable[Refusal], *, format_id: str) -> UnsupportedFeature:
    """Give the error that the contract asks for: all refused paths at once, and their feature ids."""
    unique = list(dict.fromkeys(refusals))
    features = sorted({refusal.feature for refusal in unique})
    return UnsupportedFeature(
        f"{format_id} does not support {', '.join(features)}: lower it or choose another provisioner",
        violations=[Violation(entry.path, entry.message, entry.feature, entry.remedy) for entry in unique],
        metadata={"features": ",".join(features)},
    )


def refuse(path: str, feature: str, message: str, *, remedy: str = "", format_id: str = "this format") -> NoReturn:
    """Refuse one item at once.

    Raises:
        UnsupportedFeature: always.
    """
    raise unsupported_feature([Refusal(path, feature, message, remedy)], format_id=format_id)
