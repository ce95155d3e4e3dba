"""Where a machine fetches its payload."""

from dataclasses import dataclass, field

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

MOST_BYTES = 2048
"""Of a stub: what the smallest place for user data holds, KubeVirt's inline ones (delivery/infrastructures.yaml)."""


@dataclass(frozen=True, slots=True)
class Source:
    """The address of one payload.

    Attributes:
        url: of https; a pre-signed one is a secret by itself.
        sha256: of the payload, 64 hexadecimal digits. No machine executes anything else.
        ticket: what the node gateway asks for; "" for a pre-signed URL.
        authorities: certificate authorities of the server, PEM; "" where those of the system are enough.
        bundle_id: of the bundle that the payload was made of, for the event of a machine that did not get it.
        proxy: URL of the proxy by which the server is reached, without a password; "" for none.
    """

    url: str = field(repr=False)
    sha256: str
    ticket: str = field(default="", repr=False)
    authorities: str = ""
    bundle_id: str = ""
    proxy: str = ""

    def __post_init__(self) -> None:
        """Refuse what a program on the machine would read as something else.

        Raises:
            ValueError: a text is not valid; the message holds no value.
        """
        if not self.url.startswith("https://") or not _is_plain(self.url):
            raise ValueError("the address of a payload must be a URL of https, in ASCII and without quotes")
        if not _is_plain(self.proxy):
            raise ValueError("the address of a proxy must be in ASCII and without quotes")
        if not all(char.isascii() and (char.isalnum() or char in "-_.~") for char in self.ticket):
            raise ValueError("a ticket must be of unreserved characters of URLs")

    def certificates(self) -> list[str]:
        """Give each certificate in PEM, without what may stand beside it."""
        if not self.authorities:
            return []
        certificates = x509.load_pem_x509_certificates(self.authorities.encode())
        return [certificate.public_bytes(Encoding.PEM).decode() for certificate in certificates]


def _is_plain(url: str) -> bool:
    return all("!" <= char <= "~" and char not in '"\\' for char in url)
