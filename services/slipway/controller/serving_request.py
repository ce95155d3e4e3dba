"""A kubelet's request for a serving certificate, and whether its Machine vouches for what is in it.

A machine that has been taken over can ask for any certificate. What is signed counts in the whole cluster, so names and
addresses are compared with those that the management cluster has of the Machine, and never with those that the Node
says of itself. What the signer expects of a request: Kubernetes' documentation, "Certificates and Certificate Signing
Requests", `kubernetes.io/kubelet-serving`.
"""

import base64
import binascii
import enum
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtensionOID, NameOID

from slipway.kubernetes_api.objects import ApiObject
from slipway.kubernetes_api.resources import Json

SIGNER = "kubernetes.io/kubelet-serving"
_USER = "system:node:"
_GROUP = "system:nodes"
_LONGEST = 16384
_LARGEST_KEY = 4096
_LARGEST_EXPONENT = 65537
_USAGES = frozenset({"digital signature", "key encipherment", "server auth"})
_NEEDED = frozenset({"digital signature", "server auth"})

_UNREADABLE = (
    ValueError,
    TypeError,
    binascii.Error,
    UnsupportedAlgorithm,
    x509.DuplicateExtension,
    x509.InvalidVersion,
    x509.UnsupportedGeneralNameType,
)
Address = IPv4Address | IPv6Address


class Doubt(enum.StrEnum):
    """Why a request is not approved."""

    MALFORMED = "it is not what a kubelet asks for"
    NO_MACHINE = "no Machine of the cluster has this Node"
    SEVERAL_MACHINES = "several Machines of the cluster have this Node"
    FOREIGN_NAME = "it names what is not in the addresses of the Machine"


@dataclass(frozen=True, slots=True)
class Wish:
    """What a kubelet asks for: its Node's name, and the names and addresses of the certificate."""

    node: str
    names: frozenset[str]
    addresses: frozenset[Address]


def is_open(request: Json) -> bool:
    """Return whether an object is a request for a serving certificate that has no decision yet."""
    spec, status = request.get("spec"), request.get("status") or {}
    if not isinstance(spec, dict) or not isinstance(status, dict):
        return False
    return spec.get("signerName") == SIGNER and not status.get("conditions") and not status.get("certificate")


def doubt(request: Json, machines: Collection[Json]) -> Doubt | None:
    """Give what speaks against an open request; None where nothing does.

    The signature comes last: only who has a Machine of the cluster makes the controller verify one.
    """
    signed = _signed(request)
    wish = None if signed is None else _wish(signed, request["spec"]["username"])
    reason = _doubt_about(wish, machines)
    if reason is None and (signed is None or not _is_proven(signed)):
        return Doubt.MALFORMED
    return reason


def _signed(request: Json) -> x509.CertificateSigningRequest | None:
    """Read what is asked for; None for a request that a kubelet does not make."""
    spec = request["spec"]
    user, groups, usages = spec.get("username"), spec.get("groups"), spec.get("usages")
    text = spec.get("request")
    if not isinstance(user, str) or not isinstance(groups, list) or not isinstance(usages, list):
        return None
    if not user.startswith(_USER) or _GROUP not in groups or not isinstance(text, str) or len(text) > _LONGEST:
        return None
    if not all(isinstance(usage, str) for usage in usages) or not _NEEDED <= set(usages) <= _USAGES:
        return None
    try:
        return x509.load_pem_x509_csr(base64.b64decode(text, validate=True))
    except _UNREADABLE:
        return None


def _is_proven(signed: x509.CertificateSigningRequest) -> bool:
    """Whether its maker has the key. One that no kubelet makes, and that is costly to verify, is not looked at."""
    try:
        key = signed.public_key()
        if isinstance(key, rsa.RSAPublicKey):
            usual = key.key_size <= _LARGEST_KEY and key.public_numbers().e <= _LARGEST_EXPONENT
        else:
            usual = isinstance(key, ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey)
        proven = usual and signed.is_signature_valid
    except _UNREADABLE:
        return False
    return proven


def _wish(signed: x509.CertificateSigningRequest, user: str) -> Wish | None:
    try:
        return _read(signed, user)
    except _UNREADABLE:
        return None


def _read(signed: x509.CertificateSigningRequest, user: str) -> Wish | None:
    subject = sorted((attribute.oid.dotted_string, attribute.value) for attribute in signed.subject)
    expected = [(NameOID.COMMON_NAME.dotted_string, user), (NameOID.ORGANIZATION_NAME.dotted_string, _GROUP)]
    if subject != sorted(expected):
        return None
    by_kind = {extension.oid: extension.value for extension in signed.extensions}
    constraints = by_kind.get(ExtensionOID.BASIC_CONSTRAINTS)
    if isinstance(constraints, x509.BasicConstraints) and constraints.ca:
        return None
    alternatives = by_kind.get(ExtensionOID.SUBJECT_ALTERNATIVE_NAME)
    if not isinstance(alternatives, x509.SubjectAlternativeName):
        return None
    names: set[str] = set()
    addresses: set[Address] = set()
    for entry in alternatives:
        if isinstance(entry, x509.DNSName):
            names.add(entry.value.lower())
        elif isinstance(entry, x509.IPAddress) and isinstance(entry.value, IPv4Address | IPv6Address):
            addresses.add(entry.value)
        else:
            return None
    return Wish(user.removeprefix(_USER), frozenset(names), frozenset(addresses)) if names or addresses else None


def _doubt_about(wish: Wish | None, machines: Collection[Json]) -> Doubt | None:
    """Give what speaks against a request, by the Machines of its cluster; None where nothing does.

    The Node is one of a single Machine, and every name and address is one of that Machine: of its `status.addresses`,
    which its infrastructure reports, or the Machine's own name where the Node has it, too.
    """
    if wish is None:
        return Doubt.MALFORMED
    own = [machine for machine in machines if _node_name(machine) == wish.node]
    if len(own) != 1:
        return Doubt.SEVERAL_MACHINES if own else Doubt.NO_MACHINE
    names, addresses = _known(own[0])
    name = ApiObject(own[0]).name.lower()
    if name == wish.node:
        names.add(name)
    return None if wish.names <= names and wish.addresses <= addresses else Doubt.FOREIGN_NAME


def _node_name(machine: Json) -> str:
    return str(((machine.get("status") or {}).get("nodeRef") or {}).get("name") or "")


def _known(machine: Json) -> tuple[set[str], set[Address]]:
    names: set[str] = set()
    addresses: set[Address] = set()
    for entry in (machine.get("status") or {}).get("addresses") or ():
        text = str(entry.get("address") or "")
        if str(entry.get("type") or "").endswith("IP"):
            try:
                addresses.add(ip_address(text))
            except ValueError:
                continue
        elif text:
            names.add(text.lower())
    return names, addresses
