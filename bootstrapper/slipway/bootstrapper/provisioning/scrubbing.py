"""Takes out of a provisioner's texts what must not travel: secrets of the request, and signs that steer a terminal.

A provisioner gets the keys of a cluster, and what it says ends in conditions, Events and logs that far more people may
read. The contract forbids it to repeat a value; here nobody relies on that. Codes, paths and reasons pass, and so do
words.
"""

import base64
import dataclasses
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from urllib.parse import quote

from slipway.contract.errors import SlipwayError
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

REDACTED = "[redacted]"
WINDOW = 12
"""Characters that are looked for as a piece of a longer secret. Fewer would meet common words."""

_SHORTEST = 4
_LONGEST_TEXT = 4096
_RUN = re.compile(rf"[^\s\x00-\x1f]{{{WINDOW},}}")
_FIELD_PATH = re.compile(r"[a-z_]+(\[[0-9]+\])?(\.[a-z_]+(\[[0-9]+\])?)*+[.,:;]?")
"""A field path, which is in most messages. Looking for pieces in it would cost more than the rest of a render."""

_LINE = re.compile(r"\S{6,}")


class Scrubber:
    """Scrubs texts about one bundle. What it takes to look for pieces is made when a text first has a long word."""

    def __init__(self, secrets: Iterable[bytes]) -> None:
        """Take the values that no text may hold."""
        self._secrets = sorted({one for one in secrets if len(one) >= _SHORTEST}, key=len, reverse=True)

    def text(self, text: str) -> str:
        """Return a text on one line, without control characters, in which secrets are replaced.

        A secret is found as it is and in base64, hexadecimal digits and percent-encoding, a long one by any piece of
        WINDOW characters.
        """
        plain = "".join(sign if sign.isprintable() else " " for sign in text[:_LONGEST_TEXT])
        for whole in self._wholes:
            plain = plain.replace(whole, REDACTED)
        return _RUN.sub(lambda match: self._without_pieces(match[0]), plain)

    def error(self, error: SlipwayError) -> SlipwayError:
        """Scrub an error in place, and return it."""
        error.message = self.text(error.message)
        error.args = (error.message,)
        error.violations = tuple(
            dataclasses.replace(
                one,
                path=self.text(one.path),
                description=self.text(one.description),
                feature=self.text(one.feature),
                remedy=self.text(one.remedy),
            )
            for one in error.violations
        )
        error.metadata = {self.text(key): self.text(value) for key, value in error.metadata.items()}
        return error

    def diagnostics(self, response: provisionerpb.RenderResponse) -> None:
        """Scrub the diagnostics of an answer in place."""
        for one in response.diagnostics:
            one.message, one.code, one.field_path = (
                self.text(one.message),
                self.text(one.code),
                self.text(one.field_path),
            )

    @cached_property
    def _wholes(self) -> tuple[str, ...]:
        """Secrets, and lines of them, as they are; of short ones every form, since they have no pieces."""
        found: dict[str, None] = {}
        for secret in self._secrets:
            text = secret.decode(errors="replace").strip()
            found |= dict.fromkeys([text] if text.isprintable() else _LINE.findall(text))
            if len(secret) <= WINDOW:
                found |= dict.fromkeys([*_forms(secret), *_groups(secret)])
        return tuple(sorted((one for one in found if len(one) >= _SHORTEST), key=len, reverse=True))

    @cached_property
    def _forms(self) -> str:
        return "\n".join(form for secret in self._secrets if len(secret) > WINDOW for form in _forms(secret))

    def _without_pieces(self, run: str) -> str:
        """Replace every part of a word that is covered by pieces of secrets."""
        if _FIELD_PATH.fullmatch(run):
            return run
        covered = bytearray(len(run))
        for start in range(len(run) - WINDOW + 1):
            if run[start : start + WINDOW] in self._forms:
                covered[start : start + WINDOW] = b"\1" * WINDOW
        if not any(covered):
            return run
        return re.sub(
            r"\x01+", REDACTED, "".join("\x01" if hit else sign for hit, sign in zip(covered, run, strict=True))
        )


def scrubber_of(bundle: bundlepb.BootstrapBundle) -> Scrubber:
    """Return the scrubber for texts about a bundle."""
    return Scrubber(one.value for one in bundle.secrets.secrets)


def _groups(secret: bytes) -> Iterator[str]:
    """Yield the whole groups that base64 makes of a short secret at any place of a longer text."""
    for start in range(3):
        whole = secret[start:][: (len(secret) - start) // 3 * 3]
        if len(whole) >= _SHORTEST:
            yield base64.b64encode(whole).decode()


def _forms(secret: bytes) -> Iterator[str]:
    yield secret.decode(errors="replace")
    for start in range(3):
        # Within a longer text a secret stands at any of three places of base64's groups.
        encoded = base64.b64encode(secret[start:]).decode().rstrip("=")
        yield encoded
        yield encoded.translate(str.maketrans("+/", "-_"))
    yield secret.hex()
    yield secret.hex().upper()
    yield quote(secret, safe="")
