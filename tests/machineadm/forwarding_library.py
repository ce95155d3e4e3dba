"""A library of Windows without code, whose functions are those of other libraries.

Wine 8 has no bcryptprimitives.dll, without which no program of Go starts; the function that Go takes from it is there
under an older name. So no compiler for Windows is needed.
"""

import struct
from collections.abc import Mapping

_PE, _HEADERS, _SECTION = 0x80, 0x200, 0x1000
_AMD64, _DLL, _READABLE_DATA = 0x8664, 0x2022, 0x40000040
_BASE = 0x180000000


def forwarding_library(name: str, functions: Mapping[str, str]) -> bytes:
    """Give the file of a library for amd64: each function by its name, with LIBRARY.FUNCTION that stands in for it."""
    exports = _exports(name, functions)
    raw = -(-len(exports) // _HEADERS) * _HEADERS
    directories = struct.pack("<II", _SECTION, len(exports)) + bytes(15 * 8)
    optional = struct.pack(
        "<HBBIIIIIQIIHHHHHHIIIIHHQQQQII",
        0x20B, 14, 0, 0, raw, 0, 0, _SECTION, _BASE, 0x1000, 0x200, 6, 0, 0, 0, 6, 0, 0,
        _SECTION + 0x1000, _HEADERS, 0, 2, 0x100, 0x100000, 0x1000, 0x100000, 0x1000, 0, 16,
    )  # fmt: skip
    optional += directories
    coff = struct.pack("<4sHHIIIHH", b"PE\0\0", _AMD64, 1, 0, 0, 0, len(optional), _DLL)
    section = struct.pack("<8sIIIIIIHHI", b".edata", len(exports), _SECTION, raw, _HEADERS, 0, 0, 0, 0, _READABLE_DATA)
    dos = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", _PE)
    headers = dos.ljust(_PE, b"\0") + coff + optional + section
    return headers.ljust(_HEADERS, b"\0") + exports.ljust(raw, b"\0")


def _exports(name: str, functions: Mapping[str, str]) -> bytes:
    count = len(functions)
    tables = _SECTION + 40
    at = tables + count * 10
    texts = b""

    def place(text: str) -> int:
        nonlocal texts
        texts += text.encode() + b"\0"
        return at + len(texts) - len(text) - 1

    own = place(name)
    names = [place(function) for function in sorted(functions)]
    targets = [place(functions[function]) for function in sorted(functions)]
    directory = struct.pack(
        "<IIHHIIIIIII", 0, 0, 0, 0, own, 1, count, count, tables, tables + 4 * count, tables + 8 * count
    )
    return directory + struct.pack(f"<{2 * count}I{count}H", *targets, *names, *range(count)) + texts
