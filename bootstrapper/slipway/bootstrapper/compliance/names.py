"""How controls are named to people, and to whatever is made of what they ask for."""

from collections.abc import Iterable

from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb

DOCUMENT = "compliance"
"""The document of an origin whose path names controls."""


def origin_of_controls(names: Iterable[str], made_by: Iterable[str] = ()) -> diagnosticpb.Origin:
    """Give the origin of what controls ask for."""
    return diagnosticpb.Origin(document=DOCUMENT, path=describe_controls(names), made_by=made_by)


def describe_controls(names: Iterable[str]) -> str:
    """Name controls in one line: all of one profile behind its name."""
    by_profile: dict[str, list[str]] = {}
    for name in names:
        profile, _, id_ = name.partition("/")
        ids = by_profile.setdefault(profile, [])
        if id_ not in ids:
            ids.append(id_)
    return ", ".join(f"{profile}/{','.join(ids)}" for profile, ids in by_profile.items())
