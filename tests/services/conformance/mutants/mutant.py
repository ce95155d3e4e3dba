"""A mutant: a provisioner that breaks the contract in one way, and the checks that must see it."""

from dataclasses import dataclass, field

from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tests.services.conformance.bent import Bent

ALL = ("TRN", "INF", "FEA", "RND", "ERR", "LIM", "SEC", "EXE", "VER")
"""For a mutant with which nothing goes well afterwards."""

Info = provisionerpb.GetProvisionerInfoResponse


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mutant.

    Attributes:
        name: what is wrong, for people.
        checks: ids of the checks that must fail, or warn.
        bent: the provisioner.
        related: groups besides those of `checks` in which something may fail as well, with the reason in `why`.
        secure: it is called over TLS.
    """

    name: str
    checks: tuple[str, ...]
    bent: Bent
    related: tuple[str, ...] = ()
    secure: bool = False
    why: str = field(default="", compare=False)
