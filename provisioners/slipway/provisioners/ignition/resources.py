"""Bytes as Ignition takes them: data URLs, packed where that is shorter."""

import base64
import zlib
from urllib.parse import quote

from slipway.provisioners.ignition.document import Resource

# Characters that stand for themselves in a data URL, besides letters, digits and "_.-~".
_SAFE = "/:@!$&'()*+,;="
_GZIP = 16 + zlib.MAX_WBITS


def resource(data: bytes, *, pack: bool = True) -> Resource:
    """Give the shortest data URL for some bytes, packed only if `pack`. The same bytes always give the same URL."""
    plain = f"data:,{quote(data, safe=_SAFE)}"
    encoded = _base64(data)
    packed = _base64(_gzip(data))
    if pack and len(packed) + len('"compression":"gzip",') < min(len(plain), len(encoded)):
        return Resource(source=packed, compression="gzip")
    return Resource(source=min(plain, encoded, key=len))


def _base64(data: bytes) -> str:
    return f"data:;base64,{base64.b64encode(data).decode()}"


def _gzip(data: bytes) -> bytes:
    # zlib writes no time and no name into the header.
    packer = zlib.compressobj(9, zlib.DEFLATED, _GZIP)
    return packer.compress(data) + packer.flush()
