"""Reports to the operator's addresses: of machines whose spec says nothing of reports, or asks for these addresses.

An address holds the id of the bundle, which is known when the bundle is assembled; and it is a secret, so that the
bundle only refers to it, as to those that a spec names.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb

_SECRET = "slipway.dev/report"  # noqa: S105  # the name of a secret
_EVENTS, _LOGS = "events", "logs"


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of one machine and bundle: for its events, and for its log bundle."""

    events: str = field(repr=False)
    logs: str = field(repr=False)


AddressesOf = Callable[[str], Addresses]
"""Gives the addresses of one machine, for the id of its bundle."""


def operators_reporting(wanted: specpb.Reporting | None = None) -> specpb.Reporting:
    """Give what a spec would say to report to these addresses, too, with a log bundle on a failure."""
    reporting = specpb.Reporting()
    if wanted is not None:
        reporting.CopyFrom(wanted)
    put = reporting.sinks.add().put
    put.url.CopyFrom(secretpb.SecretReference(name=_SECRET, key=_EVENTS))
    put.logs_url.CopyFrom(secretpb.SecretReference(name=_SECRET, key=_LOGS))
    return reporting


def address_secrets(addresses: Addresses) -> list[secretpb.Secret]:
    """Give what operators_reporting() refers to."""
    return [
        secretpb.Secret(name=_SECRET, key=key, kind=secretpb.SECRET_KIND_OPAQUE, value=value.encode())
        for key, value in ((_EVENTS, addresses.events), (_LOGS, addresses.logs))
    ]
