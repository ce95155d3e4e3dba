"""What is to be issued, and when: from what is kept now to what is to be kept. Pure: who reads and writes is elsewhere.

Readers of a certificate see a change at different moments, a minute apart and more in a cluster. So an authority stays
for long, its successor is trusted by everybody before it signs anything, and its predecessor for as long as it lasts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from slipway.certificates.authority import Authority, Issued, Subject, names

CERTIFICATE, KEY, TRUSTED = "tls.crt", "tls.key", "ca.crt"
NEXT_CERTIFICATE, NEXT_KEY, PREVIOUS = "next.crt", "next.key", "previous.crt"
Data = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long things last.

    Attributes:
        authority: how long an authority lasts.
        announce: how long before its end its successor is made.
        spread: how long everybody has to learn of the successor before it signs.
        certificate: how long a certificate of a service lasts.
        renew: how long before its end it is replaced.
    """

    authority: timedelta = timedelta(days=365)
    announce: timedelta = timedelta(days=90)
    spread: timedelta = timedelta(days=1)
    certificate: timedelta = timedelta(days=30)
    renew: timedelta = timedelta(days=10)

    def __post_init__(self) -> None:
        lasting = self.certificate + self.spread < self.announce < self.authority
        if self.renew >= self.certificate or not lasting:
            raise ValueError("a certificate must outlast its renewal, and an authority the certificates that it signs")


class Issuance:
    """The authority of an installation at one moment, and what it issues."""

    def __init__(self, kept: Data, *, trust_domain: str, now: datetime, lifetimes: Lifetimes) -> None:
        """Go on with what is kept of the authority; make a new one where nothing usable is."""
        self._now, self._lifetimes, self._trust_domain = now, lifetimes, trust_domain
        current = self._usable(kept, CERTIFICATE, KEY)
        following = self._usable(kept, NEXT_CERTIFICATE, NEXT_KEY)
        previous = [
            certificate
            for certificate in _certificates(kept.get(PREVIOUS, b""))
            if certificate.not_valid_after_utc > now
        ]
        if following is not None and (current is None or following.begins + lifetimes.spread <= now):
            previous = [] if current is None else _certificates(current.certificate)
            current, following = following, None
        if current is None:
            current = Authority(trust_domain=trust_domain, now=now, validity=lifetimes.authority)
        if following is None and current.expires - now <= lifetimes.announce:
            following = Authority(trust_domain=trust_domain, now=now, validity=lifetimes.authority)
        self._signing, self._next = current, following
        self._previous = b"".join(entry.public_bytes(Encoding.PEM) for entry in previous)

    @property
    def authority(self) -> dict[str, bytes]:
        """What is to be kept of the authority; its keys are in it."""
        entries = {CERTIFICATE: self._signing.certificate, KEY: self._signing.pair.key, TRUSTED: self.trusted}
        if self._next is not None:
            entries |= {NEXT_CERTIFICATE: self._next.certificate, NEXT_KEY: self._next.pair.key}
        return entries | ({PREVIOUS: self._previous} if self._previous else {})

    @property
    def trusted(self) -> bytes:
        """The certificates that everybody trusts: of the authority that signs, the next one and the last one."""
        return self._signing.certificate + (self._next.certificate if self._next else b"") + self._previous

    def certificate(self, kept: Data, subject: Subject) -> dict[str, bytes]:
        """Give what a service is to have: what it has, where that is good for long enough, else something new."""
        if self._lasts(kept, subject):
            return {CERTIFICATE: kept[CERTIFICATE], KEY: kept[KEY], TRUSTED: self.trusted}
        issuer = Authority(
            trust_domain=self._trust_domain,
            now=self._now,
            validity=self._lifetimes.certificate,
            kept=self._signing.pair,
        )
        issued = issuer.issue(subject)
        return {CERTIFICATE: issued.certificate, KEY: issued.key, TRUSTED: self.trusted}

    def _usable(self, kept: Data, certificate: str, key: str) -> Authority | None:
        try:
            authority = Authority(
                trust_domain=self._trust_domain,
                now=self._now,
                validity=self._lifetimes.authority,
                kept=Issued(kept[certificate], kept[key]),
            )
        except (KeyError, ValueError, TypeError):
            return None
        return authority if authority.begins <= self._now + _AHEAD and self._now < authority.expires else None

    def _lasts(self, kept: Data, subject: Subject) -> bool:
        """Whether a certificate is the subject's, of an authority that is trusted, and not about to end."""
        try:
            certificate = x509.load_pem_x509_certificate(kept[CERTIFICATE])
            key = load_pem_private_key(kept[KEY], None)
            carried = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        except (KeyError, ValueError, TypeError, x509.ExtensionNotFound):
            return False
        return (
            certificate.not_valid_after_utc - self._now > self._lifetimes.renew
            and certificate.not_valid_before_utc <= self._now
            and key.public_key() == certificate.public_key()
            and list(carried) == list(names(subject, trust_domain=self._trust_domain))
            and any(_issued(certificate, by) for by in _certificates(self.trusted))
        )


_AHEAD = timedelta(minutes=5)
"""How far the clocks of two machines may be apart."""


def expiry(data: Data) -> datetime:
    """Give when the certificate of a service ends."""
    return x509.load_pem_x509_certificate(data[CERTIFICATE]).not_valid_after_utc


def _certificates(pem: bytes) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(pem)
    except ValueError:
        return []


def _issued(certificate: x509.Certificate, by: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(by)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True
