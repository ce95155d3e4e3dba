"""Takes out of a provisioner's texts what must not travel: secrets of the request, and signs that steer a terminal.

A provisioner gets the keys of a cluster, and what it says ends in conditions, Events and logs that far more people may
read. The contract forbids it to repeat a value; nothing here relies on that. Codes, paths and reasons pass, and so do
words.
"""

import base64
import dataclasses
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from urllib.parse import quote

from slipway.bootstrapper.provisioning.secret_pieces import FIELD_PATH, WINDOW, SecretPieces
from slipway.contract.errors import ForeignStatus, SlipwayError
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

REDACTED = "[redacted]"
_SHORTEST = 4
LONGEST_TEXT = 4096
"""Characters of a text that are relayed."""

_MOST_DIAGNOSTIC_TEXT = 64 * 1024
"""Characters of all diagnostics of an answer together that are relayed."""

MOST_SECRETS = 256 * 1024
"""Bytes of secrets that texts are searched for. What it takes to find any piece of them has 200 times as many."""

_MOST_FOR_RARE_FORMS = 48 * 1024
"""Bytes of secrets that are also looked for in rare forms: four times as many as the common ones."""

LEFT_OUT = "[the text is left out: it cannot be searched for more than 256 KiB of secrets, and the machine has more]"

_LINE = re.compile(r"\S{6,}")
_LONGEST_NAME = 200
_REASON = re.compile(r"[A-Z][A-Z0-9_]{0,62}")
_PEM_HEAD = re.compile(r"-----(?:BEGIN|END) [A-Z ]{1,40}-----")


class Scrubber:
    """Scrubs texts about one bundle. What it takes to look for pieces is made when a text first has so many letters."""

    def __init__(self, secrets: Iterable[bytes]) -> None:
        """Take the values that no text may hold."""
        self._secrets = sorted({secret for secret in secrets if len(secret) >= _SHORTEST}, key=len, reverse=True)
        self._size = sum(map(len, self._secrets))

    def text(self, text: str) -> str:
        """Return a text on one line, without control characters, in which secrets are replaced.

        A secret is found as it is and in base64, base32, hexadecimal digits, percent-encoding, escapes, rows of numbers
        and UTF-16, a long one by any piece of WINDOW letters and digits, whatever other characters, blanks and escapes
        of terminals stand between them. Of a machine with more than MOST_SECRETS only names and field paths are left.
        """
        text = text[:LONGEST_TEXT]
        if self._size > MOST_SECRETS:
            return text if not text or _is_name(text) else LEFT_OUT
        plain = "".join(sign if sign.isprintable() else " " for sign in text)
        for whole in self._wholes:
            plain = plain.replace(whole, "\x01" * len(whole))
        if len(text) >= _SHORTEST:
            covered = self._pieces.covered(text)
            plain = "".join("\x01" if hit else sign for hit, sign in zip(covered, plain, strict=True))
        return re.sub(r"\x01+", REDACTED, plain)

    def holds(self, text: str) -> bool:
        """Whether a text is other than it may be relayed."""
        return self.text(text) != text

    def error(self, error: SlipwayError) -> SlipwayError:
        """Scrub an error in place, and return it."""
        error.message = self.text(error.message)
        error.args = (error.message,)
        error.violations = tuple(
            dataclasses.replace(
                violation,
                path=self.text(violation.path),
                description=self.text(violation.description),
                feature=self.text(violation.feature),
                remedy=self.text(violation.remedy),
            )
            for violation in error.violations
        )
        error.metadata = {self.text(key): self.text(value) for key, value in error.metadata.items()}
        if isinstance(error, ForeignStatus) and (not _REASON.fullmatch(error.reason) or self.holds(error.reason)):
            error.reason = ""
        return error

    def diagnostics(self, response: provisionerpb.RenderResponse) -> None:
        """Scrub the diagnostics of an answer in place; of very many the first stay, and one counts the others."""
        length = 0
        for index, diagnostic in enumerate(response.diagnostics):
            length += sum(
                min(len(text), LONGEST_TEXT) for text in (diagnostic.message, diagnostic.code, diagnostic.field_path)
            )
            if length > _MOST_DIAGNOSTIC_TEXT:
                surplus = len(response.diagnostics) - index
                del response.diagnostics[index:]
                response.diagnostics.add(
                    severity=diagnosticpb.SEVERITY_WARNING,
                    code="DIAGNOSTICS_LEFT_OUT",
                    message=f"the provisioner has {surplus} more remarks, which are too many to relay",
                )
                return
            diagnostic.message, diagnostic.code, diagnostic.field_path = (
                self.text(diagnostic.message),
                self.text(diagnostic.code),
                self.text(diagnostic.field_path),
            )

    @cached_property
    def _wholes(self) -> tuple[str, ...]:
        """Secrets, and lines of them, as they are; of short ones every form, since they have no pieces."""
        texts: dict[str, None] = {}
        for secret in self._secrets:
            text = secret.decode(errors="replace").strip()
            texts |= dict.fromkeys([text] if text.isprintable() else _LINE.findall(text))
            if len(secret) <= WINDOW:
                texts |= dict.fromkeys([*_forms(secret), *_groups(secret)])
        return tuple(sorted((entry for entry in texts if len(entry) >= _SHORTEST), key=len, reverse=True))

    @cached_property
    def _pieces(self) -> SecretPieces:
        has_rare = self._size <= _MOST_FOR_RARE_FORMS
        long: list[Iterator[str]] = []
        short: list[Iterator[str]] = []
        for secret in self._secrets:
            forms = [_forms(secret), _rare_forms(secret) if has_rare else iter(())]
            if len(secret) > WINDOW:
                long += forms
            else:
                short += [*forms, _groups(secret)]
        return SecretPieces(long=chain.from_iterable(long), short=chain.from_iterable(short))


