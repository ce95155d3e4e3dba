"""Requests for serving certificates, as kubelets make them and as no client should."""

import base64
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from slipway.kubernetes_api.resources import Json

NODE = "w"
USAGES = ("digital signature", "server auth")


def names(*texts: str) -> list[x509.GeneralName]:
    """Give the names of a certificate: addresses where a text is one."""
    return [
        x509.IPAddress(ip_address(text)) if text[0].isdigit() or ":" in text else x509.DNSName(text) for text in texts
    ]


def signing_request(
    *alternatives: x509.GeneralName,
    common_name: str = f"system:node:{NODE}",
    organizations: Sequence[str] = ("system:nodes",),
    authority: bool = False,
    key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | None = None,
) -> bytes:
    """Give a signed request, as PEM."""
    subject = [x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, name) for name in organizations]
    subject.append(x509.NameAttribute(x509.NameOID.COMMON_NAME, common_name))
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(subject))
    if alternatives:
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    if authority:
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    signed = builder.sign(key or ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    return signed.public_bytes(serialization.Encoding.PEM)


def request_object(pem: bytes | None = None, *, name: str = "csr-1", **spec: Any) -> Json:
    """Give the object of a request that a kubelet made; by default of the Node "w"."""
    pem = signing_request(*names(NODE, "192.0.2.7")) if pem is None else pem
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": name, "namespace": ""},
        "spec": {
            "request": base64.b64encode(pem).decode(),
            "signerName": "kubernetes.io/kubelet-serving",
            "username": f"system:node:{NODE}",
            "groups": ["system:nodes", "system:authenticated"],
            "usages": list(USAGES),
            **spec,
        },
    }


def machine_status(*addresses: tuple[str, str], node: str = NODE) -> Json:
    """Give the status of a Machine that has become a Node."""
    return {
        "nodeRef": {"name": node},
        "addresses": [{"type": type_, "address": address} for type_, address in addresses],
    }


ADDRESSES = (("InternalIP", "192.0.2.7"), ("ExternalIP", "2001:db8::7"), ("InternalDNS", "W.example.com"))
