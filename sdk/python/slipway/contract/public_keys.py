"""Public keys as texts: certificates in PEM, and key blocks of OpenPGP in ASCII armor."""

import base64
from collections.abc import Iterator

from cryptography import x509

_PEM_BEGIN, _PEM_DASHES = "-----BEGIN ", "-----"


def _pem_labels(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        label = line.rstrip().removeprefix(_PEM_BEGIN)
        if line.startswith(_PEM_BEGIN) and label.endswith(_PEM_DASHES):
            yield label.removesuffix(_PEM_DASHES)


def is_pem_certificate(text: str) -> bool:
    """Return whether it is one or more X.509 certificates in PEM, and nothing else."""
    # Nothing else may stand beside the certificates: what is trusted is public, and a private key is not.
    if set(_pem_labels(text)) != {"CERTIFICATE"}:
        return False
    try:
        return bool(x509.load_pem_x509_certificates(text.encode()))
    except (ValueError, x509.InvalidVersion):
        return False


def is_openpgp_public_key(text: str) -> bool:
    """Return whether it is one public key block: what reads armor stops at its end. RFC 9580, sections 4.2 and 6.2."""
    first, *lines = [line.strip() for line in text.strip().splitlines()] or [""]
    if first != "-----BEGIN PGP PUBLIC KEY BLOCK-----" or "" not in lines or lines[-1] != first.replace("BEGIN", "END"):
        return False
    body = lines[lines.index("") + 1 : -1]
    if body and body[-1].startswith("="):
        body.pop()  # its checksum
    try:
        packets = base64.b64decode("".join(body), validate=True)
    except ValueError:
        return False
    # The first packet is a public key, which has the number 6 in the old form and in the new one.
    return bool(packets) and (packets[0] & 0b11111100 == 0b10011000 or packets[0] == 0b11000110)  # noqa: PLR2004  # tags of OpenPGP packets
