"""Who may call the bootstrapper, and about whose clusters.

A provisioner has a certificate of the same authority, and a bootstrapper that keeps credentials would hand it the keys
of any cluster. So an identity in the role of a service is never a caller. Others call in one of three roles, unless the
operator names the callers; where credentials are kept, the operator must (settings.py). A caller can be held to the
clusters of its namespaces.
"""

from collections.abc import Iterable

from slipway.contract.errors import PermissionDenied, Unauthenticated, Violation
from slipway.contract.grammars import grammars
from slipway.contract.roles import REPORTS, SPIFFE
from slipway.rpc.call import Call
from slipway.rpc.identity import Identity

ALL = "*"
"""Stands for every namespace, and for clusters that have none."""

_SERVICES = ("/provisioner/", "/registry/", "/bootstrapper/")

_NODE_FACING = frozenset({REPORTS, "node-gateway", "directory"})
"""Roles of the services that have no business with a bootstrapper: machines, and domain controllers, talk to them."""

_CALLERS = frozenset({"client", "controller", "infrastructure"})
"""Roles of callers that are allowed by default: people, controllers, and infrastructure providers."""


def namespaces_by_caller(entries: Iterable[str]) -> dict[str, frozenset[str]]:
    """Read the operator's list: `ID` and `ID=*` may ask about every cluster, `ID=NAMESPACE` about those of a namespace.

    Several entries of one id add up.

    Raises:
        ValueError: an entry has another form.
    """
    namespaces: dict[str, frozenset[str]] = {}
    for entry in entries:
        name, separator, namespace = entry.partition("=")
        namespace = namespace if separator else ALL
        if not name.startswith("spiffe://") or (namespace != ALL and not grammars()["dns-label"].check(namespace)):
            raise ValueError("an entry of the callers must be ID, ID=* or ID=NAMESPACE, where ID is spiffe://...")
        namespaces[name] = namespaces.get(name, frozenset()) | {namespace}
    return namespaces


class Callers:
    """The policy of the bootstrapper's server."""

    def __init__(self, allowed: Iterable[str] | None, *, trust_domain: str | None = None) -> None:
        """Allow these entries (see namespaces_by_caller); None means every one of a role that calls.

        Args:
            allowed: the operator's list.
            trust_domain: without a list, only callers of this domain may call: one authority can serve several of them,
                and a role means something in its own domain only. None where another check follows.

        Raises:
            ValueError: an entry cannot be read.
        """
        self._allowed = None if allowed is None else namespaces_by_caller(allowed)
        self._trust_domain = trust_domain

    def __call__(self, call: Call, identity: Identity | None) -> None:
        """Return when the call is allowed. Without TLS there are no identities, and only this machine calls.

        Raises:
            Unauthenticated: the caller's certificate names nobody.
            PermissionDenied: the caller is a service, or not on the list.
        """
        del call
        if identity is None:
            return
        if not identity.spiffe_ids:
            raise Unauthenticated(
                "the caller's certificate has no SPIFFE id: it needs one URI, spiffe://..., and no other"
            )
        if any(_is_service(identifier) for identifier in identity.spiffe_ids):
            raise PermissionDenied("a service may not call the bootstrapper")
        if self._allowed is None:
            if not any(self._has_calling_role(identifier) for identifier in identity.spiffe_ids):
                raise PermissionDenied(
                    f"this identity has none of the roles that call ({', '.join(sorted(_CALLERS))}) in this server's "
                    "trust domain, and there is no operator's list of callers (--callers)"
                )
        elif not any(identifier in self._allowed for identifier in identity.spiffe_ids):
            raise PermissionDenied("this identity is not on the operator's list of callers (--callers)")

    def _has_calling_role(self, spiffe_id: str) -> bool:
        is_ours = self._trust_domain is None or _parts(spiffe_id)[0] == self._trust_domain
        return is_ours and _parts(spiffe_id)[1] in _CALLERS

    def check_cluster(self, identity: Identity | None, namespace: str) -> None:
        """Return when the caller may ask about clusters of a namespace, "" for a cluster that has none.

        Raises:
            PermissionDenied: the operator has held the caller to other namespaces.
        """
        if identity is None or self._allowed is None:
            return
        theirs = frozenset().union(*(self._allowed.get(identifier, frozenset()) for identifier in identity.spiffe_ids))
        if theirs.isdisjoint({ALL, namespace} if namespace else {ALL}):
            raise PermissionDenied(
                "this identity may not ask about clusters of that namespace (--callers)",
                violations=[
                    Violation("cluster.namespace", "is not among the namespaces that the operator gave this caller")
                ],
            )


def _is_service(spiffe_id: str) -> bool:
    return any(service in spiffe_id for service in _SERVICES) or _parts(spiffe_id)[1] in _NODE_FACING


def _parts(spiffe_id: str) -> tuple[str, str]:
    """Give trust domain and role, the first part of the path: spiffe://DOMAIN/ROLE/NAME."""
    domain, _, path = spiffe_id.removeprefix(SPIFFE).partition("/")
    return domain, path.partition("/")[0]


EVERYBODY = Callers(None)
"""Limits no caller to a namespace: for a bootstrapper without a server's settings."""
