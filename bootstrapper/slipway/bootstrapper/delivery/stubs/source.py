"""Where a machine fetches its payload."""

from dataclasses import dataclass, field

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding


@dataclass(frozen=True, slots=True)
class Source:
    """The address of one payload.

    Attributes:
        url: of https; a pre-signed one is a secret by itself.
        sha256: of the payload, 64 hexadecimal digits. No machine executes anything else.
        ticket: what the node gateway asks for; "" for a pre-signed URL.
        authorities: certificate authorities of the server, PEM; "" where those of the system are enough.
    """

    url: str = field(repr=False)
    sha256: str
    ticket: str = field(default="", repr=False)
    authorities: str = ""

    def __post_init__(self) -> None:
        """Refuse what a program on the machine would read as something else.

        Raises:
            ValueError: a text is not valid; the message holds no value.
        """
        if not self.url.startswith("https://") or any(not "!" <= char <= "~" or char in '"\\' for char in self.url):
            raise ValueError("the address of a payload must be a URL of https, in ASCII and without quotes")
        if not all(char.isascii() and (char.isalnum() or char in "-_.~") for char in self.ticket):
            raise ValueError("a ticket must be of unreserved characters of URLs")

    def certificates(self) -> list[str]:
        """Give each certificate in PEM, without what may stand beside it."""
        if not self.authorities:
            return []
        certificates = x509.load_pem_x509_certificates(self.authorities.encode())
        return [certificate.public_bytes(Encoding.PEM).decode() for certificate in certificates]
