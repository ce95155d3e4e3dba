"""Links that lead back to themselves: what names one of them, or goes through it, finds nothing."""

from collections.abc import Iterator

from slipway.bootstrapper.assembly.canonical_path import canonical, target_of
from slipway.contract.errors import Violation
from slipway.contract.paths import parents
from slipway.v1alpha1 import os_pb2 as ospb


def violations(os: ospb.OperatingSystem) -> Iterator[Violation]:
    """Give every symbolic link whose target goes through links without end, by the field path of the target."""
    targets = {canonical(link.path): target_of(canonical(link.path), link.target) for link in os.links if not link.hard}
    for index, link in enumerate(os.links):
        if link.hard:
            continue
        end = canonical(targets[canonical(link.path)], targets)
        if any(place in targets for place in (*parents(end), end)):
            why = "leads back to the link itself, or goes through too many links"
            yield Violation(f"os.links[{index}].target", why, remedy="name the file or folder itself")
