"""Checks an announcement before anything is dialled."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from slipway.contract.errors import (
    IdentityMismatch,
    ProvisionerNotAllowed,
    RegistrationRejected,
    Unauthenticated,
    Violation,
)
from slipway.registry.advertisement import MAX_NAME, is_name
from slipway.rpc.addresses import is_endpoint, is_loopback
from slipway.rpc.identity import Identity
from slipway.v1alpha1 import registry_service_pb2 as registrypb

_INSTANCE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_ENDPOINT = 253


@dataclass(frozen=True, slots=True)
class Gate:
    """Who may register. ``allowed`` None means every name; ``secure`` False means this machine only."""

    allowed: Collection[str] | None
    trust_domain: str
    secure: bool

    def check(self, request: registrypb.RegisterRequest, identity: Identity | None) -> None:
        """Return when the announcement may be followed by a dial.

        Raises:
            RegistrationRejected: a field is malformed.
            ProvisionerNotAllowed: the name is not on the list.
            IdentityMismatch: the caller does not own the name.
        """
        self.check_fields(request)
        self.check_owner(request.name, identity)

    def check_fields(self, request: registrypb.RegisterRequest) -> None:
        """Return when the fields are well formed and the name is on the operator's list.

        Raises:
            RegistrationRejected: a field is malformed.
            ProvisionerNotAllowed: the name is not on the list.
        """
        broken = list(self._violations(request))
        if broken:
            raise RegistrationRejected("the announcement is malformed", violations=broken)
        if self.allowed is not None and request.name not in self.allowed:
            raise ProvisionerNotAllowed("the announced name is not on the operator's list of provisioners")

    def check_owner(self, name: str, identity: Identity | None) -> None:
        """Return when the caller is the provisioner of that name; without TLS every caller is.

        Raises:
            Unauthenticated: it has no SPIFFE id at all.
            IdentityMismatch: it is another one.
        """
        if not self.secure:
            return
        if identity is None or not identity.spiffe_ids:
            raise Unauthenticated(
                "the caller's certificate has no SPIFFE id: it needs one URI, spiffe://..., and no other"
            )
        if not identity.owns(trust_domain=self.trust_domain, role="provisioner", name=name):
            raise IdentityMismatch(
                "the caller's certificate does not own the name: it needs the URI "
                "spiffe://<trust domain>/provisioner/<name>"
            )

    def _violations(self, request: registrypb.RegisterRequest) -> Iterator[Violation]:
        if not is_name(request.name):
            yield Violation("name", f"must be a DNS label or subdomain of at most {MAX_NAME} characters")
        if not _INSTANCE_ID.fullmatch(request.instance_id):
            yield Violation("instance_id", "must be 1 to 63 letters, digits, dots, dashes or underscores")
        if len(request.endpoint) > _ENDPOINT or not is_endpoint(request.endpoint):
            yield Violation("endpoint", 'must be "host:port", or "dns:///host:port" and the like')
        elif not self.secure and not is_loopback(request.endpoint):
            yield Violation("endpoint", "must be a loopback address, since this registry runs without TLS")