def _is_name(text: str) -> bool:
    if len(text) > _LONGEST_NAME:
        return False
    return text.isdecimal() or bool(FIELD_PATH.fullmatch(text) or _REASON.fullmatch(text))


def scrubber_of(bundle: bundlepb.BootstrapBundle) -> Scrubber:
    """Return the scrubber for texts about a bundle."""
    return Scrubber(secret.value for secret in bundle.secrets.secrets)


def _groups(secret: bytes) -> Iterator[str]:
    """Yield the whole groups that base64 makes of a short secret at any place of a longer text."""
    for start in range(3):
        whole = secret[start:][: (len(secret) - start) // 3 * 3]
        if len(whole) >= _SHORTEST:
            yield base64.b64encode(whole).decode()


def _forms(secret: bytes) -> Iterator[str]:
    # What stands in every PEM file is no secret, and messages name it.
    yield _PEM_HEAD.sub("\n", secret.decode(errors="replace"))
    yield quote(secret, safe="")
    yield from _encoded(secret)


def _rare_forms(secret: bytes) -> Iterator[str]:
    # As Windows has texts; without the last byte, since both orders of bytes have the same between the first and that.
    yield from _encoded(secret.decode(errors="replace").encode("utf-16-le")[:-1])
    # Escapes of JSON, C and shells, and bytes as Go prints them: what is no letter or digit does not count.
    for form in ("u{:04x}", "x{:02x}", "{:03o}", "{}"):
        yield "".join(map(form.format, secret))
    yield from _in_base32(secret)


def _in_base32(data: bytes) -> Iterator[str]:
    """Yield the letters that base32 makes of data alone, at any of five places of a longer text."""
    for before in range(5):
        first, end = -(before * 8 // -5), (before + len(data)) * 8 // 5
        yield base64.b32encode(bytes(before) + data).decode()[first:end]


def _encoded(data: bytes) -> Iterator[str]:
    yield data.hex()
    yield data.hex().upper()
    for start in range(3):
        # Within a longer text a secret stands at any of three places of base64's groups.
        encoded = base64.b64encode(data[start:]).decode().rstrip("=")
        yield encoded
        yield encoded.translate(str.maketrans("+/", "-_"))
