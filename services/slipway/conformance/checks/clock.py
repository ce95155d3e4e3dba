"""RND: no clock is read. Today's date in an answer is another one tomorrow, which no second call of today shows."""

import base64
import binascii
import datetime as dt
import re
import urllib.parse
import zlib
from collections.abc import Iterator

from slipway.conformance.check import Checks
from slipway.conformance.outcome import all_hold
from slipway.conformance.session import Session
from slipway.conformance.trial import rich
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()
_FORMS = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d-%m-%Y", "%d/%m/%Y", "%d.%m.%Y", "%m/%d/%Y", "%d %b %Y",
    "%b %d %Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%Y-%j",
)  # fmt: skip
_DIGITS = re.compile(rb"[0-9]+")
_LENGTHS = frozenset({10, 13, 16, 19})
"""Digits of seconds since 1970, or of thousandths, millionths or billionths of one."""

_BASE64 = re.compile(rb"[A-Za-z0-9+/]{8,}={0,2}")
_DAY = 86_400
_INFLATED = 1 << 20
"""Most bytes that are read of what is compressed."""


@CHECKS.check_format("RND-003")
async def another_day(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Today's date is not in the answer, unless it is in the request, or in the version of the provisioner."""
    request = await rich(session, info)
    began = dt.datetime.now(tz=dt.UTC)
    response = await session.subject.rendered(request)
    known = request.SerializeToString() + session.info.implementation_version.encode()
    parts = {"user data": response.user_data}
    parts |= {f"attachment {number}": attachment.content for number, attachment in enumerate(response.attachments)}
    parts |= {
        f"diagnostic {number}": diagnostic.message.encode() for number, diagnostic in enumerate(response.diagnostics)
    }
    named = [f"the {part} has {date}" for part, text in parts.items() for date in _dates(text, known, began)]
    all_hold([f"{text}, so that the same request gives another answer tomorrow" for text in named])


def _dates(text: bytes, known: bytes, began: dt.datetime) -> Iterator[str]:
    """Name what a text says of the time at which it was made."""
    layers = list(_layers(text))
    now = dt.datetime.now(tz=dt.UTC)
    days = {moment.date() for moment in (began, began.astimezone(), now, now.astimezone())}
    for form in _FORMS:
        written = {day.strftime(form).encode() for day in days}
        if any(word in layer and word not in known for word in written for layer in layers):
            yield f"the date of today as {form}"
    for number in {found for layer in layers for found in _DIGITS.findall(layer)}:
        if len(number) in _LENGTHS and abs(int(number[:10]) - now.timestamp()) < _DAY and number not in known:
            yield "the time of now as a number"
            return


def _layers(text: bytes) -> Iterator[bytes]:
    """Give a text, and what is encoded in it: by percent signs, by base64, and compressed within that."""
    yield text
    if b"%" in text:
        yield urllib.parse.unquote_to_bytes(text)
    for encoded in _BASE64.findall(text):
        try:
            inner = base64.b64decode(encoded + b"=" * (-len(encoded) % 4))
        except binascii.Error:
            continue
        yield inner
        try:
            yield zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(inner, _INFLATED)
        except zlib.error:
            continue
