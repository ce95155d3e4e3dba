"""The names by which processes prove their role in certificates.

A process proves its identity by a SPIFFE id, a URI: ``spiffe://DOMAIN/provisioner/NAME``. Servers read that. Clients of
gRPC compare DNS names only, so the certificate of a server carries its role as a DNS name, too, which clients demand: a
certificate for the right address, but for another role, is not enough. Source of the rule: TRN-007 and REG-015.
"""

REGISTRY = "registry"
"""Role of a process that serves RegistryService."""
BOOTSTRAPPER = "bootstrapper"
"""Role of a process that serves BootstrapService and ProvisioningService; the controller has it, too."""
REPORTS = "reports"
"""Role of a process that serves ReportService."""

SPIFFE = "spiffe://"
"""Scheme of a SPIFFE id."""

DEFAULT_TRUST_DOMAIN = "slipway"
"""Trust domain where none is configured."""


def spiffe_id(*, trust_domain: str, role: str, name: str) -> str:
    """Return the SPIFFE id of a process; ``role`` is "provisioner" or the service's own word."""
    return f"spiffe://{trust_domain}/{role}/{name}"


def provisioner_host(*, trust_domain: str, name: str) -> str:
    """Return the DNS name that the certificate of a provisioner carries."""
    return f"{name}.provisioner.{trust_domain}"


def service_host(*, trust_domain: str, role: str) -> str:
    """Return the DNS name that the certificate of a service carries; ``role`` is REGISTRY, BOOTSTRAPPER or REPORTS."""
    return f"{role}.{trust_domain}"
